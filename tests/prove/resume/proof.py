"""Proof that clients which drop at random and resume from their last event end with the view of a
fold of the log.

They drop at any moment, also within a stream and an event, are slow, stay away until the server no
longer has their position, and live through kill -9 of the server. No client may see a gap or a
repeat. A snapshot replaces a client's whole view.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.prove.driver import acknowledged, scenes, store
from tests.prove.driver.fold import Fold
from tests.prove.driver.product import Place, Server, place
from tests.prove.driver.report import Report, arguments, quantiles, run
from tests.prove.driver.session_driver import do, over, submit, until
from tests.prove.driver.view import View, differences, shown_fields
from tests.prove.driver.wire import Gone, Parser

#: The ring of a session has about 2 MB. A client that misses more loses its position.
FLOOD = 12
FLOOD_LENGTH = 200_000
#: Characters of the answer that must exist after the kill of the server.
OLD_ENOUGH = 4000
#: Largest number of characters per second of that answer.
CHARACTERS_S = 10_000
#: Longest time until all clients have the newest state, in seconds.
CATCH_UP_S = 20.0
COMMAND = "for i in 1 2 3 4 5 6; do echo line $i; sleep 0.05; done"


def scenario(writing: float) -> dict[str, Any]:
    paced: dict[str, Any] = {"chunk": 7, "delay_ms": 2}
    answer = [
        scenes.says(scenes.prose(600, "r"), kind="reasoning", **paced),
        scenes.says(scenes.prose(4000, "t"), **paced),
    ]
    # Text to interrupt has no end, however late the interrupt arrives.
    book = scenes.prose(20_000 + round(CHARACTERS_S * writing), "b")
    stumble = [
        scenes.says(scenes.prose(900, "s"), **paced),
        {"fail": {"code": "model_unavailable", "retryable": True, "retry_after": 0.05, "attempts": 1}},
        scenes.says(scenes.prose(300, "u"), **paced),
    ]
    flood = [scenes.repeats(scenes.prose(2000, f"f{at}_"), FLOOD_LENGTH // 2000) for at in range(FLOOD)]
    tool = [scenes.says("I look. ", chunk=2, delay_ms=2), scenes.calls("Bash", command=COMMAND)]
    return scenes.scenario(
        [
            ("say hello", [[scenes.says("hello")]]),
            ("answer at length", [[*answer, scenes.usage(40)]]),
            ("answer without end", [[*answer, scenes.waits()]]),
            # Long enough that much of it is older than the permitted loss when the server is
            # killed.
            ("write a book", [[scenes.says(book, chunk=20, delay_ms=2), scenes.waits()]]),
            ("stumble", [stumble]),
            ("flood", [flood]),
            ("run a command", [tool, [scenes.says("It ran.", chunk=1, delay_ms=2)]]),
        ]
    )


@dataclass
class World:
    """Shared state of the clients. `away` are the clients that are disconnected now."""

    session: str
    server: Server | None
    started: list[Server] = field(default_factory=list[Server])
    away: Callable[[int], bool] = lambda _: False
    finale: bool = False
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("drops", "within an event", "lost place"), 0))


class Client:
    """One client: its view, its habits and its interruptions."""

    def __init__(self, index: int, world: World, seed: int) -> None:
        self.view = View()
        self._index = index
        self._world = world
        self._random = random.Random(seed * 1_000_003 + index)
        self.steady = index == 0
        self.slow = index % 10 == 3

    async def live(self) -> None:
        """Follow the session until it is cancelled."""
        while True:
            server = self._world.server
            if server is None or (self._world.away(self._index) and not self.steady):
                await asyncio.sleep(0.01)
                continue
            try:
                await self._connected(server)
            except Gone:
                await asyncio.sleep(0.01)

    async def _connected(self, server: Server) -> None:
        world, draw, snapshots = self._world, self._random, self.view.snapshots
        until = time.monotonic() + draw.expovariate(1 / 0.4)
        room = int(draw.expovariate(1 / 60_000)) + 1
        parser = Parser()
        place = self.view.place
        path = f"/sessions/{world.session}/ops"
        async with server.wire.stream(path, place, buffer=4096 if self.slow else 0) as body:
            while True:
                leaving = not (self.steady or world.finale)
                wait = max(0.0, until - time.monotonic()) if leaving else None
                data = b""
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        data = await body.read(self._bite(room if leaving else 1 << 16))
                for event in parser.feed(data):
                    self.view.apply(event)
                if place and self.view.snapshots > snapshots:
                    world.counts["lost place"] += self.view.snapshots - snapshots
                    snapshots = self.view.snapshots
                room -= len(data)
                gone = world.server is not server or not data
                if gone or (leaving and (room <= 0 or time.monotonic() > until or world.away(self._index))):
                    world.counts["drops"] += 1
                    world.counts["within an event"] += parser.half
                    return
                if self.slow and not world.finale:
                    await asyncio.sleep(draw.uniform(0.002, 0.02))

    def _bite(self, room: int) -> int:
        return max(1, min(self._random.choice((100, 1500, 4096, 1 << 16)), room, 4096 if self.slow else 1 << 16))


async def prove(n: int, sabotage: str, seed: int, writing: float = acknowledged.WRITING) -> int:
    """Run the proof.

    `writing` is the longest time that a write of a partial takes here, in seconds.
    """
    report = Report("prove-resume")
    with place() as at:
        at.play(scenario(writing))
        server = await Server.start(at, sabotage=sabotage)
        world = World("", server, [server])
        try:
            world.session = await submit(server, "say hello")
            clients = [Client(index, world, seed) for index in range(n)]
            living = [asyncio.create_task(client.live()) for client in clients]
            try:
                story = asyncio.create_task(_story(report, at, world, clients[0].view, sabotage, writing))
                killed = await _wait_for_end(story, clients, bool(sabotage))
                await _caught_up(world, clients, at)
            finally:
                for task in living:
                    task.cancel()
                await asyncio.gather(*living, return_exceptions=True)
            _judge(report, store.read(at.store), world, clients, killed, writing)
        finally:
            for started in world.started:
                await started.kill()
    return report.end()


async def _story(report: Report, at: Place, world: World, view: View, sabotage: str, writing: float) -> float:
    """Play the session. Return when its server was killed."""
    server, session = world.server, world.session
    assert server is not None
    report_progress = lambda text: report.progress(f"{text}; {world.counts['drops']} drops so far", every=0)
    report_progress("answers at length, one queued behind the other")
    await submit(server, "answer at length", session)
    await submit(server, "stumble", session)
    assert await until(lambda: any(length >= 1000 for grown in view.grown.values() for _, length in grown))
    await over(server, session)
    report_progress("runs a command once it is approved, and is interrupted")
    await submit(server, "run a command", session)
    assert await until(lambda: bool(view.rows.get("actions")))
    for action in list(view.rows.get("actions", {})):
        await do(server, "respond_action", sessionId=session, actionId=action, decision="approve")
    await over(server, session)
    await submit(server, "answer without end", session)
    await submit(server, "say hello", session)
    assert await until(lambda: bool(_streaming(view, 1500)))
    await do(server, "interrupt_turn", sessionId=session)
    await over(server, session)
    report_progress("floods while a third of the clients are away")
    world.away = lambda index: index % 3 == 1
    await asyncio.sleep(0.1)
    await submit(server, "flood", session)
    await over(server, session)
    world.away = lambda _: False
    report_progress("is killed in the middle of an answer, and started again")
    await submit(server, "write a book", session)
    await submit(server, "say hello", session)
    assert await until(
        lambda: any(acknowledged.at_least(grown, None, writing) >= OLD_ENOUGH for grown in _streaming(view, OLD_ENOUGH))
    )
    killed = time.monotonic()
    await server.kill()
    world.server = None
    world.server = server = await Server.start(at, sabotage=sabotage)
    world.started.append(server)
    assert await until(lambda: not _working(view))
    await do(server, "resume_thread", sessionId=session)
    await submit(server, "answer at length", session)
    await over(server, session)
    return killed


async def _wait_for_end(story: asyncio.Task[float], clients: list[Client], until_seen: bool) -> float:
    """Wait for the end of the story; with a fault, for the first problem that a client sees."""
    while not story.done():
        await asyncio.wait([story], timeout=0.1)
        if until_seen and any(client.view.problems for client in clients):
            story.cancel()
            await asyncio.gather(story, return_exceptions=True)
            return time.monotonic()
    return story.result()


async def _caught_up(world: World, clients: list[Client], at: Place) -> None:
    world.finale = True
    head = len(store.read(at.store, world.session).facts[world.session])
    behind = lambda view: view.sequence < head and not view.problems
    await until(lambda: not any(behind(client.view) for client in clients), CATCH_UP_S, every=0.05)


def _judge(report: Report, log: store.Log, world: World, clients: list[Client], killed: float, writing: float) -> None:
    facts = log.facts[world.session]
    fold = Fold(facts)
    should = fold.panels()
    report.none("the chain verifies", log.broken)
    report.check("nothing is being worked on in the end", not fold.working, f"{fold.working}")
    texts = {f"{fact.id('r')}.{fact.scope['s']}": fact for fact in facts if fact.type.startswith("message")}
    for index, client in enumerate(clients):
        view = client.view
        who = f"client {index}{' (slow)' * client.slow}"
        report.none("no client sees a gap or a repeat", [f"{who}: {problem}" for problem in view.problems])
        report.none(
            "every client ends with the view that the log gives",
            [f"{who}, at {view.place}: {difference}" for difference in differences(shown_fields(view.rows), should)],
        )
        for key, grown in view.grown.items():
            fact = texts.get(key)
            if fact is None or fact.type == "message.interrupted":
                length = len(log.text(fact.payload["content"])) if fact else 0
                least = acknowledged.at_least(grown, killed, writing)
                report.check(
                    "text that a client received does not disappear", length >= least, f"{length} of at least {least}"
                )
    views = [client.view for client in clients]
    report.check("clients dropped within events", world.counts["within an event"] > 0)
    report.check("some lost their position and got a snapshot", world.counts["lost place"] > 0)
    report.figure("clients", f"{len(clients)}, of which {sum(client.slow for client in clients)} slow")
    report.figure("drops", ", ".join(f"{count} {name}" for name, count in world.counts.items()))
    report.figure("operations on text", quantiles([view.appends for view in views], "each", 0))
    report.figure("snapshots", quantiles([view.snapshots for view in views], "each", 0))
    report.figure("the log", f"{len(facts)} facts, {sum(row['kind'] != 'turn' for row in should['parts'])} parts")


def _streaming(view: View, length: int) -> list[list[tuple[float, int]]]:
    """Return the growth of each streaming text that has this many shown characters."""
    rows = view.rows.get("parts", {}).items()
    long = [
        key for key, row in rows if row.get("state") == "streaming" and len(row["content"].get("text", "")) >= length
    ]
    return [view.grown[key] for key in long if key in view.grown]


def _working(view: View) -> bool:
    return any(row["state"] == "running" for row in view.rows.get("turns", {}).values())


def main() -> int:
    options = arguments(__doc__, n=100, help_n="clients").parse_args()
    return run(prove(options.n, options.sabotage, options.seed), longest=180 + options.n)


if __name__ == "__main__":
    sys.exit(main())
