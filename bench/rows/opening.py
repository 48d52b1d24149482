"""Opening of a very long session over HTTP from a new server, compared with a short session."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from bench.harness import Row, Scale, in_turn
from bench.results import Line, Result, Spread, ratios, spread
from bench.rigs import conversation
from bench.rigs.browser import chromium, painted
from bench.rigs.history import history
from bench.rigs.product import Product, product
from bench.rigs.stored_sessions import build

SHORT = 1_000
GOAL_RATIO, GOAL_MS, GOAL_KB, GOAL_PAINTED = 1.5, 150.0, 256, 500.0
SUBMITS = 5


async def run(scale: Scale) -> Result:
    """Open a session of `scale.n` facts and a short one."""
    turn_history = await history(scale.place / "turn")
    sizes = {"long": scale.n, "short": min(SHORT, scale.n)}
    sessions = {name: f"ses_bench{name}" for name in sizes}
    await build(scale.place, turn_history, {sessions[name]: count for name, count in sizes.items()})
    began = time.perf_counter()
    async with product(scale.place) as running:
        await _views(running, sessions, sizes)
    folded = time.perf_counter() - began
    async with product(scale.place) as running:
        await _turns(running, sessions)
    opened: dict[str, list[tuple[float, float, float]]] = {name: [] for name in sizes}

    async def open_it(name: str) -> float:
        opening = await _open(scale.place, sessions[name])
        opened[name].append(opening)
        return opening[0]

    times = await in_turn(scale.rounds, {name: lambda name=name: open_it(name) for name in sizes})
    pictures = await _painted(scale, sessions) if scale.peers else ()
    submits = {name: [submit for _, _, submit in opening] for name, opening in opened.items()}
    kilobytes = {name: [size / 1000 for _, size, _ in opening] for name, opening in opened.items()}
    ratio = ratios(times["long"], times["short"])
    decided = ratios(submits["long"], submits["short"])
    largest = spread(kilobytes["long"])
    return Result(
        row="opening",
        title=f"Opening a session of {scale.n:,} facts",
        measures="Each session has had a turn in a server that was then stopped. A client requests the session's row "
        "operations from a newly started server, whose files are not in the system's cache. The first snapshot is "
        "measured from the request until the snapshot is complete. Then the client submits five turns; the figure is the "
        "median time until the response. Painting is measured from opening the session's link in Chromium until its "
        "turns are painted. Chromium already runs and has nothing of the page in its cache; the server has just started. "
        f"Baseline: a session of {sizes['short']:,} facts with the same turns, in the same store.",
        lines=(
            Line(
                label="first snapshot, cold server",
                unit="ms",
                value=spread(times["long"]),
                baseline_name=f"{sizes['short']:,} facts",
                baseline=spread(times["short"]),
                ratio=ratio,
                goal=f"ratio ≤ {GOAL_RATIO}, ≤ {GOAL_MS:.0f} ms",
                met=ratio.median <= GOAL_RATIO and spread(times["long"]).median <= GOAL_MS,
            ),
            Line(
                label="size of the snapshot",
                unit="kB",
                value=largest,
                baseline_name=f"{sizes['short']:,} facts",
                baseline=spread(kilobytes["short"]),
                ratio=ratios(kilobytes["long"], kilobytes["short"]),
                goal=f"≤ {GOAL_KB} kB",
                met=largest.high <= GOAL_KB,
            ),
            *pictures,
            Line(
                label="submitted turn → response",
                unit="ms",
                value=spread(submits["long"]),
                baseline_name=f"{sizes['short']:,} facts",
                baseline=spread(submits["short"]),
                ratio=decided,
                goal=f"ratio ≤ {GOAL_RATIO}",
                met=decided.median <= GOAL_RATIO,
            ),
            Line(
                label="rebuild of all views (only after their loss)",
                unit="s",
                value=Spread(folded, folded, folded),
            ),
        ),
    )


async def _painted(scale: Scale, sessions: dict[str, str]) -> tuple[Line, ...]:
    """Return the times to paint each session; empty without a browser."""
    async with chromium() as browser:
        if browser is None:
            return ()

        async def paint(name: str) -> float:
            _forget(scale.place / "home" / "store")
            async with product(scale.place) as running:
                took = await painted(browser, running, sessions[name])
                running.process.stop()
                await running.process.ended()
            return took

        times = await in_turn(scale.rounds, {name: lambda name=name: paint(name) for name in sessions})
    here, ratio = spread(times["long"]), ratios(times["long"], times["short"])
    return (
        Line(
            label="painted in a browser",
            unit="ms",
            value=here,
            baseline_name=f"{SHORT:,} facts",
            baseline=spread(times["short"]),
            ratio=ratio,
            goal=f"ratio ≤ {GOAL_RATIO}, ≤ {GOAL_PAINTED:.0f} ms",
            met=ratio.median <= GOAL_RATIO and here.median <= GOAL_PAINTED,
        ),
    )


async def _views(running: Product, sessions: dict[str, str], sizes: dict[str, int]) -> None:
    """Build the rows of the sessions in a server, and stop it."""
    client = await running.connect()
    for session in sessions.values():
        read = await client.query("get_session", sessionId=session)
        await client.query("get_session", sessionId=session, waitFor=read["head"])
    client.close()
    running.process.stop()
    await running.process.ended()


async def _turns(running: Product, sessions: dict[str, str]) -> None:
    """Run a turn in each session and stop the server, which stores for the next one what a user's server stores."""
    client = await running.connect()
    for session in sessions.values():
        sent = await client.command("submit_turn", text=conversation.PROMPT, sessionId=session)
        ended = (sent["turnId"], "completed")
        await client.until(
            session, lambda read, ended=ended: (read["lastTurn"]["turnId"], read["lastTurn"]["state"]) == ended
        )
    client.close()
    running.process.stop()
    await running.process.ended()


async def _open(folder: Path, session: str) -> tuple[float, float, float]:
    """Return milliseconds to the first snapshot, its bytes, and milliseconds of a submitted turn."""
    _forget(folder / "home" / "store")
    async with product(folder) as running:
        viewer, client = await running.connect(), await running.connect()
        await client.query("list_workspaces")
        began = time.perf_counter()
        size, tail = 0, b""
        async for chunk in viewer.stream(f"/sessions/{session}/ops"):
            size += len(chunk)
            tail = (tail + chunk)[-2:]
            if tail == b"\n\n":
                break
        took = (time.perf_counter() - began) * 1000
        submits: list[float] = []
        for _ in range(SUBMITS):
            began = time.perf_counter()
            await client.command("submit_turn", text=conversation.PROMPT, sessionId=session)
            submits.append((time.perf_counter() - began) * 1000)
        viewer.close()
        client.close()
        running.process.stop()
        await running.process.ended()
    return took, size, spread(submits).median


def _forget(folder: Path) -> None:
    """Drop the files from the system's cache if the system can."""
    for path in folder.iterdir():
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
            with suppress(AttributeError, OSError):
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)


ROW = Row(
    name="opening",
    counts="facts in the long session",
    n={"tiny": 300, "quick": 100_000, "full": 1_000_000},
    rounds={"tiny": 1, "quick": 5, "full": 15},
    run=run,
)
