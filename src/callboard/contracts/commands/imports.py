"""Turns of a session that another product held, taken over as they were. The session is for reading."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..facts.model import StopReason
from ..facts.session import SessionSource
from .base import Answer, Command
from .turns import Id

Long = Annotated[str, Meta(max_length=4_000_000)]
#: The latest time that every client holds exactly, in microseconds since the Unix epoch; it is in the year 2255.
LATEST = 2**53 - 1


class ImportedChange(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """What a past call did to a file. `path` is relative to the folder where it is in it; `diff` is unified."""

    path: Annotated[str, Meta(min_length=1, max_length=4000)]
    kind: Literal["created", "modified", "deleted"]
    diff: Long = ""
    added: int = 0
    removed: int = 0


class ImportedPart(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """A part of a past answer. For a tool `text` is its arguments as JSON; without `ended` nobody knows what it came to."""

    kind: Literal["text", "reasoning", "tool"]
    text: Long = ""
    tool: Annotated[str, Meta(max_length=200)] = ""
    summary: Annotated[str, Meta(max_length=500)] = ""
    call_id: Annotated[str, Meta(max_length=200)] = ""
    ended: Literal["completed", "failed", "refused"] | None = None
    output: Long = ""
    duration_ms: Annotated[int, Meta(ge=0)] = 0
    exit_code: int | None = None
    changes: tuple[ImportedChange, ...] = ()


class ImportedCall(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """A past model call: its parts in order, and what the provider told of its use."""

    model: Annotated[str, Meta(max_length=200)]
    parts: tuple[ImportedPart, ...] = ()
    stop_reason: StopReason = "unknown"
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class ImportTurn(Command, frozen=True, kw_only=True):
    """Take over a past turn. The session is made by its first; a turn that is there already is left as it is.

    `at` is when it began (microseconds since the Unix epoch). `agent` tells apart the agents of the past session: empty for
    the one that spoke with the person.
    """

    workspace_id: Id
    source: SessionSource
    source_id: Annotated[str, Meta(min_length=1, max_length=200)]
    title: Annotated[str, Meta(max_length=200)] = ""
    turn_id: Id
    at: Annotated[int, Meta(ge=0, le=LATEST)]
    input: Long = ""
    calls: tuple[ImportedCall, ...] = ()
    ended: Literal["completed", "interrupted", "failed"] = "completed"
    agent: Annotated[str, Meta(max_length=64)] = ""


class TurnImported(Answer, frozen=True, kw_only=True):
    """`added` is False where the turn was there already."""

    session_id: str
    turn_id: str
    added: bool
    sequence: int
