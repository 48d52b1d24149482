"""Time from a fact to its row operations at 100 viewers, compared with a minimal durable feed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bench.harness import Row, Scale
from bench.results import Line, Plot, Result, Spread, percentile, spread
from bench.rigs import conversation
from bench.rigs.processes import Process, python
from bench.rigs.product import Http, product, request

VIEWERS = 100
FACTS_A_SECOND = 200
#: A turn without a tool: two batches.
FACTS_A_TURN = 9
GOAL_P99 = 20.0
#: Approximate bytes of the operations of a batch.
EVENT_BYTES = 2500


async def run(scale: Scale) -> Result:
    """Measure for `scale.n` seconds."""
    folder = scale.place / "bare"
    folder.mkdir()
    rate = 2 * FACTS_A_SECOND / FACTS_A_TURN
    async with (
        product(scale.place) as running,
        Process(*python("bench.workers.bare_feed", str(folder), str(rate), str(EVENT_BYTES))) as bare,
    ):
        port = await bare.read_line()
        client = await running.connect()
        first = await client.command("submit_turn", text=conversation.PROMPT, workspaceId=running.workspace)
        session = first["sessionId"]
        path = request(running, "GET", f"/sessions/{session}/ops").decode()
        async with (
            Process(*python("bench.workers.viewers", running.host, str(running.port), str(VIEWERS))) as ours,
            Process(*python("bench.workers.viewers", "127.0.0.1", str(port), str(VIEWERS))) as others,
        ):
            await ours.ask(request=path)
            await others.ask(request="GET / HTTP/1.1\r\n\r\n")
            sent = 0
            for _ in range(scale.rounds):
                sent += await _submit(client, session, scale.n / scale.rounds)
                await bare.ask(seconds=scale.n / scale.rounds)
            await _all_done(client, session, sent)
            events, bare_events = await ours.ask(), await others.ask()
        times = await _times(client, session)
        client.close()
    here = [(at / 1000 - times[int(cursor.partition(".")[0])]) / 1000 for cursor, at in _flat(events) if _fact(cursor)]
    baseline = [at / 1e6 - float(cursor) / 1000 for cursor, at in _flat(bare_events)]
    facts = sent * FACTS_A_TURN
    return _result(here, baseline, facts, expected=2 * sent * VIEWERS)


def _result(here: Sequence[float], baseline: Sequence[float], facts: int, expected: int) -> Result:
    late = percentile(here, 0.99)
    return Result(
        row="fanout",
        title=f"A fact → its row operations at {VIEWERS} viewers",
        measures=f"`callboard up` runs in one process, {VIEWERS} streams of one session in another. Turns are submitted "
        f"at {FACTS_A_SECOND} facts/s. The time starts at the timestamp of the fact, before its commit. It ends when the "
        "bytes of its operations arrive in the viewers' process. Baseline, in alternating rounds: a loop that commits "
        "one row with sqlite3 and writes the same number of bytes to the same number of sockets, at the same rate.",
        lines=tuple(
            Line(
                label=f"fact → viewer, p{name}",
                unit="ms",
                value=Spread(percentile(here, share), min(here), max(here)),
                baseline_name="commit and write",
                baseline=Spread(percentile(baseline, share), min(baseline), max(baseline)),
                ratio=spread([percentile(here, share) / percentile(baseline, share)]),
                goal=f"≤ {GOAL_P99:.0f} ms" if name == "99" else "",
                met=late <= GOAL_P99 if name == "99" else None,
            )
            for name, share in (("50", 0.5), ("99", 0.99))
        ),
        notes=(f"{facts} facts; the viewers received {len(here)} of {expected} expected batches of operations.",),
        plots=(
            Plot(
                name="fanout",
                title=f"A fact → its row operations at {VIEWERS} viewers",
                x="share of deliveries",
                y="ms",
                lines={
                    name: [(share / 100, percentile(delays, share / 100)) for share in range(1, 101)]
                    for name, delays in (("Callboard", here), ("commit and write", baseline))
                },
                log_y=True,
            ),
        ),
    )


async def _submit(client: Http, session: str, seconds: float) -> int:
    """Submit turns at the rate; return their number. A turn may wait in the queue for the one before."""
    wait = FACTS_A_TURN / FACTS_A_SECOND
    began, sent = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        await client.command("submit_turn", text=conversation.PROMPT, sessionId=session)
        sent += 1
        await asyncio.sleep(began + sent * wait - time.monotonic())
    return sent


async def _all_done(client: Http, session: str, sent: int) -> None:
    def done(read: Any) -> bool:
        return read["status"]["status"] == "done" and not read["queue"] and read["head"] >= sent * FACTS_A_TURN

    await client.until(session, done)


async def _times(client: Http, session: str) -> dict[int, float]:
    """Return the time of each fact by sequence, in microseconds since the epoch."""
    times: dict[int, float] = {}
    after = 0
    while True:
        page: Any = json.loads(await client.request("GET", f"/sessions/{session}/facts?after={after}&limit=1000"))
        for event in page["events"]:
            times[event["sequence"]] = datetime.fromisoformat(event["timestamp"]).timestamp() * 1e6
        if page["next"] == page["head"]:
            return times
        after = page["next"]


def _flat(viewers: Sequence[Sequence[tuple[str, int]]]) -> list[tuple[str, int]]:
    return [(cursor, at) for viewer in viewers for cursor, at in viewer]


def _fact(cursor: str) -> bool:
    """Return True for the operations of a fact, False for those of partial text."""
    return cursor.endswith(".0")


ROW = Row(
    name="fanout",
    counts="seconds",
    n={"tiny": 1, "quick": 12, "full": 120},
    rounds={"tiny": 1, "quick": 3, "full": 12},
    run=run,
)
