"""Facts of what a model is told beside the words: what entered a turn, what was left out and why, and compaction."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..content import Text
from ..refs import ContextRef, MissingRef, Omission
from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact

_RUN: tuple[ScopeKey, ...] = ("thread", "turn", "run")
_STEP: tuple[ScopeKey, ...] = (*_RUN, "step")
#: `window` is that the model's window is filling, `refused` that its provider found the request too long.
CompactionCause = Literal["window", "refused", "person"]


class Said(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a person said that is told as it was said. `sequence` is of the fact that has it, an input or a steer; `size` is how
    many bytes of it are told: all of them, or its head and its tail."""

    sequence: int
    size: int


class ContextResolved(Fact, frozen=True, kw_only=True):
    """What a run is given beside the words of its thread (Agent UI specification, Context, memory, and compaction). It stands
    behind `turn.started`, and again behind a model call's request where what is left out changed.

    `window` is how many tokens the model takes, `budget` how many of them the context may fill, `used` an estimate of how
    many it does. Each is absent where it is not known.
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
    """A person changed what every turn of the thread is given, from the next one on. `pinned` is all of it, as it was named."""

    type: ClassVar[str] = "context.pinned"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread",)
    pinned: tuple[str, ...]


class CompactionStarted(Fact, frozen=True, kw_only=True):
    """The thread's facts up to and including `through` are being summarised, by the model call at this step. `tokens` is an
    estimate of what they take."""

    type: ClassVar[str] = "context.compaction.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = _STEP
    cause: CompactionCause
    through: int
    tokens: int | None = None


class CompactionCompleted(Fact, frozen=True, kw_only=True):
    """From here on the model is told `summary` in place of the thread's facts up to and including `through`, and beside it, in
    their order, `said` of what persons said in them. They stay in the log, and nothing of the summary is an answer (UI-25)."""

    type: ClassVar[str] = "context.compaction.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _STEP
    summary: Text
    through: int
    tokens_before: int | None = None
    tokens_after: int | None = None
    said: tuple[Said, ...] = ()


class CompactionFailed(Fact, frozen=True, kw_only=True):
    """No summary came of it; what the model is told is as it was."""

    type: ClassVar[str] = "context.compaction.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _STEP
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": ""}
    code: str
    message: str


ContextFact = ContextResolved | ContextPinned | CompactionStarted | CompactionCompleted | CompactionFailed
