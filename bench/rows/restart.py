"""Time after kill -9 until the restarted product answers and shows the interrupted turn."""

from __future__ import annotations

import asyncio
import sys
import time

from bench.harness import Row, Scale
from bench.results import Line, Result, Spread, percentile, spread
from bench.rigs import conversation
from bench.rigs.processes import Process
from bench.rigs.product import Http, Product, product

GOAL_MS = 1500.0
SESSIONS = 20
#: Minimal server in Python: imports, a socket, one answer.
_LEAST = """
import asyncio, json, socket
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
bound = socket.socket(); bound.bind(("127.0.0.1", 0)); bound.listen()
app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("ok"))])
print(json.dumps(bound.getsockname()[1]), flush=True)
uvicorn.Server(uvicorn.Config(app, log_config=None)).run(sockets=[bound])
"""


async def run(scale: Scale) -> Result:
    """Kill the product `scale.n` times, each time during a turn."""
    answers: list[float] = []
    truths: list[float] = []
    least: list[float] = []
    async with product(scale.place) as running:
        client = await running.connect()
        for _ in range(min(SESSIONS, scale.n)):
            sent = await client.command("submit_turn", text=conversation.PROMPT, workspaceId=running.workspace)
            await _status(client, sent["sessionId"], "done")
        cut = await _cut(running, client)
    for _ in range(scale.n):
        began = time.perf_counter()
        async with product(scale.place) as running:
            client = await running.connect()
            await client.query("list_sessions", workspaceId=running.workspace)
            answers.append((time.perf_counter() - began) * 1000)
            await _interrupted(client, cut)
            truths.append((time.perf_counter() - began) * 1000)
            cut = await _cut(running, client)
        least.append(await _least())
    return Result(
        row="restart",
        title="Restart after kill -9",
        measures="`callboard up` is killed while a model answers, with one turn in progress and other sessions idle. "
        "Then it is restarted. The time starts with the new process. It ends at the first response, and when the turn "
        "in progress is shown as interrupted. Baseline, in alternating rounds: a program that imports Starlette and "
        "uvicorn and answers one request.",
        lines=tuple(
            Line(
                label=f"{label}, p{name}",
                unit="ms",
                value=Spread(percentile(times, share), min(times), max(times)),
                baseline_name="Starlette, one route",
                baseline=Spread(percentile(least, share), min(least), max(least)),
                ratio=spread([percentile(times, share) / percentile(least, share)]),
                goal=f"≤ {GOAL_MS:.0f} ms",
                met=percentile(times, share) <= GOAL_MS,
            )
            for label, times in (("first response", answers), ("interrupted turn shown", truths))
            for name, share in (("50", 0.5), ("99", 0.99))
        ),
        notes=(f"{scale.n} kills: p99 is the maximum.",) if scale.n < 100 else (),
    )


async def _cut(running: Product, client: Http) -> str:
    """Start an endless turn and kill the process during it; return the session."""
    sent = await client.command("submit_turn", text="wait", workspaceId=running.workspace)
    await _status(client, sent["sessionId"], "streaming")
    running.process.kill()
    await running.process.ended()
    client.close()
    return sent["sessionId"]


async def _status(client: Http, session: str, status: str) -> None:
    await client.until(session, lambda read: read["status"]["status"] == status)


async def _interrupted(client: Http, session: str) -> None:
    await client.until(session, lambda read: read["lastTurn"]["state"] == "interrupted")


async def _least() -> float:
    began = time.perf_counter()
    async with Process(sys.executable, "-c", _LEAST) as process:
        port = await process.read_line()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        took = (time.perf_counter() - began) * 1000
        writer.close()
        process.kill()
    return took


ROW = Row(
    name="restart",
    counts="kills",
    n={"tiny": 1, "quick": 8, "full": 100},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
