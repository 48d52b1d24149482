"""The command service: the only way to change anything."""

from __future__ import annotations

import asyncio
from typing import Any, get_args

import msgspec

from callboard.contracts.commands import TABLE
from callboard.contracts.commands.base import Command, Declaration, Serial
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor
from callboard.control.decide import SessionCommand
from callboard.control.workspace import WorkspaceCommand

from .background_tasks import BackgroundTasks
from .dependencies import Dependencies
from .secrets.append_redactor import compute_body_hash, redact_value
from .service import Handler, Service, find_handlers
from .session_registry import SessionRegistry
from .workspaces.registry import WorkspaceRegistry

_DECLARED: dict[type[Command], Declaration] = {row.command: row for row in TABLE}
#: The commands that the writer of a stream decides without a service.
_DECIDED: dict[Serial, tuple[type[Command], ...]] = {
    "session": get_args(SessionCommand),
    "workspace": get_args(WorkspaceCommand),
    "store": (),
}


class CommandRunner:
    """Implements the port `CommandService`.

    A service carries out each command that it declares (`carries_out`, `answers`). The writer of
    the command's stream carries out the others.
    """

    def __init__(
        self,
        dependencies: Dependencies,
        sessions: SessionRegistry,
        workspaces: WorkspaceRegistry,
        services: tuple[Service, ...],
    ) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces
        self._services = services
        self._handlers = self._complete(find_handlers(services))
        self._in_flight: dict[str, tuple[str, asyncio.Task[Any]]] = {}
        self._tasks = BackgroundTasks()

    async def submit(self, command: Command, *, key: str = "", actor: Actor) -> Any:
        """Run a command, or answer a query.

        The same key and body have one effect and one answer, also while the first request is
        running (CTL-01). A used key with another body is refused.

        Raises:
            Refusal: `unknown_command`, `not_authorised`, `invalid_input`, `idempotency_conflict`,
                or what the command refuses.
        """
        declared = _DECLARED.get(type(command))
        if declared is None:
            raise Refusal(
                "unknown_command",
                f"There is no command {type(command).__name__}.",
                hint="GET /api/v1/openapi.json lists the commands.",
            )
        if not declared.has_secrets:
            command = redact_value(command, self._dependencies.secrets)
        if declared.authority == "person" and actor.kind not in ("person", "policy"):
            raise Refusal(
                "not_authorised",
                f"Only a person may run {declared.name}.",
                hint="Ask a person to run it on the page or with `callboard`.",
            )
        command.validate()
        if declared.query:
            return await self._answer(command, declared, actor)
        key = key or command.build_default_key()
        if not key:
            return await self._run(command, None, actor)
        body = compute_body_hash(declared.name, command, self._dependencies.secrets)
        running = self._in_flight.get(key)
        if running is None:
            task = self._tasks.start(self._run_once(command, declared, key, body, actor))
            self._in_flight[key] = (body, task)
            task.add_done_callback(lambda _: self._in_flight.pop(key, None))
        else:
            _require_same_body(running[0], body)
            task = running[1]
        return await self._tasks.wait(task)

    async def wait_settled(self) -> None:
        """Wait for work outside the sessions that must not be interrupted, and cancel the rest."""
        for service in self._services:
            await service.close()
        # A command with a key is completed even if its caller was cancelled.
        await self._tasks.wait_all()

    async def _answer(self, query: Command, declared: Declaration, actor: Actor) -> Any:
        """Answer a query. If stored rows are damaged, they are rebuilt and the query repeated."""
        handler = self._handlers[type(query)]
        try:
            answer = await handler(query, actor, None)
        except Refusal as refusal:
            if refusal.code != "rows_damaged":
                raise
            answer = await handler(query, actor, None)
        return redact_value(answer, self._dependencies.secrets) if declared.live else answer

    async def _run(self, command: Command, stored_answer: StoredAnswer | None, actor: Actor) -> Any:
        answer = await self._handlers[type(command)](command, actor, stored_answer)
        return redact_value(answer, self._dependencies.secrets)

    async def _run_once(self, command: Command, declared: Declaration, key: str, body: str, actor: Actor) -> Any:
        stored = await self._dependencies.store.facts.find_answer(key)
        if stored is None:
            return await self._run(command, StoredAnswer(key=key, body_hash=body, answer=b""), actor)
        _require_same_body(stored.body_hash, body)
        try:
            return msgspec.json.decode(stored.answer, type=declared.answer)
        except msgspec.MsgspecError as error:
            raise Refusal(
                "answer_unreadable",
                f"{declared.name} has run, but this version cannot read its stored answer.",
                field="idempotencyKey",
                hint="Read the session to see the result. A new key runs the command again.",
            ) from error

    def _complete(self, handlers: dict[type[Command], Handler]) -> dict[type[Command], Handler]:
        """Return the handlers of all commands. The writer of a stream handles what no service does."""
        writers: dict[Serial, Handler] = {"session": self._decide_in_session, "workspace": self._decide_in_workspace}
        decided = {row.command: writers[row.serial] for row in TABLE if row.command in _DECIDED[row.serial]}
        complete = decided | handlers
        if complete.keys() != _DECLARED.keys():
            names = sorted(kind.__name__ for kind in complete.keys() ^ _DECLARED.keys())
            raise TypeError(f"without a handler, or without a declaration: {', '.join(names)}")
        return complete

    async def _decide_in_session(self, command: Any, actor: Actor, stored_answer: StoredAnswer | None) -> Any:
        opened = await self._sessions.get(command.session_id or "")
        return await opened.host.run_command(command, actor, stored_answer)

    async def _decide_in_workspace(self, command: Any, actor: Actor, stored_answer: StoredAnswer | None) -> Any:
        return await self._workspaces.get(command.workspace_id).run_command(command, actor, stored_answer)


def _require_same_body(first: str, second: str) -> None:
    if first != second:
        raise Refusal(
            "idempotency_conflict",
            "This key was used for another request.",
            field="Idempotency-Key",
            hint="Use a new key for a new request. Repeat the same body to get the first answer.",
        )
