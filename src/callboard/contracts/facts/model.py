"""Facts of model calls."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..scope import ScopeKey
from .base import Fact

_CALL: tuple[ScopeKey, ...] = ("thread", "turn", "run", "step")
StopReason = Literal["stop", "tool_calls", "length", "content_filter", "unknown"]


class ModelRequested(Fact, frozen=True, kw_only=True):
    """A model is asked. The context is named, never copied: what `turn.started` pinned for the run, and the thread's facts up
    to and including `context_through`, after `context_after` where older turns were left out. `iteration` counts the
    model calls of the run from 1."""

    type: ClassVar[str] = "model.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    provider: str
    model: str
    iteration: int
    context_through: int
    context_after: int = 0


class ModelCompleted(Fact, frozen=True, kw_only=True):
    """The answer is complete. `first_ms` is from the request to the first piece of it, `duration_ms` to the last."""

    type: ClassVar[str] = "model.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    stop_reason: StopReason
    first_ms: int = 0
    duration_ms: int = 0
    response_id: str = ""


class ModelFailed(Fact, frozen=True, kw_only=True):
    """An attempt failed. With `retry_in_ms` it is tried again as the next attempt; without, the failure stands."""

    type: ClassVar[str] = "model.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    code: str
    message: str
    attempt: int = 1
    retry_in_ms: int | None = None


class ModelInterrupted(Fact, frozen=True, kw_only=True):
    """The call was stopped, or its host died, before the answer was complete."""

    type: ClassVar[str] = "model.interrupted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL


ModelFact = ModelRequested | ModelCompleted | ModelFailed | ModelInterrupted
