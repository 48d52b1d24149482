"""Memory of sessions that are open and quiet, each followed by a client."""

from __future__ import annotations

from bench.harness import Row, Scale
from bench.processes import Process, python
from bench.results import Line, Result, Spread

#: Half of what 1,000 of them took a session when sessions kept all that they had, in bytes.
GOAL_BYTES = 39_500.0


async def run(scale: Scale) -> Result:
    """`scale.n` sessions."""
    half = max(1, scale.n // 2)
    async with Process(*python("bench.holding", str(scale.place))) as process:
        start: int = await process.told()
        for made in range(0, 2 * half, 500):
            await process.ask(make=min(500, 2 * half - made))
        for_half: int = await process.ask(open=half)
        for_all: int = await process.ask(open=half)
        gone: int = await process.ask(let_go=1)
        for made in range(0, half, 500):
            await process.ask(make=min(500, half - made))
        again: int = await process.ask(open=half)
    each = (for_all - for_half) / half
    return Result(
        row="held",
        title=f"{2 * half:,} sessions that are open and quiet",
        measures="Each session has had one turn, is opened again and followed by a client that has its snapshot; every 100 the "
        "runtime looks through its sessions, which it does by itself every 15 seconds. What the resident memory grows by, a "
        "session, from the first half of them to the second. Then all are let go and half as many others opened: what is "
        "free by then is used again. No peer is measured: none keeps a live view of a session that clients follow.",
        lines=(
            Line(
                what="memory a session, open and quiet",
                unit="B",
                here=_one(each),
                goal=f"≤ {GOAL_BYTES:,.0f} B",
                met=each <= GOAL_BYTES,
            ),
            Line(
                what="resident memory with all of them",
                unit="MB",
                here=_one(for_all / 1e6),
                beside_name="empty",
                beside=_one(start / 1e6),
            ),
            Line(
                what="resident memory with half as many others, after all were let go",
                unit="MB",
                here=_one(again / 1e6),
                beside_name="with all of them",
                beside=_one(for_all / 1e6),
                ratio=_one(again / for_all),
                goal="ratio ≤ 1.05",
                met=again / for_all <= 1.05,
            ),
            Line(what="resident memory after all were let go", unit="MB", here=_one(gone / 1e6)),
        ),
    )


def _one(value: float) -> Spread:
    return Spread(value, value, value)


ROW = Row(
    name="held",
    counts="sessions",
    n={"tiny": 8, "quick": 2_000, "full": 10_000},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
