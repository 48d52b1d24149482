"""The commands of what models are told beside the words: what a turn was given, pins, compaction, what a mention may mean."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ..content import Text
from ..refs import MentionKind, MissingRef
from ..rows.context import ContextRow
from .base import Answer, Command, Declaration
from .turns import Id, Reason

Ref = Annotated[str, Meta(min_length=1, max_length=4096)]


class GetContext(Command, frozen=True, kw_only=True):
    """What the newest run of a thread was given and what was left out (CTX-01). With `ref`, also the text of that one."""

    session_id: Id
    thread_id: Id | None = None
    ref: Ref | None = None


class SaidRead(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a person said that is told beside a summary, `size` bytes of it: all of `text`, or its head and its tail. It stands
    in the fact at `sequence`."""

    sequence: int
    turn_id: str
    size: int
    text: Text


class ContextRead(Answer, frozen=True, kw_only=True):
    """`text` is what was given under the `ref` that was asked for, absent where nothing was asked for or it is no text;
    `summary` stands in place of the thread's facts up to and including `compacted`, and `said` beside it."""

    session_id: str
    thread_id: str
    context: ContextRow
    text: Text | None = None
    summary: Text | None = None
    compacted: int = 0
    said: tuple[SaidRead, ...] = ()
    head: int


class SetContext(Command, frozen=True, kw_only=True):
    """Say what every turn of a thread is given from the next one on: files and folders, by their paths. It replaces what was
    pinned before; nothing takes all away."""

    session_id: Id
    thread_id: Id | None = None
    pinned: Annotated[tuple[Ref, ...], Meta(max_length=50)]


class ContextChanged(Answer, frozen=True, kw_only=True):
    """What is pinned now. `missing` are those of it that are not there at present: they stay pinned and show as missing."""

    session_id: str
    thread_id: str
    pinned: tuple[str, ...]
    missing: tuple[MissingRef, ...]
    sequence: int


class CompactThread(Command, frozen=True, kw_only=True):
    """Have the older part of a thread summarised now, while nothing runs in it; its model is told the summary from then on."""

    session_id: Id
    thread_id: Id | None = None
    reason: Reason = ""


class CompactionBegun(Answer, frozen=True, kw_only=True):
    """What is being summarised: the thread's facts up to and including `through`. What comes of it is a fact of the turn."""

    session_id: str
    thread_id: str
    turn_id: str
    through: int
    sequence: int


class FindMentions(Command, frozen=True, kw_only=True):
    """What a text behind an @ may mean: files and folders of the workspace, agents, and with `session_id` its artifacts; past
    sessions. The best first."""

    workspace_id: Id
    session_id: Id | None = None
    text: Annotated[str, Meta(max_length=500)] = ""
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class Mention(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One thing that may be meant. `insert` is what to write for it, with the @; `title` is for a person."""

    kind: MentionKind
    ref: str
    insert: str
    title: str = ""


class MentionList(Answer, frozen=True, kw_only=True):
    """`complete` is False where there may be more."""

    mentions: tuple[Mention, ...]
    complete: bool = True


CONTEXT_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="get_context",
        command=GetContext,
        answer=ContextRead,
        serial="session",
        authority="anyone",
        query=True,
        summary="What the newest run of a thread was given, what is missing and what was left out, with the reasons.",
    ),
    Declaration(
        name="set_context",
        command=SetContext,
        answer=ContextChanged,
        serial="session",
        summary="Pin what every turn of a thread is given from the next one on.",
    ),
    Declaration(
        name="compact_thread",
        command=CompactThread,
        answer=CompactionBegun,
        serial="session",
        summary="Summarise the older part of a thread; its model is told the summary in place of it.",
    ),
    Declaration(
        name="find_mentions",
        command=FindMentions,
        answer=MentionList,
        serial="workspace",
        authority="anyone",
        query=True,
        waits=True,
        summary="What a text behind an @ may mean: files, folders, artifacts, sessions, agents.",
    ),
)
