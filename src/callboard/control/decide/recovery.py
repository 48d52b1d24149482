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
    """Takes the runs of older epochs over. One that only waits for a person goes on waiting, its approval as it was; every
    other ends, and where turns are queued behind it the thread pauses: nothing resumes that a person did not ask for.
    """
    stale = [
        (thread, thread.run)
        for thread in batch.state.threads.values()
        if thread.run is not None and thread.run.epoch < batch.known.epoch
    ]
    if not stale:
        return
    batch.say(SessionTakenOver(previous_epoch=batch.state.epoch, epoch=batch.known.epoch), Scope())
    for thread, run in stale:
        if _only_waits(run):
            continue
        mine = [partial for partial in report.partials if partial.scope.run == run.run]
        close(
            batch,
            thread,
            run,
            cause="crash",
            reason="the process that ran it ended",
            pieces=_pieces(mine) if run.model_step else (),
            outcomes=_outputs(mine),
        )
        pause_queue(batch, thread.thread)


def _only_waits(run: OpenRun) -> bool:
    return (
        not run.stopping
        and not run.model_step
        and bool(run.calls)
        and all(call.phase == "waiting" for call in run.calls)
    )


def _pieces(partials: list[Partial]) -> tuple[Piece, ...]:
    return tuple(
        Piece(kind=partial.kind, step=partial.scope.step, text=partial.text)
        for partial in sorted(partials, key=lambda one: one.scope.step)
        if partial.kind != "output"
    )


def _outputs(partials: list[Partial]) -> dict[str, ToolOutcome]:
    return {
        partial.scope.tool_call: ToolOutcome(output=partial.text) for partial in partials if partial.kind == "output"
    }
