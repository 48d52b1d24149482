"""Time from submitting a turn to its status at a client, compared with a disk sync."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from bench.harness import Row, Scale
from bench.machine import fdatasyncs
from bench.results import Line, Plot, Result, Spread, percentile
from bench.rigs import conversation
from bench.rigs.product import Http, product

#: Milliseconds added to two syncs.
P50, P99 = 4.0, 20.0
SESSIONS = 10
PROBES = 2


async def run(scale: Scale) -> Result:
    """Submit `scale.n` turns in sequence to ten sessions, with disk syncs measured in between."""
    times: list[float] = []
    answered: list[float] = []
    syncs: list[float] = []
    async with product(scale.place) as running:
        client = await running.connect()
        per_session = max(1, scale.n // SESSIONS)
        for _ in range(min(SESSIONS, scale.n)):
            first = await client.command("submit_turn", text=conversation.PROMPT, workspaceId=running.workspace)
            viewer = _Viewer(await running.connect(), first["sessionId"])
            await viewer.begin()
            for _ in range(per_session):
                await client.until(first["sessionId"], _done)
                syncs += await asyncio.to_thread(fdatasyncs, scale.place, PROBES)
                began = time.perf_counter()
                sent = await client.command("submit_turn", text=conversation.PROMPT, sessionId=first["sessionId"])
                answered.append((time.perf_counter() - began) * 1000)
                times.append((await viewer.reached(sent["sequence"]) - began) * 1000)
            viewer.end()
        client.close()
    return Result(
        row="submit",
        title="Submit → status at a client",
        measures="`callboard up` runs in one process, the client in another, over HTTP. The time starts with the first "
        "byte of the request. It ends when the client's stream of row operations shows the turn as running, and when "
        "the response arrives. The model is a scenario that answers immediately, so the turn runs at the same time. "
        "Baseline: a write of 4 KiB with fdatasync on the same disk, between the turns.",
        lines=(
            *(_line(f"status shown, p{name}", times, syncs, share, floor) for name, share, floor in _SHARES),
            *(_line(f"response, p{name}", answered, syncs, share, None) for name, share, _ in _SHARES),
        ),
        plots=(
            Plot(
                name="submit",
                title="Submit → status at a client",
                x="share of turns",
                y="ms",
                lines={"status shown": _curve(times), "response": _curve(answered), "one fdatasync": _curve(syncs)},
                log_y=True,
            ),
        ),
    )


_SHARES = (("50", 0.5, P50), ("99", 0.99, P99))


def _line(label: str, times: list[float], syncs: list[float], share: float, floor: float | None) -> Line:
    here, sync = percentile(times, share), percentile(syncs, share)
    goal = None if floor is None else floor + 2 * sync
    return Line(
        label=label,
        unit="ms",
        value=Spread(here, min(times), max(times)),
        baseline_name="one fdatasync",
        baseline=Spread(sync, min(syncs), max(syncs)),
        ratio=Spread(here / sync, here / sync, here / sync),
        goal="" if goal is None else f"≤ {floor:.0f} ms + 2 fdatasync = {goal:.1f} ms",
        met=None if goal is None else here <= goal,
    )


def _curve(times: list[float]) -> list[tuple[float, float]]:
    return [(share / 100, percentile(times, share / 100)) for share in range(1, 101)]


def _done(read: Any) -> bool:
    return read["status"]["status"] == "done"


class _Viewer:
    """Client of a session's row operations that records their arrival."""

    def __init__(self, http: Http, session: str) -> None:
        self._http = http
        self._session = session
        self._arrivals: list[tuple[int, float]] = []
        self._news = asyncio.Event()

    async def begin(self) -> None:
        """Wait for the snapshot."""
        self._task = asyncio.create_task(self._follow())
        await self._news.wait()

    def end(self) -> None:
        self._task.cancel()
        self._http.close()

    async def reached(self, sequence: int) -> float:
        """Return the arrival of the first event of this sequence or a later one."""
        async with asyncio.timeout(20):
            while True:
                self._news.clear()
                arrivals = [at for reached, at in self._arrivals if reached >= sequence]
                if arrivals:
                    return arrivals[0]
                await self._news.wait()

    async def _follow(self) -> None:
        async for chunk in self._http.stream(f"/sessions/{self._session}/ops"):
            at = time.perf_counter()
            for event in chunk.split(b"\n\n"):
                if event.startswith(b"id: "):
                    self._arrivals.append((int(event[4:].partition(b".")[0]), at))
            self._news.set()


ROW = Row(
    name="submit",
    counts="turns",
    n={"tiny": 3, "quick": 300, "full": 3000},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
