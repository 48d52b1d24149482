"""Commands that import sessions of other products."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..facts.context import CompactionCause
from ..facts.model import StopReason
from ..facts.session import SessionSource
from ..facts.turn import InputSource
from .base import MAX_INTEGER, Answer, Command, Id, command

Count = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]


Long = Annotated[str, Meta(max_length=4_000_000)]


#: Latest time that every client represents exactly, in microseconds since the epoch: the year 2255.
MAX_TIME_MICROSECONDS = MAX_INTEGER


class ImportedChange(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """A past change of a file.

    `path` is relative to the folder if the file is in it. `diff` is unified.
    """

    path: Annotated[str, Meta(min_length=1, max_length=4000)]
    kind: Literal["created", "modified", "deleted"]
    diff: Long = ""
    added: Count = 0
    removed: Count = 0


class ImportedPart(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """A part of a past response.

    For a tool `text` is its arguments as JSON; without `ended` its outcome is unknown. For a
    `compaction` `text` is the summary of the older conversation, with the tokens before and after
    if known.
    """

    kind: Literal["text", "reasoning", "tool", "compaction"]
    text: Long = ""
    tool: Annotated[str, Meta(max_length=200)] = ""
    summary: Annotated[str, Meta(max_length=500)] = ""
    call_id: Annotated[str, Meta(max_length=200)] = ""
    ended: Literal["completed", "failed", "refused"] | None = None
    output: Long = ""
    duration_ms: Count = 0
    exit_code: Annotated[int, Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)] | None = None
    changes: tuple[ImportedChange, ...] = ()
    cause: CompactionCause = "window"
    tokens_before: Count | None = None
    tokens_after: Count | None = None


class ImportedAgent(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """A past subagent: its type and its task's description, empty if unknown.

    `parent` is the `agent` that started it, empty for the main agent, None if unknown.
    """

    definition: Annotated[str, Meta(max_length=200)] = ""
    description: Annotated[str, Meta(max_length=500)] = ""
    parent: Annotated[str, Meta(max_length=64)] | None = None


class ImportedCall(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """A past model call: its parts in order, and the usage that the provider reported."""

    model: Annotated[str, Meta(max_length=200)]
    parts: tuple[ImportedPart, ...] = ()
    stop_reason: StopReason = "unknown"
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_tokens: Count | None = None
    reasoning_tokens: Count | None = None


class TurnImported(Answer, frozen=True, kw_only=True):
    """The imported turn. `added` is False if it existed already."""

    session_id: str
    turn_id: str
    added: bool
    sequence: int


@command("import_turn", TurnImported)
class ImportTurn(Command, frozen=True, kw_only=True):
    """Import a past turn of another product into a read-only session.

    The first turn creates the session. A turn that exists already stays unchanged. `at` is the start of the turn, in
    microseconds since the epoch. `agent` identifies an agent of the past session; it is empty for the agent that the
    person talked to. `subagent` describes any other agent; its default parent is the agent that the person talked to.
    `input_source` is the origin of `input`. Refused with `session_driven` if a session of Callboard ran that past
    session and holds its work already.
    """

    workspace_id: Id
    source: SessionSource
    source_id: Annotated[str, Meta(min_length=1, max_length=200)]
    title: Annotated[str, Meta(max_length=200)] = ""
    turn_id: Id
    at: Annotated[int, Meta(ge=0, le=MAX_TIME_MICROSECONDS)]
    input: Long = ""
    input_source: InputSource = "person"
    calls: tuple[ImportedCall, ...] = ()
    ended: Literal["completed", "interrupted", "failed"] = "completed"
    agent: Annotated[str, Meta(max_length=64)] = ""
    subagent: ImportedAgent | None = None


class PastSessionList(Answer, frozen=True, kw_only=True):
    """The past sessions, newest first.

    `older` is the number of older transcripts beyond the limit, which were not read.
    """

    sessions: tuple[PastSessionEntry, ...]
    unreadable: tuple[UnreadableTranscript, ...] = ()
    older: int = 0


@command("list_past_sessions", PastSessionList, serial="workspace", query=True, live=True)
class ListPastSessions(Command, frozen=True, kw_only=True):
    """List the past sessions of Claude Code and Codex in a workspace's folder.

    Sessions that a person imported and deleted are omitted. Sessions that a session of Callboard ran are omitted too,
    because their work is recorded here already.
    """

    workspace_id: Id


class PastSessionEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A past session, identified by `source` and `source_id`.

    `changed` is the time of its transcript's last write, in microseconds since the epoch. An
    `unfinished` session was written moments ago; a later import adds its newest turn. `session_id`
    is its session here if it was `imported`, else the id that it will have. `importing` is the
    number of turns that an import in progress has read; absent without one.
    """

    source: SessionSource
    product: str
    source_id: str
    folder: str
    title: str
    changed: int
    session_id: str = ""
    imported: bool = False
    unfinished: bool = False
    importing: int | None = None


class UnreadableTranscript(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An unreadable transcript: its file name without the folder, and the problem.

    Only transcripts of the requested folder, or of an unknown folder, are listed.
    """

    product: str
    name: str
    problem: str


class PastSessionImported(Answer, frozen=True, kw_only=True):
    """The imported session: `added` turns are new, `known` turns existed.

    If it is `unfinished`, a later import adds each agent's newest turn.
    """

    session_id: str
    added: int
    known: int
    unfinished: bool = False


@command("import_past_session", PastSessionImported, serial="workspace")
class ImportPastSession(Command, frozen=True, kw_only=True):
    """Import a past session of Claude Code or Codex, to read it here.

    The name is from `list_past_sessions`, which also reports progress. Importing again adds only new turns. The command
    answers when all turns are imported. If a turn is refused, the turns before it stay. Refused with `nothing_to_import`
    if no turn is finished, and with `session_driven` if a session of Callboard ran it.
    """

    workspace_id: Id
    source: SessionSource
    source_id: Annotated[str, Meta(min_length=1, max_length=200)]
