"""Takeover of a session whose host died: its runs end with their true state, and pending approvals
stay."""

from __future__ import annotations

from callboard.contracts.facts.session import SessionTakenOver, WarningRaised
from callboard.contracts.live import Partial
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.contracts.times import format_timestamp

from ...batch import Batch
from ...outcomes import ClockStepped, HostTakenOver, Piece
from ...state.session import Session, Thread
from ...state.turn import OpenCall
from ..artifact.exports import fail_interrupted_exports
from ..external_agent.program import disconnect
from ..subagent import worktree
from ..tool.processes import lose_processes
from .stop import close_run, pause_queue

ENDED = "its process ended"
#: Largest difference between the clock and the newest fact that is ignored, in microseconds.
MAX_CLOCK_STEP_MICROSECONDS = 60_000_000


def take_over(batch: Batch, outcome: HostTakenOver) -> bool:
    """Take over the runs of older epochs, and return True if any ended.

    A run that only waits for a person keeps waiting with its approval. Every other run ends, and a
    thread with queued turns pauses: a person resumes it.
    """
    for thread in list(batch.state.threads.values()):
        if thread.kind != "remote":
            disconnect(batch, thread, ENDED)
    if batch.state.epoch < batch.inputs.epoch:
        _record_clock_difference(batch)
        worktree.lose_merges(batch, ENDED)
        fail_interrupted_exports(batch, ENDED)
    lose_processes(batch, ENDED)
    stale = [
        (thread, thread.run)
        for thread in batch.state.threads.values()
        if thread.run is not None and thread.run.epoch < batch.inputs.epoch
    ]
    if not stale:
        return False
    resting = {thread.thread for thread, _ in stale if is_resting(batch.state, thread)}
    batch.add(SessionTakenOver(previous_epoch=batch.state.epoch, epoch=batch.inputs.epoch), Scope())
    for thread, run in stale:
        if thread.thread in resting:
            continue
        partials = [partial for partial in outcome.partials if partial.scope.run == run.run]
        close_run(
            batch,
            thread,
            run,
            cause="crash",
            reason=ENDED,
            pieces=_collect_pieces(partials) if run.model_step else (),
            outcomes=_collect_outputs(partials),
        )
        pause_queue(batch, thread.thread)
    return len(resting) < len(stale)


def _record_clock_difference(batch: Batch) -> None:
    """Record that the clock went back while no process ran. Times of facts never go back: new facts
    get the newest fact's time until the clock has passed it."""
    if batch.state.at - batch.inputs.now <= MAX_CLOCK_STEP_MICROSECONDS:
        return
    batch.add(
        WarningRaised(
            code="clock_went_back",
            message=f"The clock reads {format_timestamp(batch.inputs.now)}, which is before the newest fact of this session "
            f"({format_timestamp(batch.state.at)}). New facts keep that time until the clock has passed it.",
            hint="Schedules follow the clock as it is now. The order of facts is their sequence.",
        ),
        Scope(thread=batch.state.lead),
    )


def record_clock_step(batch: Batch, outcome: ClockStepped) -> None:
    """Record that the machine's clock was set while this process runs. Times of facts and schedules
    do not follow it."""
    if not batch.state.lead:
        return
    back = outcome.by < 0
    seconds = abs(outcome.by) // 1_000_000
    batch.add(
        WarningRaised(
            code="clock_went_back" if back else "clock_stepped",
            message=f"The machine's clock was set {'back' if back else 'ahead'} by {seconds} s. "
            f"Callboard keeps its own time, now {format_timestamp(batch.inputs.now)}, until it starts again.",
            hint="If the new time of the machine is right, start Callboard again. The order of facts is their sequence.",
        ),
        Scope(thread=batch.state.lead),
    )


def is_resting(state: Session, thread: Thread) -> bool:
    """Return True if the thread's run needs no process: all its calls wait for a person, for
    resting children, or for earlier calls."""
    run = thread.run
    if run is None or run.stopping or run.model_step or not run.calls:
        return False
    return all(
        call.phase in ("waiting", "requested") or (bool(call.awaits) and _are_children_resting(state, call))
        for call in run.calls
    )


def _are_children_resting(state: Session, call: OpenCall) -> bool:
    awaited = (thread for thread in state.threads.values() if thread.agent in call.awaits and thread.child is not None)
    return all(is_resting(state, child) for child in awaited if child.run is not None)


def _collect_pieces(partials: list[Partial]) -> tuple[Piece, ...]:
    return tuple(
        Piece(kind=partial.kind, step=partial.scope.step, text=partial.text)
        for partial in sorted(partials, key=lambda partial: partial.scope.step)
        if partial.kind not in ("output", "progress")
    )


def _collect_outputs(partials: list[Partial]) -> dict[str, ToolOutcome]:
    return {
        partial.scope.tool_call: ToolOutcome(output=partial.text) for partial in partials if partial.kind == "output"
    }
