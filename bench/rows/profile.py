"""The work of a turn in counts, and a page that shows where its time goes."""

from __future__ import annotations

import importlib.util

import msgspec

from bench.harness import OUT, Row, Scale
from bench.results import Line, Result, spread
from bench.rigs.processes import Process, python
from bench.workers.turn_counts import BUDGETS, TurnCounts

FLAMES = OUT / "profile.html"
_LABELS = {
    "iterations": "iterations of the event loop",
    "tasks": "new tasks",
    "commits": "work for the writers' threads",
    "hops": "calls in other threads",
    "folds": "facts folded into the state that decides",
    "view_folds": "facts folded into rows",
    "scans": "searches for secrets",
    "configurations": "configurations of a run built",
    "calls": "calls of functions in the loop's thread",
}


async def run(scale: Scale) -> Result:
    """Count `scale.n` turns of new sessions and as many of one session."""
    drawn = importlib.util.find_spec("pyinstrument") is not None
    command = python("bench.workers.turn_counts", str(scale.place), str(scale.n), *((str(FLAMES),) if drawn else ()))
    async with Process(*command) as process:
        counts = msgspec.convert(await process.read_line(), dict[str, TurnCounts])
    new, more, budget = counts["new"], counts["more"], BUDGETS["new"]
    return Result(
        row="profile",
        title="The work of a turn, counted",
        measures="A turn of two model calls and a Read behind the gate, without clients, in asyncio's own event loop. "
        "Counts do not depend on the machine. A test holds the budget.",
        lines=tuple(
            Line(
                label=label,
                unit="a turn",
                value=spread([getattr(new, name)]),
                baseline_name="in an existing session",
                baseline=spread([getattr(more, name)]),
                goal=f"≤ {getattr(budget, name):,}",
                met=getattr(new, name) <= getattr(budget, name),
            )
            for name, label in _LABELS.items()
        ),
        notes=(f"{FLAMES.relative_to(OUT.parent)} shows where the time goes.",) if drawn else (),
    )


ROW = Row(
    name="profile",
    counts="turns",
    n={"tiny": 5, "quick": 100, "full": 1000},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
