"""The writer thread of a file: one transaction for all queued work, acknowledged after the commit."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from ...contracts.errors import Refusal
from .failures import build_unusable_refusal, is_fatal, to_refusal

T = TypeVar("T")

#: Seconds without work before the housekeeping starts, and between two of its steps.
IDLE = 1.0
PAUSE = 0.005
#: Seconds to wait for work that the queued work announced.
LINGER = 0.02
#: Pages that one housekeeping step returns to the file system.
VACUUM_PAGES = 256
#: Transactions between two checks of a busy file, and the free pages that a check keeps.
CHECK_EVERY = 256
SPARE_PAGES = 2048
#: Milliseconds that a checkpoint waits for a reader.
CHECKPOINT_TIMEOUT = 100


class Work(Generic[T]):
    """Work within a transaction.

    Attributes:
        run: Does the work. A Refusal before its first write affects this work only. It runs again if other work of its
            transaction fails.
        after: Called in the event loop once the result is durable.
        scrub: Whether the write-ahead log is emptied afterwards, so that no former content is left.
        followed: Whether more work for the same transaction arrives immediately.
        brief: Whether it takes less time than a commit. Unsent results of the transaction before wait for brief work.
    """

    __slots__ = ("after", "brief", "followed", "future", "loop", "run", "scrub", "settled")

    def __init__(
        self,
        run: Callable[[sqlite3.Connection], T],
        after: Callable[[T], None] | None = None,
        *,
        scrub: bool = False,
        followed: bool = False,
        brief: bool = False,
    ) -> None:
        self.run = run
        self.after = after
        self.scrub = scrub
        self.followed = followed
        self.brief = brief
        self.settled = False
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T] = self.loop.create_future()

    def settle(self, outcome: T | BaseException) -> None:
        """Set the outcome, in the event loop. Later outcomes are ignored."""
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


class Hooks:
    """Additions to the transactions of a file, called in the writer thread."""

    def begin(self, connection: sqlite3.Connection) -> None:
        """Prepare a transaction that has begun."""

    def flush(self, connection: sqlite3.Connection) -> None:
        """Write what the transaction collected, before its commit."""

    def reset(self) -> None:
        """Drop what a rolled-back transaction collected."""

    def do_idle_work(self, connection: sqlite3.Connection) -> bool:
        """Do a step of postponed work. Return whether there is more."""
        return False


class _Outcomes(NamedTuple):
    """The outcome of each work of a transaction, and whether to try each in a separate transaction."""

    outcomes: list[Any]
    retry_each: bool = False


class Writer:
    """A thread with a connection. It does work in the order of submission.

    Args:
        damaged: Called in the thread if the file is damaged.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: str,
        hooks: Hooks,
        damaged: Callable[[], None] | None = None,
    ) -> None:
        self._connection = connection
        self._damaged = damaged
        self._path = path
        self._hooks = hooks
        self._queue: queue.SimpleQueue[Work[Any] | None] = queue.SimpleQueue()
        self._closed = False
        self._broken: Refusal | None = None
        self._transactions = 0
        #: A committed transaction whose results have not been sent.
        self._committed: tuple[Sequence[Work[Any]], Sequence[Any]] | None = None
        self._thread = threading.Thread(target=self._work, name=f"writer of {path}", daemon=True)
        self._thread.start()

    def submit(
        self,
        run: Callable[[sqlite3.Connection], T],
        after: Callable[[T], None] | None = None,
        *,
        scrub: bool = False,
        followed: bool = False,
        brief: bool = False,
    ) -> asyncio.Future[T]:
        """Queue work and return a future of its durable result. Raises Refusal `store_unusable` after `close`.

        Cancelling the future does not cancel the work.
        """
        if self._closed:
            raise build_unusable_refusal(self._path, "it has been closed")
        work = Work(run, after, scrub=scrub, followed=followed, brief=brief)
        self._queue.put(work)
        return work.future

    async def close(self) -> None:
        """Finish the queued work, empty the write-ahead log and end the thread."""
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
        self._settle()
        with contextlib.suppress(sqlite3.Error):
            self._checkpoint()
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def _wait(self, pause: float | None) -> tuple[list[Work[Any]], bool]:
        """Return the queued work, empty after `pause` seconds without any, and whether it is the last."""
        group: list[Work[Any]] = []
        try:
            work = self._get_next(pause)
            while work is not None:
                group.append(work)
                work = self._get_next(LINGER if work.followed else 0)
        except queue.Empty:
            return group, False
        return group, True

    def _get_next(self, pause: float | None) -> Work[Any] | None:
        """Return the next work. Before a wait for it, send unsent results. Raises queue.Empty."""
        try:
            return self._queue.get_nowait()
        except queue.Empty:
            if pause == 0:
                raise
        self._settle()
        return self._queue.get(timeout=pause)

    def _commit(self, group: Sequence[Work[Any]]) -> None:
        if not all(work.brief for work in group):
            self._settle()
        done = self._attempt(group)
        self._settle()
        if done.retry_each:
            for work in group:
                self._commit([work])
            return
        if any(work.scrub for work in group):
            with contextlib.suppress(sqlite3.Error):
                self._checkpoint()
        self._committed = group, done.outcomes
        self._transactions += 1
        if self._transactions % CHECK_EVERY == 0:
            self._settle()
            with contextlib.suppress(sqlite3.Error):
                self._vacuum(SPARE_PAGES)

    def _attempt(self, group: Sequence[Work[Any]]) -> _Outcomes:
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
            self._hooks.flush(connection)
            # A commit needs no GIL, so the event loop can work on the last results during it. If they were sent earlier,
            # the loop would keep the GIL from each statement of this transaction.
            self._settle()
            connection.execute("COMMIT")
        except Exception as error:
            failure = self._roll_back(error)
            # SQLite may have undone all work because of one.
            return _Outcomes([failure] * len(group), begun and len(group) > 1 and self._broken is None)
        return _Outcomes(outcomes)

    def _roll_back(self, error: Exception) -> Exception:
        if self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
        self._hooks.reset()
        if not isinstance(error, sqlite3.Error):
            return error
        refusal = to_refusal(error, self._path)
        if is_fatal(error):
            # The last commit may not be on the disk. Opening the store again decides.
            self._broken = refusal
            if self._damaged is not None:
                self._damaged()
        return refusal

    def _settle(self) -> None:
        """Send the results of the last transaction if they are unsent."""
        if self._committed is not None:
            committed, self._committed = self._committed, None
            self._send(*committed)

    def _send(self, group: Sequence[Work[Any]], outcomes: Sequence[Any]) -> None:
        """Settle all work with one call into the event loop, unless the loop is closed."""

        def settle() -> None:
            for work, outcome in zip(group, outcomes, strict=True):
                work.settle(outcome)

        with contextlib.suppress(RuntimeError):
            group[0].loop.call_soon_threadsafe(settle)

    def _tidy(self) -> float | None:
        """Do a step of housekeeping. Return the pause before the next step; None if there is none."""
        if self._broken is not None:
            return None
        try:
            if self._hooks.do_idle_work(self._connection) or self._vacuum(0):
                return PAUSE
            return None if self._checkpoint() else IDLE
        except sqlite3.Error as error:
            self._roll_back(error)
            return None

    def _vacuum(self, spare: int) -> bool:
        (free,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        if free > spare:
            # `execute` would stop after the first page.
            self._connection.executescript(f"PRAGMA incremental_vacuum({VACUUM_PAGES})")
        return free - VACUUM_PAGES > spare

    def _checkpoint(self) -> bool:
        """Move the write-ahead log into the file. Return False if a reader prevents it."""
        self._connection.execute(f"PRAGMA busy_timeout = {CHECKPOINT_TIMEOUT}").fetchall()
        try:
            (busy, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self._connection.execute("PRAGMA busy_timeout = 5000").fetchall()
        return busy == 0
