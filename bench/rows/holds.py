"""How long a long session holds the event loop: while it is opened, while its model is asked, and beside other requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench import conversation
from bench.harness import Row, Scale
from bench.history import history
from bench.long_session import build
from bench.processes import PATIENCE, Process, python
from bench.product import HEALTH, Http, product
from bench.provider import READS, base_url, provider
from bench.results import Line, Result, Spread, percentile, spread

SESSION = "ses_benchreads"
#: Facts of the session in which files are read while others ask for the server's health.
READING = 3_900
GOAL_HOLD_MS = 5.0
#: Seconds between two requests for the server's health, and how many there are while nothing runs.
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
    """A session of `scale.n` facts."""
    async with provider() as root:
        held = await _held(scale, root)
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
        lines=tuple(_lines(held, healths)),
    )


async def _held(scale: Scale, root: str) -> dict[str, list[dict[str, float]]]:
    folder = scale.place / "opening"
    folder.mkdir()
    url = base_url(root, "openai-compatible")
    found: dict[str, list[dict[str, float]]] = {name: [] for name in ORDERS}
    async with Process(*python("bench.opening", str(folder), url, str(scale.n))) as process:
        await process.told()
        for _ in range(scale.rounds):
            found["fold"].append(await process.ask(fold=1))
            found["open"].append(await process.ask(open=1))
            found["first"].append(await process.ask(turn=1))
            found["turn"].append(await process.ask(turn=1))
    return found


async def _healths(scale: Scale, root: str, facts: int) -> dict[str, list[float]]:
    """Milliseconds that requests for the server's health took while files were read, and while nothing ran."""
    place = scale.place / "reading"
    place.mkdir()
    await build(place, await history(place / "turn"), {SESSION: facts})
    settings = SETTINGS.format(url=base_url(root, "openai-compatible", "reads"))
    async with product(place, settings) as running:
        client = await running.connect()
        # The first turn loads what later ones have.
        await _turn(client)
        # Now, since the server closes a connection on which nothing is asked.
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
            # Seldom: what asks here is not what is measured.
            await asyncio.sleep(LOOK)
    if turn["state"] != "completed":
        raise RuntimeError(f"the turn ended as {turn['state']}: {turn.get('message')}")


async def _last(client: Http) -> Any:
    return (await client.query("get_thread_read", sessionId=SESSION))["lastTurn"]


async def _health(client: Http) -> float:
    began = time.perf_counter()
    await client.request("GET", HEALTH)
    return (time.perf_counter() - began) * 1000


def _lines(held: Mapping[str, Sequence[Mapping[str, float]]], healths: Mapping[str, list[float]]) -> Iterator[Line]:
    for name, what in ORDERS.items():
        worked = spread(measure["worked"] for measure in held[name])
        goal = name in ("open", "turn")
        yield Line(
            what=f"{what}: longest hold, processor",
            unit="ms",
            here=worked,
            goal=f"≤ {GOAL_HOLD_MS:.0f} ms" if goal else "",
            met=worked.median <= GOAL_HOLD_MS if goal else None,
        )
        yield Line(
            what=f"{what}: longest hold, clock", unit="ms", here=spread(measure["wall"] for measure in held[name])
        )
    busy, quiet = healths["busy"], healths["quiet"]
    for name, share in (("50", 0.5), ("99", 0.99)):
        here, beside = percentile(busy, share), percentile(quiet, share)
        yield Line(
            what=f"`/healthz` beside {READS} reads, p{name}",
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
