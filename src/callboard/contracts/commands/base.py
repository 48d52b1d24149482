"""The base classes of commands and answers, and the declaration of a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from ..entities.arguments import Arguments

#: The largest whole number that every client and every store can represent exactly.
LARGEST = 2**53 - 1
Id = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$(?!\n)")]
Prompt = Annotated[str, Meta(min_length=1, max_length=1_000_000)]
Reason = Annotated[str, Meta(max_length=2000)]
Sequence = Annotated[int, Meta(ge=0, le=LARGEST)]


class Command(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """A request to the control plane. The control plane fills in what an optional field lacks, and the answer names it."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of a command, once its facts are durable."""


#: Who may send a command: a person at a surface of this product, or any holder of the token, agents included.
Authority = Literal["person", "anyone"]
#: The stream that serialises a command.
Serial = Literal["session", "workspace", "store"]


C = TypeVar("C", bound="Command")


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """One command, as `@command` declares it. Routes, OpenAPI, JSON-RPC, CLI help and TypeScript derive from it.

    A query changes nothing and needs no key. A query that `waits` may take long, and is cancelled when its caller disconnects.
    `summary` is the first line of the docstring.
    """

    name: str
    command: type[Command]
    answer: type[msgspec.Struct]
    serial: Serial
    authority: Authority
    query: bool
    waits: bool
    summary: str


#: Each command by its wire name, in the order of declaration. `callboard.contracts.commands` imports all families.
COMMANDS: dict[str, Declaration] = {}


def command(
    name: str,
    answer: type[msgspec.Struct],
    *,
    serial: Serial = "session",
    authority: Authority = "person",
    query: bool = False,
    waits: bool = False,
) -> Callable[[type[C]], type[C]]:
    """Declare a Struct as the command `name`.

    Args:
        name: The wire name, an imperative in snake_case.
        answer: The Struct that the command answers with.
        serial: The stream whose writer carries the command out.
        authority: Who may send it.
        query: True if it only reads.
        waits: True if the query may take long.

    Example:
        @command("pause_task", TaskChanged)
        class PauseTask(Command, frozen=True, kw_only=True):
            ...
    """

    def declare(kind: type[C]) -> type[C]:
        summary = (kind.__doc__ or "").strip().partition("\n")[0]
        COMMANDS[name] = Declaration(
            name=name,
            command=kind,
            answer=answer,
            serial=serial,
            authority=authority,
            query=query,
            waits=waits,
            summary=summary,
        )
        return kind

    return declare


Title = Annotated[str, Meta(max_length=200)]


class AgentRequest(Arguments, frozen=True, kw_only=True, rename="camel"):
    """What an agent asks of its team."""
