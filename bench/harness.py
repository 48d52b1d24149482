"""How rows are run: sizes, rounds that alternate, and a folder on the disk that is measured."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from . import machine
from .results import Result

Size = Literal["tiny", "quick", "full"]
OUT = Path(__file__).parent / "out"


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much a row measures: `n` is what the row says of it, `rounds` how often it is repeated; with `peers` false nothing
    that is not part of the product or of Python is started. `place` is a folder of the row's own."""

    n: int
    rounds: int
    peers: bool
    place: Path


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of the bench. `n` is the main size for each size of a run, and what it counts stands in `counts`."""

    name: str
    counts: str
    n: Mapping[Size, int]
    rounds: Mapping[Size, int]
    run: Callable[[Scale], Awaitable[Result]]


async def measured(row: Row, size: Size, *, n: int | None = None, peers: bool = True) -> Result:
    """Runs a row in a folder of its own, which is gone afterwards."""
    with _folder() as place:
        scale = Scale(n=n or row.n[size], rounds=row.rounds[size], peers=peers, place=place)
        began, load = time.perf_counter(), machine.load()
        result = await row.run(scale)
        took = time.perf_counter() - began
    return msgspec.structs.replace(result, seconds=round(took, 1), load=(load, machine.load()))


async def in_turn(rounds: int, things: Mapping[str, Callable[[], Awaitable[float]]]) -> dict[str, list[float]]:
    """Measures all things once a round, in the other order in every second round, so that what the machine does besides
    meets them alike."""
    found: dict[str, list[float]] = {name: [] for name in things}
    for number in range(rounds):
        for name in sorted(things, reverse=bool(number % 2)):
            found[name].append(await things[name]())
    return found


@contextmanager
def _folder():
    # Beside the bench and not in the system's folder for such things, which may lie in memory: a sync there costs nothing.
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT, prefix="run-") as made:
        yield Path(made)
