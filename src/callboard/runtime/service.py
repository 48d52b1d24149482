"""Services: the parts of the runtime that carry out commands."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from callboard.contracts.commands.base import Command
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor

from .dependencies import Dependencies
from .session_registry import SessionRegistry
from .workspaces.registry import WorkspaceRegistry

Handler = Callable[[Any, Actor, StoredAnswer | None], Awaitable[Any]]
_S = TypeVar("_S", bound="Service")
_C = TypeVar("_C", bound=Command)
_A = TypeVar("_A")
_COMMANDS = "_carried_commands"
_QUERIES = "_answered_queries"


class Service:
    """A part of the runtime. `carries_out` and `answers` mark the methods that run commands."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces

    async def close(self) -> None:
        """Finish work that must not be interrupted, and cancel the rest."""


def carries_out(
    *kinds: type[_C],
) -> Callable[
    [Callable[[_S, _C, Actor, StoredAnswer | None], Awaitable[_A]]],
    Callable[[_S, _C, Actor, StoredAnswer | None], Awaitable[_A]],
]:
    """Mark a method as the handler of commands. It stores the answer together with its facts.

    Example:
        @carries_out(ExportEvidence)
        async def export(self, request: ExportEvidence, actor: Actor, stored_answer: StoredAnswer | None) -> ...
    """

    def mark(
        method: Callable[[_S, _C, Actor, StoredAnswer | None], Awaitable[_A]],
    ) -> Callable[[_S, _C, Actor, StoredAnswer | None], Awaitable[_A]]:
        setattr(method, _COMMANDS, kinds)
        return method

    return mark


def answers(
    *kinds: type[_C],
) -> Callable[[Callable[[_S, _C], Awaitable[_A]]], Callable[[_S, _C], Awaitable[_A]]]:
    """Mark a method as the handler of queries, and of commands that append no fact."""

    def mark(method: Callable[[_S, _C], Awaitable[_A]]) -> Callable[[_S, _C], Awaitable[_A]]:
        setattr(method, _QUERIES, kinds)
        return method

    return mark


def find_handlers(services: Iterable[Service]) -> dict[type[Command], Handler]:
    """Return the handler of each command."""
    handlers: dict[type[Command], Handler] = {}
    for service in services:
        for name, function in inspect.getmembers(type(service), inspect.isfunction):
            method = getattr(service, name)
            marked = [(kind, method) for kind in getattr(function, _COMMANDS, ())]
            marked += [(kind, _drop_actor(method)) for kind in getattr(function, _QUERIES, ())]
            for kind, handler in marked:
                if kind in handlers:
                    raise TypeError(f"two methods carry out {kind.__name__}: one is {function.__qualname__}")
                handlers[kind] = handler
    return handlers


def _drop_actor(answer: Callable[[Any], Awaitable[Any]]) -> Handler:
    def handler(command: Any, _actor: Actor, _stored_answer: StoredAnswer | None) -> Awaitable[Any]:
        return answer(command)

    return handler
