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
from ..compaction import given_up
from ..model import came, cut
from ..subagent.children import cancel_all
from ..tool.calls import abandon
from ..turn.iterate import open_run, reject_steers, running
from ..turn.plan import finish as finish_plan
from ..turn.start import start_next, thread_changed, thread_of


def interrupt(batch: Batch, request: InterruptTurn) -> ThreadChanged:
    """Records the intent (Control plane specification, interrupt_turn). Raises `nothing_running`, `unknown_turn`,
    `turn_already_ended`."""
    thread = thread_of(batch.state, request.thread_id)
    run = thread.run
    if run is None:
        raise Refusal("nothing_running", "No turn is running in this thread.", hint="There is nothing to stop.")
    if request.turn_id is not None and request.turn_id != run.turn:
        ended = request.turn_id in batch.known.closed
        raise Refusal(
            "turn_already_ended" if ended else "unknown_turn",
            f"The turn {request.turn_id} is not the one that runs.",
            field="turnId",
            hint="get_thread_read names the turn that runs.",
        )
    if not run.stopping:
        batch.say(TurnInterruptRequested(queued=request.queued, reason=request.reason), run_scope(thread, run))
    if request.cascade:
        cancel_all(batch, thread.thread, request.reason or "its parent was cancelled")
    if request.queued == "clear":
        for queued in thread.queue:
            batch.say(QueueRemoved(reason="cleared by an interrupt"), thread_scope(thread, queued.turn))
    return thread_changed(batch, thread.thread)


def stopped(batch: Batch, report: RunStopped) -> None:
    """Closes what the run had open, then the turn, and lets the queue go on."""
    found = running(batch, report.thread, report.run)
    if found is None:
        return
    thread, run = found
    if report.answered is not None:
        came(batch, thread, run, report.answered)
        thread, run = open_run(batch, report.thread)
    close(batch, thread, run, cause=report.cause, reason=report.reason, pieces=report.pieces, outcomes=report.outcomes)
    if report.cause == "shutdown":
        pause_queue(batch, report.thread)
    else:
        start_next(batch, report.thread)


def close(
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
    given_up(batch, thread, run, "interrupted", f"the turn was interrupted ({cause})")
    if run.model_step:
        cut(batch, thread, run, () if run.compacting is not None else pieces)
        batch.say(ModelInterrupted(), run_scope(thread, run, run.model_step))
    abandon(
        batch,
        thread,
        run,
        reason=f"the turn was interrupted ({cause})",
        unseen=cause in ("crash", "lost", "storage"),
        outcomes=outcomes,
    )
    reject_steers(batch, thread, run, "turn_interrupted")
    finish_plan(batch, thread, run)
    batch.say(TurnInterrupted(cause=cause, reason=reason, iterations=run.iteration), run_scope(thread, run))


def pause_queue(batch: Batch, thread_id: str) -> None:
    """The process that ran the thread has ended, and its run with it: what is queued waits until a person lets it go on."""
    thread = batch.thread(thread_id)
    if thread.queue:
        batch.say(ThreadPaused(cause="recovered", reason="the process that ran it ended"), thread_scope(thread))
