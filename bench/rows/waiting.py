"""Sessions that wait for a person: memory of each, and time until it continues."""

from __future__ import annotations

from bench.harness import Row, Scale
from bench.results import Line, Result, Spread, percentile, spread
from bench.rigs.processes import Process, python

GOAL_BYTES, GOAL_MS = 2048.0, 50.0
#: Sessions created before all are closed: their memory is reused by the next.
STEP = 100
#: Sessions left open at the end, to measure the memory of an open one.
MAX_HELD = 1_000


async def run(scale: Scale) -> Result:
    """Measure `scale.n` waiting sessions, and some that stay open."""
    woken = max(1, min(200, scale.n // 5))
    holding = max(woken, min(MAX_HELD, scale.n // 2))
    async with Process(*python("bench.workers.waiting_sessions", str(scale.place))) as process:
        start = await process.read_line()
        half = max(1, scale.n // 2)
        before = await _come_and_go(process, half)
        let_go = await _come_and_go(process, half)
        cold = await process.ask(wake=woken)
        gone = await process.ask(let_go=1)
        waiting = await process.ask(wait=holding)
        warm = await process.ask(wake=woken, newest=1)
    here, beside = (let_go - before) / half, (waiting - gone) / holding
    return Result(
        row="waiting",
        title=f"{scale.n:,} sessions that wait for an approval",
        measures=f"Each session has asked for one approval; they start {STEP} at a time. The runtime then closes them, as it "
        "closes every waiting session after some idle seconds. Memory is the growth of the process per session from "
        f"the first half of them to the second, beside {holding:,} more sessions that stay open. Approvals are "
        "answered in sequence, for closed sessions picked at random and beside them for open ones: from the answer "
        "until the fact that the tool started is durable.",
        lines=(
            Line(
                label="memory a session, let go",
                unit="B",
                here=spread([here]),
                beside_name="still held",
                beside=spread([beside]),
                ratio=spread([here / beside]),
                goal=f"≤ {GOAL_BYTES:.0f} B",
                met=here <= GOAL_BYTES,
            ),
            Line(
                label="resident memory in all",
                unit="MB",
                here=spread([let_go / 1e6]),
                beside_name="empty",
                beside=spread([start / 1e6]),
            ),
            *(
                Line(
                    label=f"awake, p{name}",
                    unit="ms",
                    here=Spread(percentile(cold, share), min(cold), max(cold)),
                    beside_name="still held",
                    beside=Spread(percentile(warm, share), min(warm), max(warm)),
                    ratio=spread([percentile(cold, share) / percentile(warm, share)]),
                    goal=f"≤ {GOAL_MS:.0f} ms" if name == "99" else "",
                    met=percentile(cold, share) <= GOAL_MS if name == "99" else None,
                )
                for name, share in (("50", 0.5), ("99", 0.99))
            ),
        ),
    )


async def _come_and_go(process: Process, sessions: int) -> int:
    """Return the resident bytes after more sessions wait and are closed."""
    for come in range(0, sessions, STEP):
        await process.ask(wait=min(STEP, sessions - come))
        resident: int = await process.ask(let_go=1)
    return resident


ROW = Row(
    name="waiting",
    counts="sessions",
    n={"tiny": 20, "quick": 2_000, "full": 10_000},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
