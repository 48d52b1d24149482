"""A durable turn of two model calls and one tool, beside the same turn of others."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, closing
from itertools import pairwise
from pathlib import Path

from bench import conversation
from bench.harness import Row, Scale
from bench.peers import PEERS, installed
from bench.processes import Process, counting_syncs, python, syncs
from bench.results import Line, Plot, Result, Spread, ratios, spread

OURS = "callboard"
PLAIN = "callboard_plain"
NAMES = {
    OURS: "Callboard",
    PLAIN: "Callboard with a plain function as tool",
    **{key: name for key, (name, _) in PEERS.items()},
}
MOST_SYNCS = 4
#: What counts as the same time, the noise of a shared machine allowed for.
FLAT = 1.25
#: Turns of the kept session at which the time is told, as far as the run goes. It is the median of so many turns up to there.
AT = (1, 50, 100, 200, 500, 1000)
WINDOW = 10
#: How many turns a system takes before the next has its go.
CHUNK = 25
PEERS_GO_TO = 200
NEW_EACH = 5
COUNTED_TURNS = 5


async def run(scale: Scale) -> Result:
    """`scale.n` turns of one session of ours; the others take as many, at most 200."""
    peers = [name for name in PEERS if scale.peers and installed(name)]
    names = [OURS, PLAIN, *peers]
    async with AsyncExitStack() as stack:
        workers = {
            name: await stack.enter_async_context(Process(*python("bench.worker", name, _folder(scale, name))))
            for name in names
        }
        for worker in workers.values():
            await worker.told()
        new, worked = await _new_sessions(workers, scale.rounds)
        kept, disk = await _one_session({name: workers[name] for name in names if name != PLAIN}, scale)
        pace = await _pace(workers[OURS], scale.rounds)
    # How many there are does not depend on how fast they are: all at the same time.
    counted = dict(zip(names, await asyncio.gather(*(_syncs(scale, name) for name in names)), strict=True))
    return Result(
        row="turn",
        title="A durable turn: 2 model calls, 1 tool, model without latency",
        measures=f"Each system in a process of its own, in its durable configuration on SQLite, takes turns of "
        f"{conversation.BYTES} B content with a model in the process that answers at once. The model is given the whole "
        "conversation. Callboard runs the real Read tool behind its gate; the others, and Callboard in a line of its own, call "
        "a function. Syncs are counted by strace in another run; disk is what the files grow by, write-ahead logs emptied.",
        lines=tuple(_lines(names, new, worked, kept, disk, counted, pace)),
        notes=tuple(f"{NAMES[name]} is not installed." for name in PEERS if scale.peers and name not in peers),
        plots=(
            Plot(
                name="turn",
                title="One session, turn after turn",
                x="turn",
                y="ms (median of 10)",
                lines={NAMES[name]: _smooth(found) for name, found in kept.items()},
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
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Milliseconds, and milliseconds of the processor, of a first turn, for each round."""
    found: dict[str, list[float]] = {name: [] for name in workers}
    worked: dict[str, list[float]] = {name: [] for name in workers}
    for number in range(rounds):
        for name in sorted(workers, reverse=bool(number % 2)):
            told = await workers[name].ask(new=NEW_EACH)
            found[name].append(spread(told["spent"]).median)
            worked[name].append(told["worked"] / NEW_EACH)
    return found, worked


