"""Process that runs turns of many sessions at once: `python -m bench.workers.concurrent_sessions NAME FOLDER`.

It first prints the settings of its store. `{"at_once": 16, "turns": 192}` runs 192 turns in new sessions of `EACH` turns,
16 sessions at a time. The answer has the milliseconds of each completed turn, the errors of the others, the total seconds, and
the CPU time in milliseconds of the turns and since the last answer.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, cast

import uvloop

from bench.machine import CpuTime, settle
from bench.peers import Scaling, Turning, of

#: Turns of a session, one after another.
EACH = 3


async def work(system: Scaling, folder: Path) -> None:
    """Execute orders until the input ends."""
    await system.open(folder)
    await system.turn("warm-up")
    settle()
    names = (f"new-{number}" for number in count(1))
    settings = await system.read_settings()
    cpu = CpuTime()
    print(json.dumps(settings), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        order: dict[str, int] = json.loads(line)
        later = cpu.lap()
        gc.collect()
        cpu.lap()
        answer = await measure(system, names, at_once=order["at_once"], turns=order["turns"])
        print(json.dumps({**answer, "worked": cpu.lap(), "later": later}), flush=True)
    await system.close()


async def measure(system: Turning, names: Iterator[str], *, at_once: int, turns: int) -> dict[str, Any]:
    """Run turns in new sessions with these names; return the measurements and the errors."""
    sessions = iter([next(names) for _ in range(turns // EACH)])
    spent: list[float] = []
    errors: list[str] = []

    async def run_sessions() -> None:
        for session in sessions:
            for _ in range(EACH):
                began = time.perf_counter()
                try:
                    await system.turn(session)
                except Exception as error:
                    # A system may fail when much runs at once. The row counts these turns and shows an error.
                    errors.append(f"{type(error).__name__}: {error}")
                else:
                    spent.append((time.perf_counter() - began) * 1000)

    began = time.perf_counter()
    await asyncio.gather(*(run_sessions() for _ in range(at_once)))
    return {"spent": spent, "errors": errors, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    uvloop.run(work(cast("Scaling", of(sys.argv[1])), Path(sys.argv[2])))
