"""Running of rows: sizes, alternating rounds, and a folder on the measured disk."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from callboard.runtime.dependencies import Limits

from . import machine
from .results import Result

Size = Literal["tiny", "quick", "full"]
#: Seconds after which no system works on former turns.
LATER_S = Limits().fold_behind + 1.0
OUT = Path(__file__).parent / "out"


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Size of a run: `n` as defined by the row, `rounds` repetitions, and the row's folder `place`.

    Without `peers`, only the product and Python run.
    """

    n: int
    rounds: int
    peers: bool
    place: Path


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the bench. `n` is the main size for each size of a run; `counts` names its unit."""

    name: str
    counts: str
    n: Mapping[Size, int]
    rounds: Mapping[Size, int]
    run: Callable[[Scale], Awaitable[Result]]


async def measure(row: Row, size: Size, *, n: int | None = None, peers: bool = True) -> Result:
    """Run a row in a temporary folder."""
    with _folder() as folder:
        scale = Scale(n=n or row.n[size], rounds=row.rounds[size], peers=peers, place=folder)
        began, load = time.perf_counter(), machine.load()
        result = await row.run(scale)
        took = time.perf_counter() - began
    return msgspec.structs.replace(result, seconds=round(took, 1), load=(load, machine.load()))


async def in_turn(rounds: int, things: Mapping[str, Callable[[], Awaitable[float]]]) -> dict[str, list[float]]:
    """Measure all things once per round, in reverse order in every second round, so that noise affects them equally."""
    measures: dict[str, list[float]] = {name: [] for name in things}
    for number in range(rounds):
        for name in sorted(things, reverse=bool(number % 2)):
            measures[name].append(await things[name]())
    return measures


async def wait_for_later_work() -> None:
    """Wait until Callboard has folded new facts into its rows, which it does some seconds later if no client looks."""
    await asyncio.sleep(LATER_S)


@contextmanager
def _folder():
    # Not in the system's temporary folder: it may be in memory, where a sync costs nothing.
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT, prefix="run-") as path:
        yield Path(path)
