"""Process that runs turns in one system: `python -m bench.workers.turns NAME FOLDER`.

Each input line is an order, each output line its answer. `{"new": 5}` runs the first turn of five new sessions, `{"more": 50}`
fifty more turns of one session (with `"of": 1` of another). Both answer with the milliseconds of each turn, the total CPU
time, the CPU time since the last answer, and the resident bytes.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

import uvloop

from bench.machine import CpuTime, resident, settle
from bench.peers import Turning, of


async def work(turning: Turning, folder: Path) -> None:
    """Execute orders until the input ends."""
    await turning.open(folder)
    await turning.turn("warm-up")
    settle()
    number = 0
    cpu = CpuTime()
    _say("ready")
    while line := await asyncio.to_thread(sys.stdin.readline):
        order: dict[str, int] = json.loads(line)
        spent: list[float] = []
        later = cpu.lap()
        gc.collect()
        cpu.lap()
        for _ in range(order.get("new", order.get("more", 0))):
            number += 1
            session = f"new-{number}" if "new" in order else f"kept-{order.get('of', 0)}"
            began = time.perf_counter()
            await turning.turn(session)
            spent.append((time.perf_counter() - began) * 1000)
        answer = {"spent": spent, "worked": cpu.lap(), "later": later, "resident": resident()}
        cpu.lap()
        _say(answer)
    await turning.close()


def _say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(work(of(sys.argv[1]), Path(sys.argv[2])))
