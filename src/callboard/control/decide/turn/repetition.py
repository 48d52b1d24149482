"""Runs without progress: equal rounds fail the turn and pause its thread."""

from __future__ import annotations

from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.turn import TurnFailed

from ...batch import Batch, build_run_scope, build_thread_scope
from ...state.repetition import find_streak
from ...state.session import Thread
from ...state.turn import OpenRun
from .plan import finish_plan

#: Consecutive rounds with the same result that fail a turn.
MAX_EQUAL_ROUNDS = 3


def find_repetition(run: OpenRun) -> tuple[int, ...]:
    """Return the steps of model calls with the same result; empty while the run makes progress."""
    steps = find_streak(run).steps
    return steps if len(steps) >= MAX_EQUAL_ROUNDS else ()


def fail_repetition(batch: Batch, thread: Thread, run: OpenRun, steps: tuple[int, ...]) -> None:
    """Fail the turn and pause its thread, with the steps as evidence. New input resumes the thread."""
    finish_plan(batch, thread, run)
    batch.add(
        TurnFailed(
            code="no_progress",
            message=f"The last {len(steps)} model calls led to the same result.",
            hint="Send other instructions, or send the turn again.",
            iterations=run.iteration,
        ),
        build_run_scope(thread, run),
    )
    batch.add(
        ThreadPaused(cause="no_progress", reason="no_progress", evidence=tuple(f"{run.run}.{step}" for step in steps)),
        build_thread_scope(thread),
    )
