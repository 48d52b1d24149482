"""Process that counts the work of turns: `python -m bench.workers.turn_counts FOLDER TURNS [FLAMES]`.

It prints the counts of a turn in a new session and of a turn in an existing one, as JSON. Counts do not depend on the machine
or its load, so they show a regression that times would hide. With FLAMES, a file name, it then runs as many turns again and
writes a page that shows where their time goes.
"""

from __future__ import annotations

import asyncio
import cProfile
import gc
import importlib
import json
import os
import selectors
import sqlite3
import sys
from asyncio import base_events
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import CodeType
from typing import Any, ParamSpec, TypeVar

import msgspec

from bench.flames import decode, page
from bench.machine import settle
from bench.rigs.board import Peer
from callboard.control import evolve
from callboard.log.sqlite.writer import Writer
from callboard.projection.view import SessionView
from callboard.runtime.prompts.run_config import RunConfigBuilder
from callboard.secrets.matcher import Matcher

#: Turns before counting begins: modules are loaded, statements prepared and caches filled.
WARM_UP = 5
#: Seconds between two samples of the drawn turns.
SAMPLE_SECONDS = 0.0005
#: Events of the interpreter that open a file or a folder.
_OPENS = frozenset({"open", "os.listdir", "os.scandir"})
P = ParamSpec("P")
T = TypeVar("T")
_COUNTED: dict[str, Callable[..., Any]] = {
    "commits": Writer.submit,
    "hops": base_events.BaseEventLoop.run_in_executor,
    "folds": evolve.apply,
    "view_folds": SessionView.apply,
    "scans": Matcher._search,
    "configurations": RunConfigBuilder.build,
}


class TurnCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The work of a mean turn.

    Attributes:
        iterations: Iterations of the event loop.
        tasks: New tasks.
        commits: Units of work for the writers' threads, also of the views.
        hops: Calls in other threads: reads of the store, and the gate and tools that read files.
        folds: Facts folded into the state that decides.
        view_folds: Facts folded into rows.
        scans: Searches for secrets.
        configurations: Configurations of runs that were built.
        opens: Files and folders opened in all threads, except by SQLite.
        stats: Reads of the state of a file, in all threads.
        statements: SQL statements in all threads, including the start and the end of transactions.
        calls: Calls of Python and native functions in the loop's thread.
    """

    iterations: float
    tasks: float
    commits: float
    hops: float
    folds: float
    view_folds: float
    scans: float
    configurations: float
    opens: float
    stats: float
    statements: float
    calls: float


#: The most that a turn may take. A change that needs more gives the reason here; one that needs less lowers it. Some counts
#: have room for one more, and calls for a few, because a busy machine changes their order: results of threads and pieces of an
#: answer arrive one at a time (iterations, scans), and the writer's thread tidies when it has nothing to do (statements).
BUDGETS = {
    "new": TurnCounts(
        iterations=23,
        tasks=7,
        commits=5,
        hops=2,
        folds=20,
        view_folds=0,
        scans=15,
        configurations=1,
        opens=6,
        stats=7,
        statements=39,
        calls=4900,
    ),
    "more": TurnCounts(
        iterations=19,
        tasks=4,
        commits=4,
        hops=2,
        folds=17,
        view_folds=0,
        scans=15,
        configurations=1,
        opens=5,
        stats=6,
        statements=34,
        calls=4300,
    ),
}


class InputOutput:
    """Counts of the process's work with files and with SQLite, in all threads. Counting cannot be ended."""

    def __init__(self) -> None:
        # Appending is atomic, adding to a number is not.
        self.opens: list[None] = []
        self.stats: list[None] = []
        self.statements: list[None] = []
        os.stat, os.lstat = self._counting(os.stat), self._counting(os.lstat)
        sqlite3.connect = self._tracing(sqlite3.connect)
        sys.addaudithook(self._audit)

    def read(self) -> dict[str, int]:
        """Return the counts so far."""
        return {"opens": len(self.opens), "stats": len(self.stats), "statements": len(self.statements)}

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _OPENS:
            self.opens.append(None)

    def _tracing(self, connect: Callable[P, sqlite3.Connection]) -> Callable[P, sqlite3.Connection]:
        def connected(*arguments: P.args, **named: P.kwargs) -> sqlite3.Connection:
            connection = connect(*arguments, **named)
            connection.set_trace_callback(lambda _: self.statements.append(None))
            return connection

        return connected

    def _counting(self, function: Callable[P, T]) -> Callable[P, T]:
        def counted(*arguments: P.args, **named: P.kwargs) -> T:
            self.stats.append(None)
            return function(*arguments, **named)

        return counted


