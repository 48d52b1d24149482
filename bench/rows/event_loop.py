"""Longest block of the event loop by a long session: opening, model calls and other requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.harness import Row, Scale
from bench.results import Line, Result, Spread, percentile, spread
from bench.rigs import conversation
from bench.rigs.history import history
from bench.rigs.processes import PATIENCE, Process, python
from bench.rigs.product import HEALTH, Http, product
from bench.rigs.stored_sessions import build
from bench.workers.provider import READS, base_url, provider

SESSION = "ses_benchreads"
#: Facts of the session that reads files during health checks.
READING = 3_900
GOAL_BLOCK_MS = 5.0
#: Seconds between two health checks, and their number while nothing runs.
EVERY, QUIET = 0.002, 200
POLL_INTERVAL = 0.05
SETTINGS = '[[models]]\nname = "bench"\nkind = "openai-compatible"\nmodel = "m"\nbase_url = "{url}"\napi_key = "none"\n'
ORDERS = {
    "fold": "open and rebuild rows",
    "open": "open",
    "first": "first turn, one model call",
    "turn": "later turn, one model call",
}


async def run(scale: Scale) -> Result:
    """Measure a session of `scale.n` facts."""
    async with provider() as root:
        blocks = await _measure_blocks(scale, root)
        reading = min(READING, scale.n)
        healths = await _measure_health_checks(scale, root, reading)
    return Result(
        row="loop",
        title=f"Longest block of the event loop, {scale.n:,} facts",
        measures="The runtime and its model provider run in separate processes. While the event loop is blocked, no "
        "other task can run. The longest block is measured while the session opens and while a turn runs, as CPU time "
        "of the loop's thread and as wall time, which includes other threads and processes. The model receives the "
        f"newest 2,000 steps. Then `callboard up` runs a session of {reading:,} facts whose model answers with {READS} "
        "reads of a file in sequence, while another connection requests `/healthz`. Baseline: the same requests to an "
        "idle server. No peer has a comparable server.",
        lines=tuple(_lines(blocks, healths)),
    )


async def _measure_blocks(scale: Scale, root: str) -> dict[str, list[dict[str, float]]]:
    folder = scale.place / "opening"
    folder.mkdir()
    url = base_url(root, "openai-compatible")
    blocks: dict[str, list[dict[str, float]]] = {name: [] for name in ORDERS}
    async with Process(*python("bench.workers.long_session", str(folder), url, str(scale.n))) as process:
        await process.read_line()
        for _ in range(scale.rounds):
            blocks["fold"].append(await process.ask(fold=1))
            blocks["open"].append(await process.ask(open=1))
            blocks["first"].append(await process.ask(turn=1))
            blocks["turn"].append(await process.ask(turn=1))
    return blocks


async def _measure_health_checks(scale: Scale, root: str, facts: int) -> dict[str, list[float]]:
    """Return the milliseconds of health checks while files are read, and while nothing runs."""
    folder = scale.place / "reading"
    folder.mkdir()
    await build(folder, await history(folder / "turn"), {SESSION: facts})
    settings = SETTINGS.format(url=base_url(root, "openai-compatible", "reads"))
    async with product(folder, settings) as running:
        client = await running.connect()
        # The first turn loads libraries.
        await _turn(client)
        # Only now: the server closes idle connections.
        prober = await running.connect()
        quiet = [await _time_health_check(prober) for _ in range(QUIET)]
        busy: list[float] = []
        for _ in range(scale.rounds):
            reading = asyncio.create_task(_turn(client))
            while not reading.done():
                busy.append(await _time_health_check(prober))
                await asyncio.sleep(EVERY)
            await reading
        client.close()
        prober.close()
        running.process.stop()
        await running.process.ended()
    return {"quiet": quiet, "busy": busy}


async def _turn(client: Http) -> None:
    accepted = await client.command("submit_turn", text=conversation.PROMPT, sessionId=SESSION)
    async with asyncio.timeout(PATIENCE):
        turn = await _read_last_turn(client)
        while not turn or turn["turnId"] != accepted["turnId"] or not turn["endedAt"]:
            # At long intervals: these reads are not measured.
            await asyncio.sleep(POLL_INTERVAL)
            turn = await _read_last_turn(client)
    if turn["state"] != "completed":
        raise RuntimeError(f"the turn ended as {turn['state']}: {turn.get('message')}")


async def _read_last_turn(client: Http) -> Any:
    return (await client.query("get_thread_read", sessionId=SESSION))["lastTurn"]


async def _time_health_check(client: Http) -> float:
    began = time.perf_counter()
    await client.request("GET", HEALTH)
    return (time.perf_counter() - began) * 1000


def _lines(blocks: Mapping[str, Sequence[Mapping[str, float]]], healths: Mapping[str, list[float]]) -> Iterator[Line]:
    for name, label in ORDERS.items():
        worked = spread(measure["worked"] for measure in blocks[name])
        goal = name in ("open", "turn")
        yield Line(
            label=f"{label}: longest block, CPU time",
            unit="ms",
            value=worked,
            goal=f"≤ {GOAL_BLOCK_MS:.0f} ms" if goal else "",
            met=worked.median <= GOAL_BLOCK_MS if goal else None,
        )
        yield Line(
            label=f"{label}: longest block, wall time",
            unit="ms",
            value=spread(measure["wall"] for measure in blocks[name]),
        )
    busy, quiet = healths["busy"], healths["quiet"]
    for name, share in (("50", 0.5), ("99", 0.99)):
        here, baseline = percentile(busy, share), percentile(quiet, share)
        yield Line(
            label=f"`/healthz` during {READS} reads, p{name}",
            unit="ms",
            value=Spread(here, min(busy), max(busy)),
            baseline_name="idle server",
            baseline=Spread(baseline, min(quiet), max(quiet)),
            ratio=Spread(here / baseline, here / baseline, here / baseline),
        )


ROW = Row(
    name="loop",
    counts="facts of the long session",
    n={"tiny": 200, "quick": 18_000, "full": 180_000},
    rounds={"tiny": 1, "quick": 3, "full": 5},
    run=run,
)
