"""A turn is asked to stop, and has stopped. The intent comes first; what it stopped is told before the turn's end."""

from __future__ import annotations

from callboard.contracts.commands import InterruptTurn, ThreadChanged
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    ModelInterrupted,
    QueueRemoved,
    ThreadPaused,
    TurnInterrupted,
    TurnInterruptRequested,
)
from callboard.contracts.facts.turn import InterruptCause
from callboard.contracts.ports.tools import ToolOutcome

from ...batch import Batch, run_scope, thread_scope
from ...outcomes import Piece, RunStopped
from ...state.session import OpenRun, Thread
from ..compaction import abandon_compaction
from ..model import record_interrupted_parts, record_late_answer
from ..subagent.children import cancel_children
from ..tool.calls import abandon_calls
from ..turn.iterate import find_run, reject_steers, require_run
from ..turn.plan import finish_plan
from ..turn.start import require_thread, start_next, thread_changed


def interrupt_turn(batch: Batch, request: InterruptTurn) -> ThreadChanged:
    """Records the intent (Control plane specification, interrupt_turn). Raises `nothing_running`, `unknown_turn`,
    `turn_already_ended`."""
    thread = require_thread(batch.state, request.thread_id)
    run = thread.run
    if run is None:
        raise Refusal("nothing_running", "No turn is running in this thread.", hint="There is nothing to stop.")
    if request.turn_id is not None and request.turn_id != run.turn:
        ended = request.turn_id in batch.inputs.closed_ids
        raise Refusal(
            "turn_already_ended" if ended else "unknown_turn",
            f"The turn {request.turn_id} is not the one that runs.",
            field="turnId",
            hint="get_thread_read names the turn that runs.",
        )
    if not run.stopping:
        batch.add(TurnInterruptRequested(queued=request.queued, reason=request.reason), run_scope(thread, run))
    if request.cascade:
        cancel_children(batch, thread.thread, request.reason or "its parent was cancelled")
    if request.queued == "clear":
        for queued in thread.queue:
            batch.add(QueueRemoved(reason="cleared by an interrupt"), thread_scope(thread, queued.turn))
    return thread_changed(batch, thread.thread)


def finish_stop(batch: Batch, report: RunStopped) -> None:
    """Closes what the run had open, then the turn, and lets the queue go on."""
    found = find_run(batch, report.thread, report.run)
    if found is None:
        return
    thread, run = found
    if report.answered is not None:
        record_late_answer(batch, thread, run, report.answered)
        thread, run = require_run(batch, report.thread)
    close_run(
        batch, thread, run, cause=report.cause, reason=report.reason, pieces=report.pieces, outcomes=report.outcomes
    )
    if report.cause == "shutdown":
        pause_queue(batch, report.thread)
    else:
        start_next(batch, report.thread)


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
    """Every open entity of the run gets its terminal fact, and then the turn does.

    A call that had begun under a host that died is of unknown outcome: nobody saw whether it took effect. One that only waited
    for children took none.
    """
    abandon_compaction(batch, thread, run, "interrupted", f"the turn was interrupted ({cause})")
    if run.model_step:
        record_interrupted_parts(batch, thread, run, () if run.compacting is not None else pieces)
        batch.add(ModelInterrupted(), run_scope(thread, run, run.model_step))
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
    batch.add(TurnInterrupted(cause=cause, reason=reason, iterations=run.iteration), run_scope(thread, run))


def pause_queue(batch: Batch, thread_id: str) -> None:
    """The process that ran the thread has ended, and its run with it: what is queued waits until a person lets it go on."""
    thread = batch.thread(thread_id)
    if thread.queue:
        batch.add(ThreadPaused(cause="recovered", reason="the process that ran it ended"), thread_scope(thread))
