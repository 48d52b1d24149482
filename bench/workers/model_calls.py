"""Process that calls a model: `python -m bench.workers.model_calls NAME FORMAT BASE_URL`.

`{"load": n}` builds a conversation of n turns. `{"call": n}` makes n calls in sequence. It answers
with the CPU time of each call and the longest blocks of the event loop, in milliseconds.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time

import uvloop

from bench.callers import OURS, of
from bench.machine import settle
from bench.rigs.heartbeat import Heartbeat
from callboard.app.hosting.process import share_time


async def work(name: str, format: str, base_url: str) -> None:
    """Execute orders until the input ends."""
    caller = of(name, format, base_url)
    # Load what the first call of any conversation needs.
    caller.load(2)
    await caller.call()
    if name == OURS:
        # Like the product after its start.
        share_time()
    settle()
    print(json.dumps("ready"), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        order: dict[str, int] = json.loads(line)
        if "load" in order:
            caller.load(order["load"])
            gc.collect()
            print(json.dumps("loaded"), flush=True)
            continue
        spent: list[float] = []
        walls: list[float] = []
        workings: list[float] = []
        for _ in range(order["call"]):
            began = time.process_time()
            with Heartbeat() as heart:
                await caller.call()
            spent.append((time.process_time() - began) * 1000)
            walls.append(heart.wall)
            workings.append(heart.worked)
        print(json.dumps({"spent": spent, "wall": walls, "worked": workings}), flush=True)
    await caller.close()


if __name__ == "__main__":
    uvloop.run(work(*sys.argv[1:4]))
