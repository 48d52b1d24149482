"""Rows of what models are told beside the words."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from ..facts.context import CompactionCause
from ..refs import ContextRef, MissingRef, Omission
from .base import Row
from .conversation import Part


class ContextRow(Row, tag="context", frozen=True, kw_only=True):
    """What the newest run of a thread was given, and what every turn of it is (`pinned`). Token counts are estimates, absent
    where nothing is known."""

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
    """Where the context of a turn changed: what it was given or lacked, or a compaction and what came of it. A summary is no
    answer and is shown on demand; `said` counts what persons said that stands beside it as they said it."""

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


class ArtifactPart(Part, tag="artifact_ref", frozen=True, kw_only=True):
    """A version of an artifact that came of the turn; its body is in the workspace of artifacts."""

    artifact_id: str
    title: str
    version: int
    path: str = ""
    added: int = 0
    removed: int = 0
