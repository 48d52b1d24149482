"""A run that gets the same again and again is stopped, and its thread waits for a person who is shown where."""

from __future__ import annotations

from callboard.contracts.facts import ThreadPaused, TurnFailed

from ...batch import Batch, run_scope, thread_scope
from ...evolve.repetition import streak
from ...state.session import OpenRun, Thread
from .plan import finish_plan

#: How many rounds in a row may come to the same.
MAX_EQUAL_ROUNDS = 3


def find_repetition(run: OpenRun) -> tuple[int, ...]:
    """The steps of the model calls that all led to the same; none while the run gets on."""
    steps = streak(run).steps
    return steps if len(steps) >= MAX_EQUAL_ROUNDS else ()


def fail_repetition(batch: Batch, thread: Thread, run: OpenRun, steps: tuple[int, ...]) -> None:
    """Ends the turn and pauses its thread, with the ids of the steps as evidence. New input lets the thread go on."""
    finish_plan(batch, thread, run)
    batch.add(
        TurnFailed(
            code="no_progress",
            message=f"The last {len(steps)} model calls led to the same result.",
            hint="Say what to do differently, or send the turn again.",
            iterations=run.iteration,
        ),
        run_scope(thread, run),
    )
    batch.add(
        ThreadPaused(cause="no_progress", reason="no_progress", evidence=tuple(f"{run.run}.{step}" for step in steps)),
        thread_scope(thread),
    )
