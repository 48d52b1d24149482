"""Commands that manage a model's context in addition to the prompt."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ..content import Text
from ..refs import MentionKind, MissingRef
from ..rows.context import ContextRow
from .base import Answer, Command, Id, Reason, command

Ref = Annotated[str, Meta(min_length=1, max_length=4096)]


class ContextRead(Answer, frozen=True, kw_only=True):
    """The context.

    `text` is the content of the requested `ref`, absent for no ref and for binary content.
    `summary` replaces the thread's facts up to and including `compacted`, with the quoted inputs in
    `said`.
    """

    session_id: str
    thread_id: str
    context: ContextRow
    text: Text | None = None
    summary: Text | None = None
    compacted: int = 0
    said: tuple[QuotedInput, ...] = ()
    head: int


@command("get_context", ContextRead, authority="anyone", query=True)
class GetContext(Command, frozen=True, kw_only=True):
    """Read the context of a thread's newest run: what it received, what is missing and what was omitted, with reasons.

    With `ref` the answer includes the text of that entry (CTX-01).
    """

    session_id: Id
    thread_id: Id | None = None
    ref: Ref | None = None


class QuotedInput(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A person's input quoted with a summary.

    `sequence` is its fact. `text` has all of its `size` bytes, or its head and tail.
    """

    sequence: int
    turn_id: str
    size: int
    text: Text


class ContextChanged(Answer, frozen=True, kw_only=True):
    """The present pins. Those in `missing` do not exist now; they stay pinned."""

    session_id: str
    thread_id: str
    pinned: tuple[str, ...]
    missing: tuple[MissingRef, ...]
    sequence: int


@command("set_context", ContextChanged)
class SetContext(Command, frozen=True, kw_only=True):
    """Pin files and folders that every turn of a thread receives, starting with the next one.

    The paths replace all former pins. An empty list removes them.
    """

    session_id: Id
    thread_id: Id | None = None
    pinned: Annotated[tuple[Ref, ...], Meta(max_length=50)]


class CompactionAccepted(Answer, frozen=True, kw_only=True):
    """A compaction of the thread's facts up to and including `through` has begun.

    Facts of the turn have its result.
    """

    session_id: str
    thread_id: str
    turn_id: str
    through: int
    sequence: int


@command("compact_thread", CompactionAccepted)
class CompactThread(Command, frozen=True, kw_only=True):
    """Summarise the older part of a thread.

    The thread must be idle. Its model receives the summary in place of the older turns.
    """

    session_id: Id
    thread_id: Id | None = None
    reason: Reason = ""


class MentionList(Answer, frozen=True, kw_only=True):
    """The matches. `complete` is False if there may be more."""

    mentions: tuple[Mention, ...]
    complete: bool = True


@command("find_mentions", MentionList, serial="workspace", authority="anyone", query=True, waits=True)
class FindMentions(Command, frozen=True, kw_only=True):
    """List what text after an @ can refer to, best match first.

    Files and folders of the workspace, agents, past sessions, and with `session_id` artifacts of that session.
    """

    workspace_id: Id
    session_id: Id | None = None
    text: Annotated[str, Meta(max_length=500)] = ""
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class Mention(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A match. `insert` is the text to insert, with the @. `title` is for display."""

    kind: MentionKind
    ref: str
    insert: str
    title: str = ""
