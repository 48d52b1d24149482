"""Turns of many sessions at once: throughput, latency and how they grow, compared with other systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from bench.harness import LATER_S, Row, Scale, wait_for_later_work
from bench.peers import AT_ONCE, PEERS, installed
from bench.results import Line, Plot, Result, percentile, ratios, spread
from bench.rigs.processes import Process, python
from bench.workers.concurrent_sessions import EACH

OURS = "callboard"
NAMES = {OURS: "Callboard", **{name: PEERS[name][0] for name in AT_ONCE}}
#: Sessions that run at once.
WIDTHS = (1, 4, 16, 64)


@dataclass
class Rounds:
    """Measurements of a system at one width, for each round. Times are milliseconds of completed turns."""

    rates: list[float] = field(default_factory=list[float])
    middle: list[float] = field(default_factory=list[float])
    late: list[float] = field(default_factory=list[float])
    worked: list[float] = field(default_factory=list[float])
    errors: list[str] = field(default_factory=list[str])

    def add(self, answer: Mapping[str, Any]) -> None:
        """Add a round. One without a completed turn has only errors."""
        spent: list[float] = answer["spent"]
        self.errors += answer["errors"]
        if spent:
            self.rates.append(len(spent) / answer["seconds"])
            self.middle.append(percentile(spent, 0.5))
            self.late.append(percentile(spent, 0.99))
            self.worked.append(answer["worked"] / len(spent))


Measurements = dict[tuple[str, int], Rounds]
#: CPU milliseconds of each order, and between it and the order before, with the number of completed turns.
Costs = dict[str, list[tuple[float, float, int]]]
#: Label, unit, the measurements, and the goal of the ratio at the greatest width with its test.
_FIGURES: tuple[tuple[str, str, Callable[[Rounds], list[float]], str, Callable[[float], bool]], ...] = (
    ("turns per second", "turns/s", lambda rounds: rounds.rates, "ratio ≥ 1", lambda ratio: ratio >= 1),
    ("p50 of a turn", "ms", lambda rounds: rounds.middle, "", lambda ratio: True),
    ("p99 of a turn", "ms", lambda rounds: rounds.late, "ratio ≤ 1", lambda ratio: ratio <= 1),
)


async def run(scale: Scale) -> Result:
    """Run `scale.n` turns at each width."""
    peers = [name for name in AT_ONCE if scale.peers and installed(name)]
    names = [OURS, *peers]
    widths = [width for width in WIDTHS if width * EACH <= scale.n] or [1]
    measured: Measurements = {(name, width): Rounds() for name in names for width in widths}
    settings: dict[str, list[str]] = {}
    costs: Costs = {name: [] for name in names}
    async with AsyncExitStack() as stack:
        workers: dict[str, Process] = {}
        for name in names:
            folder = scale.place / name
            folder.mkdir()
            command = python("bench.workers.concurrent_sessions", name, str(folder))
            workers[name] = await stack.enter_async_context(Process(*command))
            settings[name] = await workers[name].read_line()
        for number in range(scale.rounds):
            for name in sorted(names, reverse=bool(number % 2)):
                for width in widths:
                    answer = await workers[name].ask(at_once=width, turns=max(EACH, scale.n))
                    measured[name, width].add(answer)
                    costs[name].append((answer["worked"], answer["later"], len(answer["spent"])))
                if name == OURS:
                    # Its later work must not slow the next system.
                    await wait_for_later_work()
        await wait_for_later_work()
        for name in names:
            costs[name].append((0.0, (await workers[name].ask(at_once=1, turns=0))["later"], 0))
    return Result(
        row="scale",
        title=f"{widths[-1]} sessions at once",
        measures="Each system runs in one process, on uvloop; garbage collections do not visit what its start loaded. Up "
        f"to {widths[-1]} sessions run at once, each {EACH} turns one after another; then the next sessions begin, until "
        f"{max(EACH, scale.n)} turns have ended. So each width does the same work. A turn has two model calls and one tool "
        "call, as in the row above; the model answers immediately. The time of a turn includes its wait for the "
        "others. Each system stores in one SQLite file with its own defaults, which the line below the table names. A "
        "system whose turns fail shows their number; only completed turns count. Later work is what a system does in the "
        f"{LATER_S:.0f} s after its turns: Callboard folds facts into the rows of its views when a client looks, or else "
        "some seconds later.",
        lines=tuple(lines(measured, costs, peers, widths)),
        notes=tuple(notes(scale, measured, peers, settings)),
        plots=tuple(
            Plot(
                name=name,
                title=f"Turns of sessions at once: {label}",
                x="sessions at once",
                y=unit,
                lines={
                    NAMES[system]: [
                        (float(width), spread(values(measured[system, width])).median)
                        for width in widths
                        if values(measured[system, width])
                    ]
                    for system in names
                },
                log_x=True,
                log_y=True,
            )
            for name, (label, unit, values, _, _) in (("scale-rate", _FIGURES[0]), ("scale-p99", _FIGURES[2]))
        ),
    )


def lines(measured: Measurements, costs: Costs, peers: Sequence[str], widths: Sequence[int]) -> Iterator[Line]:
    """Yield the figures. A peer with a round without a completed turn has only its failed turns."""
    widest = widths[-1]
    whole = [name for name in peers if all(_is_whole(measured, name, width) for width in widths)]
    for label, unit, values, goal, meets in _FIGURES:
        for width in widths:
            figures = {name: values(measured[name, width]) for name in (OURS, *whole)}
            aimed = goal if width == widest else ""
            yield from _compare(f"{label}, {width} at once", unit, figures, aimed, meets)
    for width in widths[1:]:
        growth = {
            name: [
                wide / narrow for wide, narrow in zip(measured[name, width].rates, measured[name, 1].rates, strict=True)
            ]
            for name in (OURS, *whole)
        }
        yield from _compare(f"turns per second, {width} at once over 1", "times", growth)
    worked = {name: measured[name, widest].worked for name in (OURS, *whole)}
    yield from _compare(f"CPU time per turn, {widest} at once", "ms", worked)
    whole_cost = {name: [_sum_cost(costs[name])] for name in (OURS, *whole)}
    yield from _compare("CPU time per turn with later work, all widths", "ms", whole_cost)
    yield from _failures(measured, peers, widths)


def _sum_cost(orders: Sequence[tuple[float, float, int]]) -> float:
    """Return the CPU milliseconds of a completed turn. What the start left over is in the first order's later work."""
    worked, later, turns = zip(*orders, strict=True)
    return (sum(worked) + sum(later[1:])) / sum(turns)


