"""Memory of open, idle sessions, each followed by a client."""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import Row, Scale
from bench.peers import PEERS, installed
from bench.results import Line, Result, spread
from bench.rigs.processes import Process, python

#: A tenth above the 31,457 bytes measured when it was set, so that growth is noticed.
GOAL_BYTES = 34_600.0
#: Sessions of a peer, half of them before the measurement, and the number opened at once.
PEER_SESSIONS, AT_ONCE = 400, 50


async def run(scale: Scale) -> Result:
    """Open `scale.n` sessions."""
    half = max(1, scale.n // 2)
    async with Process(*python("bench.workers.open_sessions", str(scale.place))) as process:
        start: int = await process.read_line()
        for index in range(0, 2 * half, 500):
            await process.ask(make=min(500, 2 * half - index))
        for_half: int = await process.ask(open=half)
        for_all: int = await process.ask(open=half)
        gone: int = await process.ask(let_go=1)
        for index in range(0, half, 500):
            await process.ask(make=min(500, half - index))
        again: int = await process.ask(open=half)
    each = (for_all - for_half) / half
    peers = {name: await _peer(scale, name) for name in PEERS if scale.peers and installed(name)}
    return Result(
        row="held",
        title=f"{2 * half:,} sessions that are open and quiet",
        measures="Each session has had one turn, is opened again and followed by a client that has its snapshot; every 100 the "
        "runtime looks through its sessions, which it does by itself every 15 seconds. What the resident memory grows by, a "
        "session, from the first half of them to the second. Then all are let go and half as many others opened: what is "
        "free by then is used again. Beside it what each peer's process keeps of a session after its turn, from the first half "
        f"of {PEER_SESSIONS} sessions to the second. Peers read a session from their database with each turn and have no view "
        "of it that clients follow: most keep next to nothing, one keeps a connection for each. So the goal is not taken from "
        "them: it is a tenth above what a session took when the goal was set. A session keeps what its next decision needs, "
        "the rows of its panels "
        "(compressed while it is quiet) and the operations that a client may ask for again, beside its client's own queue.",
        lines=(
            Line(
                label="memory a session, open and quiet",
                unit="B",
                here=spread([each]),
                goal=f"≤ {GOAL_BYTES:,.0f} B",
                met=each <= GOAL_BYTES,
            ),
            *_beside(each, peers),
            Line(
                label="resident memory with all of them",
                unit="MB",
                here=spread([for_all / 1e6]),
                beside_name="empty",
                beside=spread([start / 1e6]),
            ),
            Line(
                label="resident memory with half as many others, after all were let go",
                unit="MB",
                here=spread([again / 1e6]),
                beside_name="with all of them",
                beside=spread([for_all / 1e6]),
                ratio=spread([again / for_all]),
                goal="ratio ≤ 1.05",
                met=again / for_all <= 1.05,
            ),
            Line(label="resident memory after all were let go", unit="MB", here=spread([gone / 1e6])),
        ),
    )


async def _peer(scale: Scale, name: str) -> float:
    folder = scale.place / name
    folder.mkdir()
    async with Process(*python("bench.workers.turns", name, str(folder))) as process:
        await process.read_line()
        times = PEER_SESSIONS // AT_ONCE
        resident: list[int] = [(await process.ask(new=AT_ONCE))["resident"] for _ in range(times)]
    middle = len(resident) // 2
    return (resident[-1] - resident[middle - 1]) / ((len(resident) - middle) * AT_ONCE)


def _beside(each: float, peers: dict[str, float]) -> Iterator[Line]:
    for name, bytes_each in peers.items():
        yield Line(
            label="memory a session, open and quiet",
            unit="B",
            here=spread([each]),
            beside_name=f"{PEERS[name][0]}, after its turn",
            beside=spread([bytes_each]),
        )


ROW = Row(
    name="held",
    counts="sessions",
    n={"tiny": 8, "quick": 2_000, "full": 10_000},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
