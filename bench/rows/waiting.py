"""Sessions that wait for a person: what each holds of memory, and how soon it is awake."""

from __future__ import annotations

from bench.harness import Row, Scale
from bench.processes import Process, python
from bench.results import Line, Result, Spread, percentile

GOAL_BYTES, GOAL_MS = 2048.0, 50.0


async def run(scale: Scale) -> Result:
    """`scale.n` sessions."""
    woken = max(1, min(200, scale.n // 5))
    async with Process(*python("bench.sleepers", str(scale.place))) as process:
        start = await process.told()
        half = max(1, scale.n // 2)
        held = await process.ask(wait=half)
        before = await process.ask(let_go=1)
        await process.ask(wait=half)
        warm = await process.ask(wake=woken)
        let_go = await process.ask(let_go=1)
        cold = await process.ask(wake=woken)
    here, beside = (let_go - before) / half, (held - start) / half
    return Result(
        row="waiting",
        title=f"{scale.n:,} sessions that wait for an approval",
        measures="Each session has asked for one approval. What the resident memory of the process grows by, a session, as "
        "the second half of them comes after the first and both are let go, which the runtime does with sessions that nobody "
        "has used for a minute; beside it what the first half took while it was held, SQLite's caches included. Then "
        "approvals are given, one after the other, to sessions picked at random: from the answer until the fact that the "
        "tool was started is durable.",
        lines=(
            Line(
                what="memory a session, let go",
                unit="B",
                here=_one(here),
                beside_name="still held",
                beside=_one(beside),
                ratio=_one(here / beside),
                goal=f"≤ {GOAL_BYTES:.0f} B",
                met=here <= GOAL_BYTES,
            ),
            Line(
                what="resident memory in all",
                unit="MB",
                here=_one(let_go / 1e6),
                beside_name="empty",
                beside=_one(start / 1e6),
            ),
            *(
                Line(
                    what=f"awake, p{name}",
                    unit="ms",
                    here=Spread(percentile(cold, share), min(cold), max(cold)),
                    beside_name="still held",
                    beside=Spread(percentile(warm, share), min(warm), max(warm)),
                    ratio=_one(percentile(cold, share) / percentile(warm, share)),
                    goal=f"≤ {GOAL_MS:.0f} ms" if name == "99" else "",
                    met=percentile(cold, share) <= GOAL_MS if name == "99" else None,
                )
                for name, share in (("50", 0.5), ("99", 0.99))
            ),
        ),
    )


def _one(value: float) -> Spread:
    return Spread(value, value, value)


ROW = Row(
    name="waiting",
    counts="sessions",
    n={"tiny": 20, "quick": 2_000, "full": 10_000},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
