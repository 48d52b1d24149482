"""How long a long session holds the event loop: while it opens, during model calls, and beside other requests."""

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
GOAL_HOLD_MS = 5.0
#: Seconds between two health checks, and their number while nothing runs.
EVERY, QUIET = 0.002, 200
LOOK = 0.05
SETTINGS = '[[models]]\nname = "bench"\nkind = "openai-compatible"\nmodel = "m"\nbase_url = "{url}"\napi_key = "none"\n'
ORDERS = {
    "fold": "opened, its rows folded anew",
    "open": "opened",
    "first": "first turn, one model call",
    "turn": "later turn, one model call",
}


async def run(scale: Scale) -> Result:
    """Measure a session of `scale.n` facts."""
    async with provider() as root:
        holds = await _measure_holds(scale, root)
        reading = min(READING, scale.n)
        healths = await _healths(scale, root, reading)
    return Result(
        row="holds",
        title=f"Longest hold of the event loop, {scale.n:,} facts",
        measures="The runtime in a process of its own, its model a provider in another one: the longest time in which the "
        "event loop did nothing else while the session was opened and while a turn was taken, by the processor time of the "
        "loop's thread and by the clock, which also counts other threads and other processes of the machine. A model is "
        f"given the newest 2,000 steps. Then `callboard up` with a session of {reading:,} facts, its model answering with "
        f"{READS} reads of a file, one after the other, while another connection asks for `/healthz`; beside it the same "
        "while nothing runs. No peer has a server with sessions to ask in this form.",
        lines=tuple(_lines(holds, healths)),
    )


async def _measure_holds(scale: Scale, root: str) -> dict[str, list[dict[str, float]]]:
    folder = scale.place / "opening"
    folder.mkdir()
    url = base_url(root, "openai-compatible")
    holds: dict[str, list[dict[str, float]]] = {name: [] for name in ORDERS}
    async with Process(*python("bench.workers.long_session", str(folder), url, str(scale.n))) as process:
        await process.read_line()
        for _ in range(scale.rounds):
            holds["fold"].append(await process.ask(fold=1))
            holds["open"].append(await process.ask(open=1))
            holds["first"].append(await process.ask(turn=1))
            holds["turn"].append(await process.ask(turn=1))
    return holds


async def _healths(scale: Scale, root: str, facts: int) -> dict[str, list[float]]:
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
        asking = await running.connect()
        quiet = [await _health(asking) for _ in range(QUIET)]
        busy: list[float] = []
        for _ in range(scale.rounds):
            reading = asyncio.create_task(_turn(client))
            while not reading.done():
                busy.append(await _health(asking))
                await asyncio.sleep(EVERY)
            await reading
        client.close()
        asking.close()
        running.process.stop()
        await running.process.ended()
    return {"quiet": quiet, "busy": busy}


async def _turn(client: Http) -> None:
    accepted = await client.command("submit_turn", text=conversation.PROMPT, sessionId=SESSION)
    async with asyncio.timeout(PATIENCE):
        while not (turn := await _last(client)) or turn["turnId"] != accepted["turnId"] or not turn["endedAt"]:  # noqa: ASYNC110
            # At long intervals: these reads are not measured.
            await asyncio.sleep(LOOK)
    if turn["state"] != "completed":
        raise RuntimeError(f"the turn ended as {turn['state']}: {turn.get('message')}")


async def _last(client: Http) -> Any:
    return (await client.query("get_thread_read", sessionId=SESSION))["lastTurn"]


async def _health(client: Http) -> float:
    began = time.perf_counter()
    await client.request("GET", HEALTH)
    return (time.perf_counter() - began) * 1000


def _lines(holds: Mapping[str, Sequence[Mapping[str, float]]], healths: Mapping[str, list[float]]) -> Iterator[Line]:
    for name, label in ORDERS.items():
        worked = spread(measure["worked"] for measure in holds[name])
        goal = name in ("open", "turn")
        yield Line(
            label=f"{label}: longest hold, processor",
            unit="ms",
            here=worked,
            goal=f"≤ {GOAL_HOLD_MS:.0f} ms" if goal else "",
            met=worked.median <= GOAL_HOLD_MS if goal else None,
        )
        yield Line(
            label=f"{label}: longest hold, clock", unit="ms", here=spread(measure["wall"] for measure in holds[name])
        )
    busy, quiet = healths["busy"], healths["quiet"]
    for name, share in (("50", 0.5), ("99", 0.99)):
        here, beside = percentile(busy, share), percentile(quiet, share)
        yield Line(
            label=f"`/healthz` beside {READS} reads, p{name}",
            unit="ms",
            here=Spread(here, min(busy), max(busy)),
            beside_name="nothing runs",
            beside=Spread(beside, min(quiet), max(quiet)),
            ratio=Spread(here / beside, here / beside, here / beside),
        )


ROW = Row(
    name="holds",
    counts="facts of the long session",
    n={"tiny": 200, "quick": 18_000, "full": 180_000},
    rounds={"tiny": 1, "quick": 3, "full": 5},
    run=run,
)
