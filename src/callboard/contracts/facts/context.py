"""Facts of context: refs in a turn, omissions with reasons, and compaction."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..content import Text
from ..refs import ContextRef, MissingRef, Omission
from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact

_RUN: tuple[ScopeKey, ...] = ("thread", "turn", "run")
_STEP: tuple[ScopeKey, ...] = (*_RUN, "step")
#: `window`: the model's window is filling. `refused`: the provider found the request too long.
CompactionCause = Literal["window", "refused", "person"]


class Quote(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A person's text quoted with a summary.

    `sequence` is its fact, an input or a steer. `size` is the number of quoted bytes: all, or its
    head and tail.
    """

    sequence: int
    size: int


class ContextResolved(Fact, frozen=True, kw_only=True):
    """A run's context in addition to its messages (Agent UI specification, Context, memory, and compaction).

    Recorded after `turn.started`, and again after a model request when the omissions changed.

    In tokens: `window` is the model's window, `budget` the part for the context, `used` an estimate
    of its present size. Each is absent if unknown.
    """

    type: ClassVar[str] = "context.resolved"
    needs: ClassVar[tuple[ScopeKey, ...]] = _RUN
    erased: ClassVar[ErasedForm] = {}
    refs: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()
    omitted: tuple[Omission, ...] = ()
    window: int | None = None
    budget: int | None = None
    used: int | None = None


class ContextPinned(Fact, frozen=True, kw_only=True):
    """A person changed the context of every future turn of the thread. `pinned` are all pins, as named."""

    type: ClassVar[str] = "context.pinned"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread",)
    pinned: tuple[str, ...]


class CompactionStarted(Fact, frozen=True, kw_only=True):
    """The model call at this step summarises the thread's facts up to and including `through`.

    `tokens` is their estimated size.
    """

    type: ClassVar[str] = "context.compaction.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = _STEP
    cause: CompactionCause
    through: int
    tokens: int | None = None


class CompactionCompleted(Fact, frozen=True, kw_only=True):
    """A summary replaced the thread's older facts in the model's context.

    The model receives `summary`, and the quoted texts `said` in order, in place of the facts up to
    and including `through`. Those facts stay in the log. No part of a summary is an answer (UI-25).
    """

    type: ClassVar[str] = "context.compaction.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _STEP
    summary: Text
    through: int
    tokens_before: int | None = None
    tokens_after: int | None = None
    said: tuple[Quote, ...] = ()


class CompactionFailed(Fact, frozen=True, kw_only=True):
    """The compaction failed, and the model's context is unchanged."""

    type: ClassVar[str] = "context.compaction.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _STEP
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": ""}
    code: str
    message: str


ContextFact = ContextResolved | ContextPinned | CompactionStarted | CompactionCompleted | CompactionFailed
