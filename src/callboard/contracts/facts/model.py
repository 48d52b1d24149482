"""Facts of model calls: routing, requests, responses, cost and quota."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact

_CALL: tuple[ScopeKey, ...] = ("thread", "turn", "run", "step")
StopReason = Literal["stop", "tool_calls", "length", "content_filter", "unknown"]
#: What the model writes: an `answer` in its thread, or a summary of the thread.
CallPurpose = Literal["answer", "compaction"]


class Limit(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A limit as the provider reports it. `resets_in_ms` counts from the response."""

    what: Literal["requests", "tokens", "input_tokens", "output_tokens"]
    limit: int | None = None
    remaining: int | None = None
    resets_in_ms: int | None = None


class ModelRequested(Fact, frozen=True, kw_only=True):
    """A model call began.

    Its context is referenced, not copied: the prompts of `turn.started`, and the thread's facts
    after `context_after` (older turns are left out) up to and including `context_through`.
    `iteration` counts the run's model calls from 1.
    """

    type: ClassVar[str] = "model.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {"provider": UNKNOWN, "model": UNKNOWN, "iteration": 0, "context_through": 0}
    provider: str
    model: str
    iteration: int
    context_through: int
    context_after: int = 0
    purpose: CallPurpose = "answer"


class ModelCompleted(Fact, frozen=True, kw_only=True):
    """The response is complete.

    `first_ms` is the time from the request to its first piece, `duration_ms` to its last.
    `provider_reason` is the provider's own stop reason.
    """

    type: ClassVar[str] = "model.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {"stop_reason": "unknown"}
    stop_reason: StopReason
    first_ms: int = 0
    duration_ms: int = 0
    response_id: str = ""
    provider_reason: str = ""


class ModelFailed(Fact, frozen=True, kw_only=True):
    """An attempt failed. With `retry_in_ms` the next attempt follows; without it the call failed."""

    type: ClassVar[str] = "model.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": ""}
    code: str
    message: str
    attempt: int = 1
    retry_in_ms: int | None = None


class ModelInterrupted(Fact, frozen=True, kw_only=True):
    """The call was stopped, or its host died, before the response was complete."""

    type: ClassVar[str] = "model.interrupted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {}


class QuotaReported(Fact, frozen=True, kw_only=True):
    """A provider refused a call for its limits, or reported that less than a tenth of a limit is left.

    `exhausted`: waiting does not help.
    """

    type: ClassVar[str] = "model.quota"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {"provider": UNKNOWN}
    provider: str
    limits: tuple[Limit, ...] = ()
    retry_after_ms: int | None = None
    exhausted: bool = False


#: Source of a cost: the provider, or the price list.
PriceSource = Literal["", "provider", "listed"]


class CostRecorded(Fact, frozen=True, kw_only=True):
    """The usage of a call as the provider reported it; a missing value is absent, never estimated.

    `amount` is in US dollars: the provider's, or computed from the reported tokens at the `listed`
    prices.
    """

    type: ClassVar[str] = "cost.recorded"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step")
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    amount: float | None = None
    source: PriceSource = ""


class Candidate(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A model that could be called. `excluded` explains why this run does not use it; empty if it may."""

    provider: str
    model: str
    excluded: str = ""


class RoutingResolved(Fact, frozen=True, kw_only=True):
    """The model of a run was chosen.

    With a single candidate that is the `reason`. `fallbacks` replace a model that failed
    permanently, in order; another such fact then records the next one.
    """

    type: ClassVar[str] = "routing.resolved"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    erased: ClassVar[ErasedForm] = {
        "candidates": (),
        "chosen": Candidate(provider=UNKNOWN, model=UNKNOWN),
        "reason": "",
    }
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    reason: str
    fallbacks: tuple[Candidate, ...] = ()


ModelFact = (
    RoutingResolved | ModelRequested | ModelCompleted | ModelFailed | ModelInterrupted | CostRecorded | QuotaReported
)
