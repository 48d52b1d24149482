"""The one thread that writes to a file. Whatever waits goes into one transaction, and is acknowledged after its commit."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ...contracts.errors import Refusal
from .failures import is_fatal, to_refusal, unusable

T = TypeVar("T")

#: After so many seconds without work the thread tidies up, with a pause between the bites, and then sleeps until there
#: is work.
IDLE = 1.0
PAUSE = 0.005
#: How long work that says that more follows waits for it, in seconds. It comes at once; this is for where it does not.
LINGER = 0.02
#: How many pages one bite gives back to the file system.
BITE = 256
#: While busy, the free pages are looked at after so many transactions, and given back beyond so many.
LOOK_EVERY = 256
SPARE_PAGES = 2048
#: How long tidying up waits for a reader, in milliseconds.
PATIENCE = 100


class Work(Generic[T]):
    """One thing to do within a transaction.

    `run` may raise a Refusal before it writes; whatever it raises later undoes it. It may be run again where a
    transaction is undone because of other work. `after` is called in the event loop once the result is durable,
    whether or not somebody still waits for it. With `scrub` no former content is left in the write-ahead log either. With
    `followed` other work comes right behind it, and both go into one transaction.
    """

    __slots__ = ("after", "followed", "future", "loop", "run", "scrub", "settled")

    def __init__(
        self,
        run: Callable[[sqlite3.Connection], T],
        after: Callable[[T], None] | None = None,
        *,
        scrub: bool = False,
        followed: bool = False,
    ) -> None:
        self.run = run
        self.after = after
        self.scrub = scrub
        self.followed = followed
        self.settled = False
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T] = self.loop.create_future()

    def settle(self, outcome: T | BaseException) -> None:
        """Tells the outcome; in the event loop. Only the first counts."""
        if self.settled:
            return
        self.settled = True
        failed = isinstance(outcome, BaseException)
        if not self.future.done():
            if failed:
                self.future.set_exception(outcome)
            else:
                self.future.set_result(outcome)
        if self.after is not None and not failed:
            self.after(outcome)


class Hooks(Protocol):
    """What a file's keeper does around its transactions, in the writer's thread."""

    def begin(self, connection: sqlite3.Connection) -> None: ...

    def ending(self, connection: sqlite3.Connection) -> None: ...

    def reset(self) -> None: ...

    def do_idle_work(self, connection: sqlite3.Connection) -> bool:
        """Does a bite of work that can wait; True where there is more."""
        ...


class _Done(NamedTuple):
    """What became of a transaction: an outcome for each work. `alone` says that each should be tried in one of its own."""

    outcomes: list[Any]
    alone: bool = False


class Writer:
    """A thread with a connection of its own. Work is done in the order in which it comes."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: str,
        hooks: Hooks,
        damaged: Callable[[], None] | None = None,
    ) -> None:
        """`damaged` is called in the thread where the file turns out to be."""
        self._connection = connection
        self._damaged = damaged
        self._path = path
        self._hooks = hooks
        self._queue: queue.SimpleQueue[Work[Any] | None] = queue.SimpleQueue()
        self._closed = False
        self._broken: Refusal | None = None
        self._transactions = 0
        self._thread = threading.Thread(target=self._work, name=f"writer of {path}", daemon=True)
        self._thread.start()

    def submit(
        self,
        run: Callable[[sqlite3.Connection], T],
        after: Callable[[T], None] | None = None,
        *,
        scrub: bool = False,
        followed: bool = False,
    ) -> asyncio.Future[T]:
        """Accepts work; the future has its result once it is durable. Raises Refusal `store_unusable` after `close`.

        Work that was accepted is done even if nobody waits for it any more.
        """
        if self._closed:
            raise unusable(self._path, "it has been closed")
        work = Work(run, after, scrub=scrub, followed=followed)
        self._queue.put(work)
        return work.future

    async def close(self) -> None:
        """Does what was accepted, leaves the file without a write-ahead log, and ends the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        pause: float | None = IDLE
        while True:
            group, last = self._wait(pause)
            if group:
                self._commit(group)
                pause = IDLE
            if last:
                break
            if not group:
                pause = self._tidy()
        with contextlib.suppress(sqlite3.Error):
            self._checkpoint()
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def _wait(self, pause: float | None) -> tuple[list[Work[Any]], bool]:
        """Everything that waits, and whether it is the last. Nothing where there is none within `pause` seconds."""
        group: list[Work[Any]] = []
        try:
            work = self._queue.get(timeout=pause)
            while work is not None:
                group.append(work)
                work = self._queue.get(timeout=LINGER if work.followed else 0)
        except queue.Empty:
            return group, False
        return group, True

    def _commit(self, group: Sequence[Work[Any]]) -> None:
        done = self._attempt(group)
        if done.alone:
            for work in group:
                self._commit([work])
            return
        if any(work.scrub for work in group):
            with contextlib.suppress(sqlite3.Error):
                self._checkpoint()
        self._tell(group, done.outcomes)
        self._transactions += 1
        if self._transactions % LOOK_EVERY == 0:
            with contextlib.suppress(sqlite3.Error):
                self._give_back(SPARE_PAGES)

    def _attempt(self, group: Sequence[Work[Any]]) -> _Done:
        connection = self._connection
        outcomes: list[Any] = []
        begun = False
        try:
            if self._broken is not None:
                raise self._broken
            connection.execute("BEGIN IMMEDIATE")
            begun = True
            self._hooks.begin(connection)
            for work in group:
                changes = connection.total_changes
                try:
                    outcomes.append(work.run(connection))
                except Refusal as refusal:
                    if connection.total_changes != changes:
                        raise
                    outcomes.append(refusal)
            self._hooks.ending(connection)
            connection.execute("COMMIT")
        except Exception as error:
            undoing = self._undo(error)
            # One of several cannot be written, and SQLite may have undone all of them: each then stands or falls alone.
            return _Done([undoing] * len(group), begun and len(group) > 1 and self._broken is None)
        return _Done(outcomes)

    def _undo(self, error: Exception) -> Exception:
        if self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
        self._hooks.reset()
        if not isinstance(error, sqlite3.Error):
            return error
        refusal = to_refusal(error, self._path)
        if is_fatal(error):
            # Whether the last commit is on the disk is unknown now; only opening the store again can tell.
            self._broken = refusal
            if self._damaged is not None:
                self._damaged()
        return refusal

    def _tell(self, group: Sequence[Work[Any]], outcomes: Sequence[Any]) -> None:
        """Settles all works with one call into the event loop. A loop that is closed has nobody left to tell."""

        def settle() -> None:
            for work, outcome in zip(group, outcomes, strict=True):
                work.settle(outcome)

        with contextlib.suppress(RuntimeError):
            group[0].loop.call_soon_threadsafe(settle)

    def _tidy(self) -> float | None:
        """A bite of what can wait. Returns the pause before the next, or None where all is tidy."""
        if self._broken is not None:
            return None
        try:
            if self._hooks.do_idle_work(self._connection) or self._give_back(0):
                return PAUSE
            return None if self._checkpoint() else IDLE
        except sqlite3.Error as error:
            self._undo(error)
            return None

    def _give_back(self, spare: int) -> bool:
        (free,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        if free > spare:
            # A script, because it steps to the end: `execute` would stop after the first page.
            self._connection.executescript(f"PRAGMA incremental_vacuum({BITE})")
        return free - BITE > spare

    def _checkpoint(self) -> bool:
        """Copies the write-ahead log into the file and empties it. False where a reader stands in the way."""
        self._connection.execute(f"PRAGMA busy_timeout = {PATIENCE}").fetchall()
        try:
            (busy, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self._connection.execute("PRAGMA busy_timeout = 5000").fetchall()
        return busy == 0
