"""What a row of the bench comes to: figures with their spread, each beside something measured in the same run."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

import msgspec


class Spread(msgspec.Struct, frozen=True):
    """A median with the least and the greatest of what was measured."""

    median: float
    low: float
    high: float


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One figure. `ratio` is `here` over `beside`, taken within each round; `goal` says in words what is aimed at, and `met`
    whether `here` or `ratio` is there: None where there is no goal for this figure."""

    what: str
    unit: str
    here: Spread
    beside_name: str = ""
    beside: Spread | None = None
    ratio: Spread | None = None
    goal: str = ""
    met: bool | None = None


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """Lines to draw: the points of each as (x, y)."""

    name: str
    title: str
    x: str
    y: str
    lines: dict[str, list[tuple[float, float]]]
    log_x: bool = False
    log_y: bool = False


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A row. `measures` says what is measured and how; `notes` what a reader should know of this run.
    `date` is empty in a row that was written before rows had one: it is that of its run."""

    row: str
    title: str
    measures: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    plots: tuple[Plot, ...] = ()
    seconds: float = 0.0
    load: tuple[float, float] = (0.0, 0.0)
    date: str = ""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of one run, with what is to be known of the machine."""

    date: str
    size: str
    machine: dict[str, str]
    versions: dict[str, str]
    rows: tuple[Result, ...]


def spread(values: Iterable[float]) -> Spread:
    """The spread of what was measured. Raises ValueError where nothing was."""
    found = sorted(values)
    if not found:
        raise ValueError("nothing was measured")
    return Spread(statistics.median(found), found[0], found[-1])


def ratios(here: Sequence[float], beside: Sequence[float]) -> Spread:
    """The spread of the ratios of what was measured in the same round."""
    return spread(value / other for value, other in zip(here, beside, strict=True))


def percentile(values: Iterable[float], share: float) -> float:
    """The value that this share (0 to 1) of all values does not exceed, by the nearest rank. Raises ValueError."""
    found = sorted(values)
    if not found:
        raise ValueError("nothing was measured")
    return found[min(len(found) - 1, max(0, -(-int(share * 1000) * len(found) // 1000) - 1))]
