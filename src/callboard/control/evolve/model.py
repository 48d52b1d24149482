"""Model calls and the parts of their answers."""

from __future__ import annotations

from typing import assert_never

import msgspec

from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.context import ContextResolved
from callboard.contracts.facts.model import (
    CostRecorded,
    Limit,
    ModelCompleted,
    ModelFact,
    ModelFailed,
    ModelInterrupted,
    ModelRequested,
    QuotaReported,
    RoutingResolved,
)
from callboard.contracts.facts.queue import SteerRequested
from callboard.contracts.facts.tool import ToolCompleted

from ..state.repetition import called, streak
from ..state.session import Session, Thread
from ..state.turn import OpenRun
from .fact_context import FactContext, change_run, change_thread, past


def apply(state: Session, fact: ModelFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case RoutingResolved():
            return routed(state, fact, place)
        case ModelRequested():
            return requested(state, fact, place)
        case ModelCompleted():
            return answered(state, place)
        case QuotaReported():
            return quota(state, fact, place)
        case ModelInterrupted():
            return ended(state, place)
        case ModelFailed():
            return state if fact.retry_in_ms is not None else ended(state, place)
        case CostRecorded():
            return cost(state, fact, place)
        case _:
            assert_never(fact)


def routed(state: Session, fact: RoutingResolved, place: FactContext) -> Session:
    return change_run(
        state,
        place,
        lambda run: msgspec.structs.replace(
            run,
            provider=fact.chosen.provider,
            model=fact.chosen.model,
            candidates=fact.candidates,
            fallbacks=fact.fallbacks,
            has_fallen_back=bool(run.provider),
        ),
    )


def quota(state: Session, fact: QuotaReported, place: FactContext) -> Session:
    low = scarce(fact.limits)
    return change_run(
        state, place, lambda run: msgspec.structs.replace(run, low_limits=tuple(dict.fromkeys((*run.low_limits, *low))))
    )


def scarce(limits: tuple[Limit, ...]) -> tuple[str, ...]:
    """The limits of which less than a tenth is left."""
    return tuple(
        one.what
        for one in limits
        if one.limit is not None and one.remaining is not None and one.remaining * 10 < one.limit
    )


def pictured(state: Session, fact: Fact, place: FactContext) -> Session:
    """The thread, where the fact brings an image that its model is told."""
    match fact:
        case ContextResolved(refs=refs):
            brings = any(ref.kind == "image" for ref in refs)
        case ToolCompleted(images=images):
            brings = bool(images)
        case SteerRequested(given=refs):
            brings = any(ref.kind == "image" for ref in refs)
        case _:
            return state
    if not brings:
        return state
    return change_thread(state, place, lambda thread: msgspec.structs.replace(thread, newest_image=place.sequence))


def requested(state: Session, fact: ModelRequested, place: FactContext) -> Session:
    step = place.scope.step
    if fact.purpose == "compaction":
        return change_run(state, place, lambda run: _summing(run, step))
    if fact.context_after:
        state = change_thread(
            state, place, lambda thread: msgspec.structs.replace(thread, cut=max(thread.cut, fact.context_after))
        )
    return change_run(
        state,
        place,
        lambda run: msgspec.structs.replace(
            run,
            model_step=step,
            newest_model_step=step,
            round_results=(),
            # What another model is asked in place of one that failed is the same round.
            streak=streak(run) if run.newest_model_step and fact.iteration != run.iteration else run.streak,
            reminded=run.reminded if fact.iteration == run.iteration else run.newest_model_step > 0 and not called(run),
            iteration=fact.iteration,
            next_step=past(run, step),
        ),
    )


def _summing(run: OpenRun, step: int) -> OpenRun:
    """A run that asks for a summary, the first model or one that is asked in its place."""
    making = None if run.compacting is None else msgspec.structs.replace(run.compacting, step=step)
    return msgspec.structs.replace(run, compacting=making, model_step=step, next_step=past(run, step))


def answered(state: Session, place: FactContext) -> Session:
    return _used(ended(state, place), place, model_calls=1)


def cost(state: Session, fact: CostRecorded, place: FactContext) -> Session:
    return _used(state, place, input_tokens=fact.input_tokens or 0, output_tokens=fact.output_tokens or 0)


def _used(
    state: Session, place: FactContext, *, input_tokens: int = 0, output_tokens: int = 0, model_calls: int = 0
) -> Session:
    def add(thread: Thread) -> Thread:
        if thread.child is None:
            return thread
        used = thread.usage
        usage = msgspec.structs.replace(
            used,
            input_tokens=used.input_tokens + input_tokens,
            output_tokens=used.output_tokens + output_tokens,
            model_calls=used.model_calls + model_calls,
        )
        return msgspec.structs.replace(thread, usage=usage)

    return change_thread(state, place, add)


def ended(state: Session, place: FactContext) -> Session:
    return change_run(state, place, lambda run: msgspec.structs.replace(run, model_step=0))
