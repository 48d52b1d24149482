"""Facts of model calls: routing, requests, answers, cost and quota."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact

_CALL: tuple[ScopeKey, ...] = ("thread", "turn", "run", "step")
StopReason = Literal["stop", "tool_calls", "length", "content_filter", "unknown"]
#: What a model is asked for: an answer to its thread, or a summary of it.
CallPurpose = Literal["answer", "compaction"]


class Limit(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One limit as the provider tells it. `resets_in_ms` counts from the answer."""

    what: Literal["requests", "tokens", "input_tokens", "output_tokens"]
    limit: int | None = None
    remaining: int | None = None
    resets_in_ms: int | None = None


class ModelRequested(Fact, frozen=True, kw_only=True):
    """A model is asked. The context is named, never copied: what `turn.started` pinned for the run, and the thread's facts up
    to and including `context_through`, after `context_after` where older turns were left out. `iteration` counts the
    model calls of the run from 1."""

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
    """The answer is complete. `first_ms` is from the request to the first piece of it, `duration_ms` to the last.
    `provider_reason` is the provider's own word for how it ended."""

    type: ClassVar[str] = "model.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {"stop_reason": "unknown"}
    stop_reason: StopReason
    first_ms: int = 0
    duration_ms: int = 0
    response_id: str = ""
    provider_reason: str = ""


class ModelFailed(Fact, frozen=True, kw_only=True):
    """An attempt failed. With `retry_in_ms` it is tried again as the next attempt; without, the failure stands."""

    type: ClassVar[str] = "model.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": ""}
    code: str
    message: str
    attempt: int = 1
    retry_in_ms: int | None = None


class ModelInterrupted(Fact, frozen=True, kw_only=True):
    """The call was stopped, or its host died, before the answer was complete."""

    type: ClassVar[str] = "model.interrupted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {}


class QuotaReported(Fact, frozen=True, kw_only=True):
    """What a provider said of its limits with an answer or a refusal: where it refused for them, and where what remains fell
    under a tenth. `limits` are those that it named; `exhausted` says that waiting does not help."""

    type: ClassVar[str] = "model.quota"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {"provider": UNKNOWN}
    provider: str
    limits: tuple[Limit, ...] = ()
    retry_after_ms: int | None = None
    exhausted: bool = False


#: Who says what something cost: the provider, or a list of prices.
PriceSource = Literal["", "provider", "listed"]


class CostRecorded(Fact, frozen=True, kw_only=True):
    """Usage as the provider told it; what it did not tell is absent, never estimated. `amount` is in US
    dollars: as the provider told it, or of the tokens that it told at the `listed` prices."""

    type: ClassVar[str] = "cost.recorded"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step")
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    amount: float | None = None
    source: PriceSource = ""


class Candidate(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A model that could be asked; `excluded` says why it is not asked for this run, and is empty where it may be."""

    provider: str
    model: str
    excluded: str = ""


class RoutingResolved(Fact, frozen=True, kw_only=True):
    """The model of a run. With a single candidate that is the reason, and it is told as such. `fallbacks` are asked in their
    order where it fails for good; then another such fact names the next, and why."""

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
