"""Steps of a turn: ask the model, repeat a request, complete or fail."""

from __future__ import annotations

from callboard.contracts.facts.message import OutputFinal
from callboard.contracts.facts.model import CostRecorded, ModelCompleted, ModelRequested
from callboard.contracts.facts.queue import SteerAccepted, SteerRejected, SteerRejection
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed
from callboard.contracts.scope import Scope

from ...batch import Batch, build_run_scope, build_thread_scope
from ...outcomes import ModelResponded
from ...state.repetition import list_final_texts
from ...state.session import Thread
from ...state.turn import OpenRun
from .context import begin_compaction, compute_cut, record_context_change
from .plan import finish_plan
from .repetition import fail_repetition, find_repetition


def ask_model(batch: Batch, thread_id: str) -> None:
    """Ask the model with the waiting steers. At the run's limit, or after equal rounds, the turn
    fails instead."""
    thread, run = require_run(batch, thread_id)
    if run.iteration >= run.max_iters:
        fail_turn(
            batch,
            thread_id,
            code="max_iters",
            message=f"The turn reached its limit of {run.max_iters} model calls.",
            hint="Send another turn to continue.",
            retryable=False,
        )
        return
    steps = find_repetition(run)
    if steps:
        reject_steers(batch, thread, run, "turn_failed")
        fail_repetition(batch, thread, run, steps)
        return
    if begin_compaction(batch, thread_id, "person" if run.only_compacts else "window"):
        return
    step = run.next_step
    scope = build_run_scope(thread, run, step)
    for steer in run.steers:
        batch.add(SteerAccepted(steer_id=steer.steer), scope)
    batch.add(_build_request(batch, thread, run, run.iteration + 1), scope)
    record_context_change(batch, thread_id)


def repeat_request(batch: Batch, thread_id: str) -> None:
    """Ask the run's present model what the failed one was asked. The iteration stays the same."""
    thread, run = require_run(batch, thread_id)
    batch.add(_build_request(batch, thread, run, run.iteration), build_run_scope(thread, run, run.next_step))


def _build_request(batch: Batch, thread: Thread, run: OpenRun, iteration: int) -> ModelRequested:
    return ModelRequested(
        provider=run.provider,
        model=run.model,
        iteration=iteration,
        context_after=compute_cut(thread, batch.inputs.context_steps),
        context_through=batch.state.sequence,
    )


def record_model_end(batch: Batch, outcome: ModelResponded, scope: Scope) -> None:
    """Record the end and the usage of a model call, in the scope of its step."""
    batch.add(
        ModelCompleted(
            stop_reason=outcome.stop_reason,
            provider_reason=outcome.provider_reason,
            first_ms=outcome.first_ms,
            duration_ms=outcome.duration_ms,
            response_id=outcome.response_id,
        ),
        scope,
    )
    batch.add(
        CostRecorded(
            input_tokens=outcome.usage.input_tokens,
            output_tokens=outcome.usage.output_tokens,
            cached_tokens=outcome.usage.cached_tokens,
            reasoning_tokens=outcome.usage.reasoning_tokens,
            amount=outcome.usage.amount,
            source=outcome.usage.source,
        ),
        scope,
    )


def complete_turn(batch: Batch, thread_id: str, *, plain_text: bool = False) -> None:
    """Complete the turn with its answer. `plain_text`: the answer is the newest text of a run
    without Finalize."""
    thread, run = require_run(batch, thread_id)
    scope = build_run_scope(thread, run)
    reject_steers(batch, thread, run, "turn_completed")
    finish_plan(batch, thread, run)
    parts = tuple(step for step, _ in list_final_texts(run)) if plain_text else run.answer_parts
    batch.add(OutputFinal(parts=parts), scope)
    batch.add(TurnCompleted(iterations=run.iteration, plain_text=plain_text), scope)


def fail_turn(batch: Batch, thread_id: str, *, code: str, message: str, hint: str, retryable: bool) -> None:
    """Fail the turn. A thread with queued turns pauses, since they would likely fail as well."""
    thread, run = require_run(batch, thread_id)
    reject_steers(batch, thread, run, "turn_failed")
    finish_plan(batch, thread, run)
    batch.add(
        TurnFailed(code=code, message=message, hint=hint, retryable=retryable, iterations=run.iteration),
        build_run_scope(thread, run),
    )
    if batch.get_thread(thread_id).queue:
        batch.add(ThreadPaused(cause="failed", reason=code), build_thread_scope(thread))


def reject_steers(batch: Batch, thread: Thread, run: OpenRun, reason: SteerRejection) -> None:
    """Reject the waiting steers, so their senders keep the drafts."""
    for steer in run.steers:
        batch.add(SteerRejected(steer_id=steer.steer, input=steer.input, reason=reason), build_run_scope(thread, run))


def find_run(batch: Batch, thread_id: str, run_id: str) -> tuple[Thread, OpenRun] | None:
    """Return the open run of an outcome with its thread; None if the run ended."""
    thread = batch.state.threads.get(thread_id)
    if thread is None or thread.run is None or thread.run.run != run_id:
        return None
    return thread, thread.run


def require_run(batch: Batch, thread_id: str) -> tuple[Thread, OpenRun]:
    """Return the thread and its open run. A missing run is a defect."""
    thread = batch.get_thread(thread_id)
    if thread.run is None:
        raise LookupError(f"thread {thread_id} has no open run")
    return thread, thread.run
