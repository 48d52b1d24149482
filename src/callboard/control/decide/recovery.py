"""A session whose host died is taken over: what it ran is closed truthfully, and what waits stays as it was."""

from __future__ import annotations

from callboard.contracts.facts import SessionTakenOver
from callboard.contracts.live import Partial
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope

from ..batch import Batch
from ..outcomes import Piece, TakenOver
from ..state import OpenRun
from .stops import close, pause_queue


def taken_over(batch: Batch, report: TakenOver) -> None:
    """Ends every run of an older epoch, except those that only wait for a person: their approvals are there as they were.

    A thread with turns in its queue pauses: nothing resumes that a person did not ask for.
    """
    before = batch.state.epoch
    dead = [
        (thread, thread.run)
        for thread in batch.state.threads.values()
        if thread.run is not None and thread.run.epoch < batch.known.epoch and not _only_waits(thread.run)
    ]
    waiting = [
        thread
        for thread in batch.state.threads.values()
        if thread.paused is None and thread.queue and thread.run is None
    ]
    if not dead and not waiting:
        return
    batch.say(SessionTakenOver(previous_epoch=before, epoch=batch.known.epoch), Scope())
    for thread, run in dead:
        mine = [partial for partial in report.partials if partial.scope.run == run.run]
        close(
            batch,
            thread,
            run,
            cause="crash",
            reason="the process that ran it ended",
            pieces=_pieces(mine, run),
            outcomes=_outputs(mine),
        )
    for thread in (*(thread for thread, _ in dead), *waiting):
        pause_queue(batch, thread.thread)


def _only_waits(run: OpenRun) -> bool:
    return (
        not run.stopping
        and not run.model_step
        and bool(run.calls)
        and all(call.phase == "waiting" for call in run.calls)
    )


def _pieces(partials: list[Partial], run: OpenRun) -> tuple[Piece, ...]:
    if not run.model_step:
        return ()
    kept: list[Piece] = []
    for partial in sorted(partials, key=lambda one: one.scope.step):
        if partial.kind == "text":
            kept.append(Piece(kind="text", step=partial.scope.step, text=partial.text))
        elif partial.kind == "reasoning":
            kept.append(Piece(kind="reasoning", step=partial.scope.step, text=partial.text))
    return tuple(kept)


def _outputs(partials: list[Partial]) -> dict[str, ToolOutcome]:
    return {
        partial.scope.tool_call: ToolOutcome(output=partial.text) for partial in partials if partial.kind == "output"
    }