async def _one_session(workers: dict[str, Process], scale: Scale) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Milliseconds of each turn of the kept session, and the bytes a turn that the disk got at the end."""
    found: dict[str, list[float]] = {name: [] for name in workers}
    grown: dict[str, list[tuple[int, int]]] = {name: [] for name in workers}
    for start in range(0, scale.n, CHUNK):
        for name in sorted(workers, reverse=bool(start // CHUNK % 2)):
            if name in PEERS and start >= PEERS_GO_TO:
                continue
            grown[name].append((start, _disk(scale.place / name)))
            found[name] += (await workers[name].ask(more=min(CHUNK, scale.n - start)))["spent"]
    disk: dict[str, float] = {}
    for name, sizes in grown.items():
        sizes.append((len(found[name]), _disk(scale.place / name)))
        (before, small), (after, large) = list(pairwise(sizes))[-1]
        disk[name] = (large - small) / (after - before)
    return found, disk


async def _pace(worker: Process, rounds: int) -> tuple[list[float], list[float]]:
    """How many milliseconds the processor works for a turn of the kept session, and in turn for one of a young one."""
    old: list[float] = []
    young: list[float] = []
    for _ in range(rounds + 1):
        young.append((await worker.ask(more=CHUNK, of=1))["worked"] / CHUNK)
        old.append((await worker.ask(more=CHUNK))["worked"] / CHUNK)
    # In the first round the young session is made.
    return old[1:], young[1:]


def _disk(folder: Path) -> int:
    """The bytes of the databases once their write-ahead logs are in them."""
    size = 0
    for path in folder.rglob("*.db"):
        with closing(sqlite3.connect(path, timeout=10)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        size += path.stat().st_size
    return size


async def _syncs(scale: Scale, name: str) -> tuple[float, float] | None:
    """Syncs of a new session's first turn, and of a turn of one that is there; None where there is no strace."""
    trace = scale.place / f"{name}.trace"
    folder = scale.place / f"{name}-traced"
    folder.mkdir()
    command = counting_syncs(trace, python("bench.worker", name, str(folder)))
    if command is None:
        return None
    async with Process(*command) as worker:
        await worker.told()
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
    kept: dict[str, list[float]],
    disk: dict[str, float],
    counted: dict[str, tuple[float, float] | None],
    pace: tuple[list[float], list[float]],
) -> Iterator[Line]:
    others = [name for name in names if name != OURS]
    yield Line(what="new session", unit="ms", here=spread(new[OURS]))
    for name in others:
        yield _beside("new session", "ms", name, spread(new[OURS]), spread(new[name]), ratios(new[OURS], new[name]))
    for name in others:
        ratio = ratios(worked[OURS], worked[name])
        yield _beside(
            "new session, processor", "ms", name, spread(worked[OURS]), spread(worked[name]), ratio, goal=False
        )
    reached = len(kept[OURS])
    for turn in [turn for turn in AT if turn <= reached]:
        ours = _at(kept[OURS], turn)
        rivals = {name: _at(kept[name], turn) for name in others if turn <= len(kept.get(name, ()))}
        for name, beside in rivals.items():
            yield _beside(f"turn {turn} of one session", "ms", name, ours, beside, _over(ours, beside))
        if not rivals:
            yield Line(what=f"turn {turn} of one session", unit="ms", here=ours)
    old, young = pace
    flat = ratios(old, young)
    yield Line(
        what=f"processor a turn, after {reached} turns",
        unit="ms",
        here=spread(old),
        beside_name=f"after {CHUNK}",
        beside=spread(young),
        ratio=flat,
        goal=f"ratio ≤ {FLAT}",
        met=flat.median <= FLAT,
    )
    for name in [name for name in names if name != PLAIN]:
        found = counted[name]
        for what, count in zip(("new session", "session that is there"), found or (), strict=False):
            yield Line(
                what=f"syncs a turn, {what}: {NAMES[name]}",
                unit="syncs",
                here=_one(count),
                goal=f"≤ {MOST_SYNCS}" if name == OURS else "",
                met=count <= MOST_SYNCS if name == OURS else None,
            )
    for name, size in disk.items():
        yield Line(what=f"disk a turn, at {len(kept[name])}: {NAMES[name]}", unit="B", here=_one(size))


def _beside(what: str, unit: str, name: str, here: Spread, beside: Spread, ratio: Spread, *, goal: bool = True) -> Line:
    aimed = goal and name in PEERS
    return Line(
        what=what,
        unit=unit,
        here=here,
        beside_name=NAMES[name],
        beside=beside,
        ratio=ratio,
        goal="ratio < 1" if aimed else "",
        met=ratio.median < 1 if aimed else None,
    )


def _one(value: float) -> Spread:
    return Spread(value, value, value)


def _at(found: Sequence[float], turn: int) -> Spread:
    return spread(found[max(0, turn - WINDOW) : turn])


def _over(one: Spread, other: Spread) -> Spread:
    """The ratio of two medians; its bounds are those that the spreads allow."""
    return Spread(one.median / other.median, one.low / other.high, one.high / other.low)


def _smooth(found: Sequence[float]) -> list[tuple[float, float]]:
    ends = sorted({1, 2, 5, *range(WINDOW, len(found) + 1, WINDOW), len(found)})
    return [(float(end), _at(found, end).median) for end in ends if end <= len(found)]


ROW = Row(
    name="turn",
    counts="turns of one session",
    n={"tiny": 6, "quick": 1000, "full": 1000},
    rounds={"tiny": 1, "quick": 4, "full": 15},
    run=run,
)
