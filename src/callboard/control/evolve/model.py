"""Facts of model calls and their responses."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

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

from ..state.repetition import find_streak, has_call
from ..state.session import Session
from ..state.turn import OpenRun
from .fact_context import FactContext, change_run, change_thread, compute_next_step, update_run, update_thread


def apply(state: Session, fact: ModelFact, context: FactContext) -> Session:
    match fact:
        case RoutingResolved():
            return _set_route(state, fact, context)
        case ModelRequested():
            return _request_model(state, fact, context)
        case ModelCompleted():
            return _add_usage(update_run(state, context, model_step=0), context, model_calls=1)
        case QuotaReported():
            return _record_quota(state, fact, context)
        case ModelInterrupted():
            return update_run(state, context, model_step=0)
        case ModelFailed():
            return state if fact.retry_in_ms is not None else update_run(state, context, model_step=0)
        case CostRecorded():
            tokens = {"input_tokens": fact.input_tokens or 0, "output_tokens": fact.output_tokens or 0}
            return _add_usage(state, context, **tokens)
        case _:
            assert_never(fact)


def _set_route(state: Session, fact: RoutingResolved, context: FactContext) -> Session:
    return change_run(
        state,
        context,
        lambda run: replace(
            run,
            provider=fact.chosen.provider,
            model=fact.chosen.model,
            candidates=fact.candidates,
            fallbacks=fact.fallbacks,
            has_fallen_back=bool(run.provider),
        ),
    )


def _record_quota(state: Session, fact: QuotaReported, context: FactContext) -> Session:
    low = list_low_limits(fact.limits)
    return change_run(
        state, context, lambda run: replace(run, low_limits=tuple(dict.fromkeys((*run.low_limits, *low))))
    )


def list_low_limits(limits: tuple[Limit, ...]) -> tuple[str, ...]:
    """Return the names of the limits with less than a tenth left."""
    return tuple(
        limit.what
        for limit in limits
        if limit.limit is not None and limit.remaining is not None and limit.remaining * 10 < limit.limit
    )


def _request_model(state: Session, fact: ModelRequested, context: FactContext) -> Session:
    if fact.purpose == "compaction":
        return change_run(state, context, lambda run: _request_summary(run, context))
    if fact.context_after:
        state = change_thread(
            state, context, lambda thread: replace(thread, context_after=max(thread.context_after, fact.context_after))
        )

    def request(run: OpenRun) -> OpenRun:
        # A fallback model's call belongs to the same round as the failed call.
        is_same_round = fact.iteration == run.iteration
        return replace(
            run,
            model_step=context.scope.step,
            newest_model_step=context.scope.step,
            round_results=(),
            streak=find_streak(run) if run.newest_model_step and not is_same_round else run.streak,
            reminded=run.reminded if is_same_round else run.newest_model_step > 0 and not has_call(run),
            iteration=fact.iteration,
            next_step=compute_next_step(run, context),
        )

    return change_run(state, context, request)


def _request_summary(run: OpenRun, context: FactContext) -> OpenRun:
    """Record the call that writes a summary, by the first model or by a fallback."""
    step = context.scope.step
    compacting = None if run.compacting is None else replace(run.compacting, step=step)
    return replace(run, compacting=compacting, model_step=step, next_step=compute_next_step(run, context))


def _add_usage(
    state: Session, context: FactContext, *, input_tokens: int = 0, output_tokens: int = 0, model_calls: int = 0
) -> Session:
    """Add to the usage of a child."""
    thread = state.threads.get(context.scope.thread)
    if thread is None or thread.child is None:
        return state
    usage = replace(
        thread.usage,
        input_tokens=thread.usage.input_tokens + input_tokens,
        output_tokens=thread.usage.output_tokens + output_tokens,
        model_calls=thread.usage.model_calls + model_calls,
    )
    return update_thread(state, context, usage=usage)