class CountingSelector(selectors.DefaultSelector):
    """A selector that counts the loop's iterations."""

    iterations = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.iterations += 1
        return super().select(timeout)


async def count(
    turns: int, run_turn: Callable[[int], Coroutine[Any, Any, None]], selector: CountingSelector, work: InputOutput
) -> TurnCounts:
    """Return the counts of a mean turn over `turns` turns, called with their numbers."""
    loop = asyncio.get_running_loop()
    tasks = 0

    def create_task(loop: asyncio.AbstractEventLoop, work: Any, **named: Any) -> asyncio.Task[Any]:
        nonlocal tasks
        tasks += 1
        return asyncio.Task(work, loop=loop, **named)

    profiler = cProfile.Profile()
    before, worked = selector.iterations, work.read()
    loop.set_task_factory(create_task)
    profiler.enable()
    for number in range(turns):
        await run_turn(number)
    profiler.disable()
    loop.set_task_factory(None)
    iterations = (selector.iterations - before) / turns
    files = {name: (number - worked[name]) / turns for name, number in work.read().items()}
    calls: dict[CodeType, int] = {}
    total = 0
    for entry in profiler.getstats():
        total += entry.callcount
        if isinstance(entry.code, CodeType):
            calls[entry.code] = entry.callcount
    counted = {name: calls.get(function.__code__, 0) / turns for name, function in _COUNTED.items()}
    return TurnCounts(iterations=iterations, tasks=tasks / turns, calls=total / turns, **files, **counted)


async def work(folder: Path, turns: int, selector: CountingSelector, flames: Path | None) -> dict[str, TurnCounts]:
    """Return the counts of a turn in a new session and in an existing one."""
    # Without a client, facts become rows after a time, which would make the counts depend on the machine.
    files = InputOutput()
    peer = Peer(fold_behind=3600.0, write_behind=3600.0)
    await peer.open(folder)
    for number in range(WARM_UP):
        await peer.turn(f"warm-up-{number}")
    settle()
    new = await count(turns, lambda number: peer.turn(f"new-{number}"), selector, files)
    more = await count(turns, lambda number: peer.turn("warm-up-0"), selector, files)
    if flames is not None:
        await draw_flames(turns, peer, flames)
    await peer.close()
    return {"new": new, "more": more}


async def draw_flames(turns: int, peer: Peer, flames: Path) -> None:
    """Write a page with the time of each function of the loop's thread in `turns` turns of new sessions."""
    # Only the benchmarks install it, so the type checker cannot see it.
    pyinstrument = importlib.import_module("pyinstrument")
    # A collection would be the time of the function that it interrupts.
    gc.disable()
    with pyinstrument.Profiler(interval=SAMPLE_SECONDS, async_mode="disabled") as profiler:
        for number in range(turns):
            await peer.turn(f"drawn-{number}")
    gc.enable()
    drawn = page(decode(profiler.last_session.frame_records), turns)
    await asyncio.to_thread(flames.write_text, drawn, "utf-8")


def main(folder: Path, turns: int, flames: Path | None = None) -> dict[str, TurnCounts]:
    """Run the turns. The loop is asyncio's, because uvloop does not count its iterations."""
    selector = CountingSelector()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        return runner.run(work(folder, turns, selector, flames))


if __name__ == "__main__":
    counts = main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
    print(json.dumps(msgspec.to_builtins(counts)))
