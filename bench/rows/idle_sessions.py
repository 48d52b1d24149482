"""Memory of open, idle sessions, each followed by a client."""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import Row, Scale
from bench.peers import PEERS, installed
from bench.results import Line, Result, spread
from bench.rigs.processes import Process, python

#: A tenth above the 31,457 bytes measured when it was set, so that growth is noticed.
GOAL_BYTES = 34_600.0
#: Sessions of a peer, half of them before the measurement, and the number opened in parallel.
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
        row="idle",
        title=f"{2 * half:,} sessions that are open and idle",
        measures="Each session has had one turn, is reopened, and a client with its snapshot follows it. After every "
        "100 sessions the runtime runs the check that it otherwise runs every 15 seconds. Memory per session is the "
        "growth of resident memory between the first half of the sessions and the second. Then all sessions are closed "
        "and half as many others are opened, which must reuse the memory. For the peers, memory per session is the "
        f"growth of the process after a turn, between the first half of {PEER_SESSIONS} sessions and the second. Peers "
        "read a session from their database at each turn and have no view that clients follow. Most retain almost "
        "nothing; one retains a connection per session. The goal is therefore not derived from them: it is 10% above "
        "the value measured when it was set. An open session retains the input of its next decision, the rows of its "
        "panels (compressed while idle), the operations that a client may request again, and its client's queue.",
        lines=(
            Line(
                label="memory per open, idle session",
                unit="B",
                value=spread([each]),
                goal=f"≤ {GOAL_BYTES:,.0f} B",
                met=each <= GOAL_BYTES,
            ),
            *_compare(each, peers),
            Line(
                label="resident memory, all open",
                unit="MB",
                value=spread([for_all / 1e6]),
                baseline_name="no sessions",
                baseline=spread([start / 1e6]),
            ),
            Line(
                label="resident memory, half as many others after all were closed",
                unit="MB",
                value=spread([again / 1e6]),
                baseline_name="all open",
                baseline=spread([for_all / 1e6]),
                ratio=spread([again / for_all]),
                goal="ratio ≤ 1.05",
                met=again / for_all <= 1.05,
            ),
            Line(label="resident memory, all closed", unit="MB", value=spread([gone / 1e6])),
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


def _compare(each: float, peers: dict[str, float]) -> Iterator[Line]:
    for name, bytes_each in peers.items():
        yield Line(
            label="memory per open, idle session",
            unit="B",
            value=spread([each]),
            baseline_name=f"{PEERS[name][0]}, after its turn",
            baseline=spread([bytes_each]),
        )


ROW = Row(
    name="idle",
    counts="sessions",
    n={"tiny": 8, "quick": 2_000, "full": 10_000},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
