"""Plans of runs: recorded when they change, and as final when the run ends."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import MAX_INLINE_BYTES
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.facts.plan import PlanUpdated

from ...batch import Batch, build_run_scope
from ...state.session import Thread
from ...state.turn import OpenRun

#: Maximum length of a plan's line, in characters.
MAX_LINE_CHARS = 400


def record_plan(batch: Batch, thread: Thread, run: OpenRun, step: int, steps: tuple[PlanStep, ...]) -> None:
    """Record a changed plan at the step where it first appeared."""
    steps = fit_plan(steps)
    before = run.plan
    if steps == (before.steps if before is not None else ()):
        return
    revision, first_step = (1, step) if before is None else (before.revision, before.step)
    batch.add(PlanUpdated(steps=steps, revision=revision), build_run_scope(thread, run, first_step))


def propose_plan(batch: Batch, thread: Thread, run: OpenRun, step: int, steps: tuple[PlanStep, ...]) -> None:
    """Record a proposed plan, as the next revision if the run proposed one before."""
    before = run.plan
    revision = 1 if before is None else before.revision + 1
    batch.add(PlanUpdated(steps=fit_plan(steps), revision=revision), build_run_scope(thread, run, step))


def finish_plan(batch: Batch, thread: Thread, run: OpenRun) -> None:
    """Record the run's plan as final."""
    if run.plan is not None:
        final_plan = PlanUpdated(steps=run.plan.steps, final=True, revision=run.plan.revision)
        batch.add(final_plan, build_run_scope(thread, run, run.plan.step))


def fit_plan(steps: tuple[PlanStep, ...]) -> tuple[PlanStep, ...]:
    """Return the plan within the size of a fact: long lines are truncated, and a last line counts
    the lines left out."""
    lines: list[PlanStep] = []
    size = 0
    for index, step in enumerate(steps):
        line = msgspec.structs.replace(step, content=_truncate(step.content))
        size += len(msgspec.json.encode(line))
        if size > MAX_INLINE_BYTES:
            return (*lines, PlanStep(f"… {len(steps) - index} more", "pending"))
        lines.append(line)
    return tuple(lines)


def _truncate(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else f"{line[: MAX_LINE_CHARS - 1]}…"
