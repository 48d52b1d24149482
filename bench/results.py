"""Figures of a row with their spread and their baseline."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

import msgspec


class Spread(msgspec.Struct, frozen=True):
    """A median, with the minimum and maximum of the measurements."""

    median: float
    low: float
    high: float


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A figure. `ratio` is `value` divided by `baseline` within each round. `goal` is the target;
    `met` is None without one."""

    label: str
    unit: str
    value: Spread
    baseline_name: str = ""
    baseline: Spread | None = None
    ratio: Spread | None = None
    goal: str = ""
    met: bool | None = None


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a plot, as points (x, y)."""

    name: str
    title: str
    x: str
    y: str
    lines: dict[str, list[tuple[float, float]]]
    log_x: bool = False
    log_y: bool = False


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A row. `measures` describes the measurement, `notes` this run. An empty `date` means the date of the run."""

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
    """All rows of a run, with the machine and the versions."""

    date: str
    size: str
    machine: dict[str, str]
    versions: dict[str, str]
    rows: tuple[Result, ...]


def spread(values: Iterable[float]) -> Spread:
    """Return the spread of the measurements. Raises ValueError without any."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("nothing was measured")
    return Spread(statistics.median(ordered), ordered[0], ordered[-1])


def ratios(values: Sequence[float], baseline: Sequence[float]) -> Spread:
    """Return the spread of the ratios within each round."""
    return spread(value / other for value, other in zip(values, baseline, strict=True))


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value that this share (0 to 1) of the values does not exceed, by nearest rank. Raises ValueError."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("nothing was measured")
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1))]