def _is_whole(measured: Measurements, name: str, width: int) -> bool:
    """Return True if the system completed turns in each round at this width."""
    return len(measured[name, width].rates) == len(measured[OURS, width].rates)


def _compare(
    label: str,
    unit: str,
    figures: Mapping[str, list[float]],
    goal: str = "",
    meets: Callable[[float], bool] = lambda ratio: True,
) -> Iterator[Line]:
    """Yield a line for each peer, or one line without any."""
    ours = figures[OURS]
    if len(figures) == 1:
        yield Line(label=label, unit=unit, value=spread(ours))
    for name, theirs in figures.items():
        if name != OURS:
            ratio = ratios(ours, theirs)
            yield Line(
                label=label,
                unit=unit,
                value=spread(ours),
                baseline_name=NAMES[name],
                baseline=spread(theirs),
                ratio=ratio,
                goal=goal,
                met=meets(ratio.median) if goal else None,
            )


def _failures(measured: Measurements, peers: Sequence[str], widths: Sequence[int]) -> Iterator[Line]:
    def failed(name: str) -> int:
        return sum(len(measured[name, width].errors) for width in widths)

    label, ours = "failed turns, all widths", spread([failed(OURS)])
    yield Line(label=label, unit="turns", value=ours, goal="= 0", met=failed(OURS) == 0)
    for name in peers:
        yield Line(label=label, unit="turns", value=ours, baseline_name=NAMES[name], baseline=spread([failed(name)]))


def notes(
    scale: Scale, measured: Measurements, peers: Sequence[str], settings: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield the settings of the stores, and an error of each system with failed turns."""
    stores = [f"{NAMES[name]} journal_mode={mode}, synchronous={level}" for name, (mode, level) in settings.items()]
    yield f"Stores: {'; '.join(stores)}."
    for name in AT_ONCE:
        if scale.peers and name not in peers:
            yield f"{NAMES[name]} is not installed."
    for name in settings:
        errors = [error for (system, _), rounds in measured.items() if system == name for error in rounds.errors]
        if errors:
            yield f"An error of {NAMES[name]}: {errors[0][:200]}"


ROW = Row(
    name="scale",
    counts="turns at each width",
    n={"tiny": 12, "quick": 192, "full": 768},
    rounds={"tiny": 1, "quick": 3, "full": 9},
    run=run,
)
