"""Sessions that wait for a person: memory of each, and time until it continues."""

from __future__ import annotations

from bench.harness import Row, Scale
from bench.results import Line, Result, Spread, percentile, spread
from bench.rigs.processes import Process, python

GOAL_BYTES, GOAL_MS = 2048.0, 50.0
#: Sessions created before all are closed: their memory is reused by the next.
STEP = 100
#: Sessions left open at the end, to measure the memory of an open one.
MAX_OPEN = 1_000


async def run(scale: Scale) -> Result:
    """Measure `scale.n` waiting sessions, and some that stay open."""
    woken = max(1, min(200, scale.n // 5))
    open_count = max(woken, min(MAX_OPEN, scale.n // 2))
    async with Process(*python("bench.workers.waiting_sessions", str(scale.place))) as process:
        start = await process.read_line()
        half = max(1, scale.n // 2)
        before = await _start_and_close(process, half)
        let_go = await _start_and_close(process, half)
        cold = await process.ask(wake=woken)
        closed_bytes = await process.ask(let_go=1)
        waiting = await process.ask(wait=open_count)
        warm = await process.ask(wake=woken, newest=1)
    here, baseline = (let_go - before) / half, (waiting - closed_bytes) / open_count
    return Result(
        row="waiting",
        title=f"{scale.n:,} sessions that wait for an approval",
        measures=f"Each session has requested one approval. {STEP} sessions start at a time. Then the runtime closes "
        "them, as it closes every waiting session after some idle seconds. Memory per session is the growth of the "
        f"process between the first half of the sessions and the second. Baseline: {open_count:,} more sessions that stay "
        "open. Approvals are answered in sequence, for random closed sessions and for open ones. The time starts with "
        "the answer and ends when the fact of the tool's start is durable.",
        lines=(
            Line(
                label="memory per closed session",
                unit="B",
                value=spread([here]),
                baseline_name="open session",
                baseline=spread([baseline]),
                ratio=spread([here / baseline]),
                goal=f"≤ {GOAL_BYTES:.0f} B",
                met=here <= GOAL_BYTES,
            ),
            Line(
                label="resident memory, all closed",
                unit="MB",
                value=spread([let_go / 1e6]),
                baseline_name="no sessions",
                baseline=spread([start / 1e6]),
            ),
            *(
                Line(
                    label=f"approval → tool start, p{name}",
                    unit="ms",
                    value=Spread(percentile(cold, share), min(cold), max(cold)),
                    baseline_name="open session",
                    baseline=Spread(percentile(warm, share), min(warm), max(warm)),
                    ratio=spread([percentile(cold, share) / percentile(warm, share)]),
                    goal=f"≤ {GOAL_MS:.0f} ms" if name == "99" else "",
                    met=percentile(cold, share) <= GOAL_MS if name == "99" else None,
                )
                for name, share in (("50", 0.5), ("99", 0.99))
            ),
        ),
    )


async def _start_and_close(process: Process, sessions: int) -> int:
    """Return the resident bytes after more sessions were started and closed."""
    for number in range(0, sessions, STEP):
        await process.ask(wait=min(STEP, sessions - number))
        resident: int = await process.ask(let_go=1)
    return resident


ROW = Row(
    name="waiting",
    counts="sessions",
    n={"tiny": 20, "quick": 2_000, "full": 10_000},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
