"""A durable turn of two model calls and one tool call, compared with other systems."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, closing
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from bench.harness import LATER_S, Row, Scale, wait_for_later_work
from bench.peers import PEERS, installed
from bench.results import Line, Plot, Result, Spread, ratios, spread
from bench.rigs import conversation
from bench.rigs.processes import Process, counting_syncs, python, syncs

OURS = "callboard"
PLAIN = "callboard_plain"
NAMES = {
    OURS: "Callboard",
    PLAIN: "Callboard with a plain function as tool",
    **{key: name for key, (name, _) in PEERS.items()},
}
MAX_SYNCS = 4
#: Ratio up to which two times count as equal, given the noise of a shared machine.
FLAT = 1.25
#: Turns of the long session at which the time is reported, as the median of the given number of turns before.
AT = (1, 50, 100, 200, 500, 1000)
WINDOW = 10
#: Turns of a system before the next system runs.
CHUNK = 25
PEERS_GO_TO = 200
NEW_EACH = 5
COUNTED_TURNS = 5


async def run(scale: Scale) -> Result:
    """Run `scale.n` turns of one session; other systems run at most 200."""
    peers = [name for name in PEERS if scale.peers and installed(name)]
    names = [OURS, PLAIN, *peers]
    async with AsyncExitStack() as stack:
        workers = {
            name: await stack.enter_async_context(Process(*python("bench.workers.turns", name, _folder(scale, name))))
            for name in names
        }
        for worker in workers.values():
            await worker.read_line()
        new, worked, worked_all = await _new_sessions(workers, scale.rounds)
        long_session, disk = await _one_session({name: workers[name] for name in names if name != PLAIN}, scale)
        pace = await _pace(workers[OURS], scale.rounds)
    # Syncs do not depend on speed, so all systems run in parallel.
    counted = dict(zip(names, await asyncio.gather(*(_syncs(scale, name) for name in names)), strict=True))
    return Result(
        row="turn",
        title="A durable turn with 2 model calls and 1 tool call",
        measures="Each system runs in its own process, on uvloop, in its durable configuration on SQLite. Garbage "
        f"collections do not visit what its start loaded. A turn has {conversation.BYTES} B of content. The model runs in "
        "the process, answers immediately and receives the whole conversation. Callboard runs the real Read tool behind "
        "its gate. The peers call a function; a separate line shows Callboard with a function. strace counts the syncs in "
        "another run. A turn after a pause, not counted here, also syncs the header of the emptied log. Disk is the growth "
        "of the files after a checkpoint of the write-ahead logs. Later work is what a system does in the "
        f"{LATER_S:.0f} s after its turns: Callboard folds facts into the rows of its views when a client looks, or else "
        "some seconds later.",
        lines=tuple(_lines(names, new, worked, worked_all, long_session, disk, counted, pace)),
        notes=tuple(f"{NAMES[name]} is not installed." for name in PEERS if scale.peers and name not in peers),
        plots=(
            Plot(
                name="turn",
                title="Turns of one session",
                x="turn",
                y="ms (median of 10)",
                lines={NAMES[name]: _smooth(times) for name, times in long_session.items()},
                log_x=True,
                log_y=True,
            ),
        ),
    )


def _folder(scale: Scale, name: str) -> str:
    folder = scale.place / name
    folder.mkdir(parents=True)
    return str(folder)


async def _new_sessions(
    workers: dict[str, Process], rounds: int
) -> tuple[dict[str, list[float]], dict[str, list[float]], dict[str, float]]:
    """Return milliseconds and CPU milliseconds of a first turn for each round, and the latter with later work."""
    times: dict[str, list[float]] = {name: [] for name in workers}
    worked: dict[str, list[float]] = {name: [] for name in workers}
    later = dict.fromkeys(workers, 0.0)
    for number in range(rounds):
        for name in sorted(workers, reverse=bool(number % 2)):
            answer = await workers[name].ask(new=NEW_EACH)
            times[name].append(spread(answer["spent"]).median)
            worked[name].append(answer["worked"] / NEW_EACH)
            later[name] += answer["later"] if number else 0.0
    await wait_for_later_work()
    for name, worker in workers.items():
        later[name] += (await worker.ask(new=0))["later"]
    return times, worked, {name: fmean(worked[name]) + later[name] / NEW_EACH / rounds for name in workers}


async def _one_session(workers: dict[str, Process], scale: Scale) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the milliseconds of each turn of a long session, and its bytes per turn on disk."""
    times: dict[str, list[float]] = {name: [] for name in workers}
    grown: dict[str, list[tuple[int, int]]] = {name: [] for name in workers}
    for start in range(0, scale.n, CHUNK):
        for name in sorted(workers, reverse=bool(start // CHUNK % 2)):
            if name in PEERS and start >= PEERS_GO_TO:
                continue
            grown[name].append((start, _disk(scale.place / name)))
            times[name] += (await workers[name].ask(more=min(CHUNK, scale.n - start)))["spent"]
    disk: dict[str, float] = {}
    for name, sizes in grown.items():
        sizes.append((len(times[name]), _disk(scale.place / name)))
        (before, small), (after, large) = list(pairwise(sizes))[-1]
        disk[name] = (large - small) / (after - before)
    return times, disk


async def _pace(worker: Process, rounds: int) -> tuple[list[float], list[float]]:
    """Return CPU milliseconds of a turn of the long session and, alternating, of a new one."""
    old: list[float] = []
    young: list[float] = []
    for _ in range(rounds + 1):
        young.append((await worker.ask(more=CHUNK, of=1))["worked"] / CHUNK)
        old.append((await worker.ask(more=CHUNK))["worked"] / CHUNK)
    # The first round creates the new session.
    return old[1:], young[1:]


def _disk(folder: Path) -> int:
    """Return the bytes of the databases after a checkpoint."""
    size = 0
    for path in folder.rglob("*.db"):
        with closing(sqlite3.connect(path, timeout=10)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        size += path.stat().st_size
    return size


async def _syncs(scale: Scale, name: str) -> tuple[float, float] | None:
    """Return the syncs of a new session's first turn and of a later turn; None without strace."""
    trace = scale.place / f"{name}.trace"
    folder = scale.place / f"{name}-traced"
    folder.mkdir()
    command = counting_syncs(trace, python("bench.workers.turns", name, str(folder)))
    if command is None:
        return None
    async with Process(*command) as worker:
        await worker.read_line()
        # The start leaves a checkpoint for later. The first commit after it also syncs the header of the emptied log.
        await wait_for_later_work()
        await worker.ask(new=1)
        before = syncs(trace)
        await worker.ask(new=COUNTED_TURNS)
        between = syncs(trace)
        await worker.ask(more=1)
        after = syncs(trace)
        await worker.ask(more=COUNTED_TURNS)
        return (between - before) / COUNTED_TURNS, (syncs(trace) - after) / COUNTED_TURNS


def _lines(
    names: Sequence[str],
    new: dict[str, list[float]],
    worked: dict[str, list[float]],
    worked_all: dict[str, float],
    long_session: dict[str, list[float]],
    disk: dict[str, float],
    counted: dict[str, tuple[float, float] | None],
    pace: tuple[list[float], list[float]],
) -> Iterator[Line]:
    others = [name for name in names if name != OURS]
    yield Line(label="first turn of a session", unit="ms", value=spread(new[OURS]))
    for name in others:
        yield _compare(
            "first turn of a session", "ms", name, spread(new[OURS]), spread(new[name]), ratios(new[OURS], new[name])
        )
    for name in others:
        ratio = ratios(worked[OURS], worked[name])
        yield _compare(
            "first turn of a session, CPU time",
            "ms",
            name,
            spread(worked[OURS]),
            spread(worked[name]),
            ratio,
            goal=False,
        )
    for name in others:
        here, baseline = spread([worked_all[OURS]]), spread([worked_all[name]])
        label = "first turn of a session, CPU time with later work"
        yield _compare(label, "ms", name, here, baseline, _over(here, baseline), goal=False)
    reached = len(long_session[OURS])
    for turn in [turn for turn in AT if turn <= reached]:
        ours = _at(long_session[OURS], turn)
        rivals = {name: _at(long_session[name], turn) for name in others if turn <= len(long_session.get(name, ()))}
        for name, baseline in rivals.items():
            yield _compare(f"turn {turn} of one session", "ms", name, ours, baseline, _over(ours, baseline))
        if not rivals:
            yield Line(label=f"turn {turn} of one session", unit="ms", value=ours)
    old, young = pace
    flat = ratios(old, young)
    yield Line(
        label=f"CPU time per turn, after {reached} turns",
        unit="ms",
        value=spread(old),
        baseline_name=f"after {CHUNK} turns",
        baseline=spread(young),
        ratio=flat,
        goal=f"ratio ≤ {FLAT}",
        met=flat.median <= FLAT,
    )
    for name in [name for name in names if name != PLAIN]:
        counts = counted[name]
        for label, count in zip(("new session", "existing session"), counts or (), strict=False):
            yield Line(
                label=f"syncs per turn, {label}: {NAMES[name]}",
                unit="syncs",
                value=spread([count]),
                goal=f"≤ {MAX_SYNCS}" if name == OURS else "",
                met=count <= MAX_SYNCS if name == OURS else None,
            )
    for name, size in disk.items():
        yield Line(
            label=f"disk per turn, after {len(long_session[name])} turns: {NAMES[name]}", unit="B", value=spread([size])
        )


def _compare(
    label: str, unit: str, name: str, here: Spread, baseline: Spread, ratio: Spread, *, goal: bool = True
) -> Line:
    aimed = goal and name in PEERS
    return Line(
        label=label,
        unit=unit,
        value=here,
        baseline_name=NAMES[name],
        baseline=baseline,
        ratio=ratio,
        goal="ratio < 1" if aimed else "",
        met=ratio.median < 1 if aimed else None,
    )


def _at(times: Sequence[float], turn: int) -> Spread:
    return spread(times[max(0, turn - WINDOW) : turn])


def _over(left: Spread, right: Spread) -> Spread:
    """Return the ratio of two medians, with the bounds that the spreads allow."""
    return Spread(left.median / right.median, left.low / right.high, left.high / right.low)


def _smooth(times: Sequence[float]) -> list[tuple[float, float]]:
    ends = sorted({1, 2, 5, *range(WINDOW, len(times) + 1, WINDOW), len(times)})
    return [(float(end), _at(times, end).median) for end in ends if end <= len(times)]


ROW = Row(
    name="turn",
    counts="turns of one session",
    n={"tiny": 6, "quick": 1000, "full": 1000},
    rounds={"tiny": 1, "quick": 4, "full": 15},
    run=run,
)
