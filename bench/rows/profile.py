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
    "commits": "units of work for the writers' threads",
    "hops": "calls in other threads",
    "folds": "facts folded into the state that decides",
    "view_folds": "facts folded into rows",
    "scans": "searches for secrets",
    "configurations": "configurations of a run built",
    "opens": "files and folders opened, without SQLite's",
    "stats": "reads of the state of a file",
    "statements": "SQL statements",
    "calls": "calls of functions in the loop's thread",
}


async def run(scale: Scale) -> Result:
    """Count `scale.n` turns of new sessions and as many of one session."""
    drawn = importlib.util.find_spec("pyinstrument") is not None
    command = python("bench.workers.turn_counts", str(scale.place), str(scale.n), *((str(FLAMES),) if drawn else ()))
    async with Process(*command) as process:
        counts = msgspec.convert(await process.read_line(), dict[str, TurnCounts])
    new, more = counts["new"], counts["more"]
    return Result(
        row="profile",
        title="The work of a turn, counted",
        measures="A turn of two model calls and a Read behind the gate, without clients, in asyncio's own event loop. "
        "A figure is the mean of a turn in a new session, beside a turn in an existing one. Counts do not depend on the "
        "machine, so they show a regression that times would hide. The goals are the budgets of both, in whole numbers; a "
        "test fails above them (`tests/bench/test_turn_budget.py`).",
        lines=tuple(
            Line(
                label=label,
                unit="a turn",
                value=spread([getattr(new, name)]),
                baseline_name="in an existing session",
                baseline=spread([getattr(more, name)]),
                goal=f"≤ {getattr(BUDGETS['new'], name):,}, ≤ {getattr(BUDGETS['more'], name):,}",
                # Every hundredth turn or so, the store also tidies.
                met=all(round(getattr(counts[kind], name)) <= getattr(BUDGETS[kind], name) for kind in BUDGETS),
            )
            for name, label in _LABELS.items()
        ),
        notes=(f"{FLAMES.relative_to(OUT.parent)} is a flame graph: it shows where the time of a turn goes.",)
        if drawn
        else (),
    )


ROW = Row(
    name="profile",
    counts="turns",
    n={"tiny": 5, "quick": 100, "full": 1000},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
