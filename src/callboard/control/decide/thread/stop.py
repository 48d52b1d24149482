"""Interrupts of turns. The intent comes first, and every stopped entity ends before its turn."""

from __future__ import annotations

from callboard.contracts.commands.turn import InterruptTurn, ThreadChanged
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.model import ModelInterrupted
from callboard.contracts.facts.queue import QueueRemoved
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.turn import InterruptCause, TurnInterrupted, TurnInterruptRequested
from callboard.contracts.ports.tools import ToolOutcome

from ...batch import Batch, build_run_scope, build_thread_scope
from ...outcomes import Piece, RunStopped
from ...state.session import Thread
from ...state.turn import OpenRun
from ..compaction import abandon_compaction
from ..model import record_interrupted_parts, record_late_response
from ..subagent.children import cancel_children
from ..tool.calls import abandon_calls
from ..turn.iterate import find_run, reject_steers, require_run
from ..turn.plan import finish_plan
from ..turn.start import build_thread_answer, require_thread, start_next


def interrupt_turn(batch: Batch, request: InterruptTurn) -> ThreadChanged:
    """Record the intent to stop a turn (Control plane specification, interrupt_turn).

    Raises:
        Refusal: `nothing_running`, `unknown_turn`, `turn_already_ended`.
    """
    thread = require_thread(batch.state, request.thread_id)
    run = thread.run
    if run is None:
        raise Refusal("nothing_running", "No turn is running in this thread.", hint="No action is needed.")
    if request.turn_id is not None and request.turn_id != run.turn:
        ended = request.turn_id in batch.inputs.closed_ids
        raise Refusal(
            "turn_already_ended" if ended else "unknown_turn",
            f"The turn {request.turn_id} is not running.",
            field="turnId",
            hint="get_thread_read shows the running turn.",
        )
    if not run.stopping:
        batch.add(TurnInterruptRequested(queued=request.queued, reason=request.reason), build_run_scope(thread, run))
    if request.cascade:
        cancel_children(batch, thread.thread, request.reason or "its parent was cancelled")
    if request.queued == "clear":
        for queued in thread.queue:
            batch.add(QueueRemoved(reason="cleared by an interrupt"), build_thread_scope(thread, queued.turn))
    return build_thread_answer(batch, thread.thread)


def finish_stop(batch: Batch, outcome: RunStopped) -> None:
    """Close what the run had open, then the turn, and start the next queued turn."""
    open_run = find_run(batch, outcome.thread, outcome.run)
    if open_run is None:
        return
    thread, run = open_run
    if outcome.response is not None:
        record_late_response(batch, thread, run, outcome.response)
        thread, run = require_run(batch, outcome.thread)
    close_run(
        batch, thread, run, cause=outcome.cause, reason=outcome.reason, pieces=outcome.pieces, outcomes=outcome.outcomes
    )
    if outcome.cause == "shutdown":
        pause_queue(batch, outcome.thread)
    else:
        start_next(batch, outcome.thread)


def close_run(
    batch: Batch,
    thread: Thread,
    run: OpenRun,
    *,
    cause: InterruptCause,
    reason: str,
    pieces: tuple[Piece, ...],
    outcomes: dict[str, ToolOutcome],
) -> None:
    """Add the terminal fact of every open entity of the run, then the turn's.

    A call that ran under a host that died has an unknown result. A call that only waited for
    children had no effect.
    """
    abandon_compaction(batch, thread, run, "interrupted", f"the turn was interrupted ({cause})")
    if run.model_step:
        record_interrupted_parts(batch, thread, run, () if run.compacting is not None else pieces)
        batch.add(ModelInterrupted(), build_run_scope(thread, run, run.model_step))
    abandon_calls(
        batch,
        thread,
        run,
        reason=f"the turn was interrupted ({cause})",
        unseen=cause in ("crash", "lost", "storage"),
        outcomes=outcomes,
    )
    reject_steers(batch, thread, run, "turn_interrupted")
    finish_plan(batch, thread, run)
    batch.add(TurnInterrupted(cause=cause, reason=reason, iterations=run.iteration), build_run_scope(thread, run))


def pause_queue(batch: Batch, thread_id: str) -> None:
    """Pause a thread with queued turns whose process ended. A person resumes it."""
    thread = batch.get_thread(thread_id)
    if thread.queue:
        batch.add(ThreadPaused(cause="recovered", reason="its process ended"), build_thread_scope(thread))
