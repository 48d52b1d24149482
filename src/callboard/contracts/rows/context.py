"""Rows of models' context."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from ..facts.context import CompactionCause
from ..refs import ContextRef, MissingRef, Omission
from .base import Row
from .part import Part


class ContextRow(Row, tag="context", frozen=True, kw_only=True):
    """The context of a thread's newest run, and the pins of every turn.

    Token counts are estimates, absent if unknown.
    """

    panel: ClassVar[str] = "context"
    thread_id: str
    turn_id: str = ""
    refs: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()
    omitted: tuple[Omission, ...] = ()
    pinned: tuple[str, ...] = ()
    window: int | None = None
    budget: int | None = None
    used: int | None = None


class ContextPart(Part, tag="context_event", frozen=True, kw_only=True):
    """A change of a turn's context: resolved refs, or a compaction and its result.

    A summary is not an answer and is shown on demand. `said` is the number of quoted inputs beside
    it.
    """

    event: Literal["resolved", "compacting", "compacted", "compaction_failed"]
    given: int = 0
    missing: tuple[MissingRef, ...] = ()
    omitted: tuple[Omission, ...] = ()
    cause: CompactionCause | None = None
    summary: Text = Text()
    said: int = 0
    tokens_before: int | None = None
    tokens_after: int | None = None
    code: str = ""
    message: str = ""
