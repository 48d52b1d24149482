"""Base classes of commands and answers, and the declaration of a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from ..entities.arguments import Arguments

#: Largest integer that every client and every store represents exactly.
MAX_INTEGER = 2**53 - 1
Id = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$(?!\n)")]
Prompt = Annotated[str, Meta(min_length=1, max_length=1_000_000)]
Reason = Annotated[str, Meta(max_length=2000)]
Sequence = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]


class Command(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """A request to the control plane.

    Omitted optional fields get a default, which the answer names.
    """

    def validate(self) -> None:
        """Check what the types of the fields cannot express.

        Raises:
            Refusal: `invalid_input`.
        """

    def build_default_key(self) -> str:
        """Return the idempotency key of a request without one; empty if it has none."""
        return ""


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of a command, once its facts are durable."""


#: Who may send a command: only a person at a surface of this product, or any holder of the token,
#: agents included.
Authority = Literal["person", "anyone"]
#: The stream that serialises a command.
Serial = Literal["session", "workspace", "store"]


C = TypeVar("C", bound="Command")


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """One command, as `@command` declares it. Routes, OpenAPI, JSON-RPC, CLI help and TypeScript derive from it.

    A query changes nothing and needs no key. `summary` is the first line of the docstring. See `command` for the other fields.
    """

    name: str
    command: type[Command]
    answer: type[msgspec.Struct]
    serial: Serial
    authority: Authority
    query: bool
    waits: bool
    live: bool
    has_secrets: bool
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
    live: bool = False,
    has_secrets: bool = False,
) -> Callable[[type[C]], type[C]]:
    """Declare a Struct as the command `name`.

    Args:
        name: The wire name, an imperative in snake_case.
        answer: The Struct that the command answers with.
        serial: The stream with the facts of the command. Its writer carries out a command that no service does.
        authority: Who may send it.
        query: True if it only reads.
        waits: True if the query may take long. It is cancelled when its caller disconnects.
        live: True if the query's answer comes from programs or servers. Secrets in it are redacted.
        has_secrets: True if a field may contain a secret, which the log never records. It is not redacted.

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
            live=live,
            has_secrets=has_secrets,
            summary=summary,
        )
        return kind

    return declare


Title = Annotated[str, Meta(max_length=200)]


class TeamToolArguments(Arguments, frozen=True, kw_only=True, rename="camel"):
    """Arguments of an agent's team tool."""
