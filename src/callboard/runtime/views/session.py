"""The panels of one session: folded from facts and live pieces, written behind the log, followed by clients."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from callboard.contracts.live import Cursor, Partial
from callboard.contracts.ports.live import LiveFacts, LiveGap, LiveItem, LivePiece
from callboard.contracts.ports.store import Views
from callboard.contracts.record import Record
from callboard.contracts.rows import SESSION_PANELS, Op, Remove, SessionCard, Upsert
from callboard.projection.rows import compact
from callboard.projection.view import SCHEMA, SessionView

from ..parts import Parts
from .ring import Ring
from .window import RowT, Window

log = logging.getLogger(__name__)

#: Row operations are written at the latest when so many wait.
MOST_WAITING = 2000


class SessionViews:
    """Keeps one session's rows. `card` is told when the session's entry in the list changes."""

    def __init__(self, session: str, parts: Parts, card: Callable[[SessionCard], None]) -> None:
        limits = parts.limits
        self._session = session
        self._parts = parts
        self._card = card
        self._view = SessionView()
        self._window = Window(limits.snapshot_turns, limits.snapshot_bytes)
        self._ring = Ring(Cursor(0, 0), limits.ring_bytes, self._window.snapshot)
        self._watermark = 0
        self._waiting: dict[tuple[str, str], Op] = {}
        self._written = 0
        self._writing = asyncio.Lock()
        self._flush_timer: asyncio.TimerHandle | None = None
        self._flush: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._closed = False

    async def open(self) -> None:
        """Loads what was written, folds what came after, and follows the session from then on."""
        rows = self._parts.store.rows
        kept = await rows.views(self._session)
        if kept is not None and kept.schema == SCHEMA:
            self._view = SessionView.from_state(kept.state)
            self._watermark = self._written = kept.watermark
            await self._load()
        elif kept is not None:
            await rows.clear(self._session)
        ready = asyncio.Event()
        self._task = asyncio.create_task(self._follow(ready))
        await ready.wait()
        self._raise()

    async def follow(self, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Encoded operations for a client, from its cursor or from a snapshot. Raises what stopped the views, if that ended
        them."""
        async with aclosing(self._ring.follow(after)) as chunks:
            async for chunk in chunks:
                yield chunk
        self._raise()

    @property
    def followed(self) -> bool:
        """True while a client follows."""
        return self._ring.followers > 0

    @property
    def cursor(self) -> Cursor:
        """Where a client is that has seen everything."""
        return self._ring.cursor

    async def reach(self, sequence: int) -> None:
        """Waits until the rows show the fact of that sequence."""
        while self._watermark < sequence:
            self._raise()
            await self._moved.wait()

    def rows(self, kind: type[RowT]) -> list[RowT]:
        """The newest rows of a kind, in order."""
        return self._window.rows(kind)

    async def written(self) -> None:
        """Waits until all that is shown is in the rows table."""
        await self._write()

    async def close(self) -> None:
        """Ends the clients' streams and writes what waits."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._ring.close()
        await self._write()
        if self._flush_timer is not None:
            self._flush_timer.cancel()

    async def _load(self) -> None:
        """Fills the window from the rows table: the panels that are short, the newest turns, and their parts."""
        rows, limits = self._parts.store.rows, self._parts.limits
        ops: list[Op] = []
        for panel in SESSION_PANELS:
            limit = limits.snapshot_turns if panel == "turns" else 1000
            largest = limits.snapshot_bytes if panel == "parts" else 1_000_000
            found = await rows.rows(self._session, panel, limit=limit, largest=largest)
            ops.extend(Upsert(panel, row) for row in found)
        card = await rows.row(self._session, "sessions", self._session)
        if isinstance(card, SessionCard):
            self._card(card)
        self._window.apply(ops)

    async def _follow(self, ready: asyncio.Event) -> None:
        try:
            async for items in self._parts.feed.follow(self._session, None):
                for item in items:
                    await self._take(item)
                ready.set()
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            log.exception("the views of %s stopped", self._session)
            self._failure = error
            self._ring.close()
            raise
        finally:
            ready.set()
            self._move()

    async def _take(self, item: LiveItem) -> None:
        match item:
            case LiveFacts(cursor, records):
                self._facts(cursor, records)
            case LivePiece(cursor, frame):
                ops = self._view.frame(frame)
                self._window.apply(ops)
                self._ring.push(cursor, ops)
            case LiveGap(cursor, partials):
                await self._catch_up(cursor, partials)

    def _facts(self, cursor: Cursor, records: Sequence[Record]) -> None:
        ops = [op for record in records for op in self._view.apply(record)]
        self._watermark = max(self._watermark, records[-1].sequence)
        self._keep(ops)
        self._window.apply(ops)
        self._ring.push(cursor, compact(op for op in ops if op.panel in SESSION_PANELS))
        self._move()

    async def _catch_up(self, cursor: Cursor, partials: Sequence[Partial]) -> None:
        """Folds the facts up to the cursor, then the text so far; whoever followed gets a snapshot."""
        facts = self._parts.store.facts
        while self._watermark < cursor.sequence:
            records = await facts.read(self._session, after=self._watermark, until=cursor.sequence, limit=1000)
            if not records:
                break
            ops = [op for record in records for op in self._view.apply(record)]
            self._watermark = records[-1].sequence
            self._keep(ops)
            self._window.apply(ops)
            if len(self._waiting) >= MOST_WAITING:
                await self._write()
        self._window.apply(self._view.resume(partials))
        self._ring.restart(cursor)
        self._move()

    def _keep(self, ops: Sequence[Op]) -> None:
        for op in ops:
            if isinstance(op, Upsert) and isinstance(op.row, SessionCard):
                self._card(op.row)
            if isinstance(op, Upsert):
                self._waiting[op.panel, op.row.key] = op
            elif isinstance(op, Remove):
                self._waiting[op.panel, op.key] = op
        self._plan(0.0 if len(self._waiting) >= MOST_WAITING else self._parts.limits.write_behind)

    def _plan(self, wait: float) -> None:
        if self._flush_timer is None and not self._closed:
            self._flush_timer = asyncio.get_running_loop().call_later(wait, self._flush_now)

    def _flush_now(self) -> None:
        self._flush_timer = None
        self._flush = asyncio.create_task(self._write())
        self._flush.add_done_callback(_tell)

    async def _write(self) -> None:
        """Writes what waits, one write at a time. What could not be written waits on: a watermark never passes a hole."""
        async with self._writing:
            if self._watermark <= self._written:
                return
            if self._flush_timer is not None:
                self._flush_timer.cancel()
                self._flush_timer = None
            ops, self._waiting = self._waiting, {}
            views = Views(watermark=self._watermark, schema=SCHEMA, state=self._view.state())
            try:
                await self._parts.store.rows.write(self._session, tuple(ops.values()), views)
            except BaseException:
                self._waiting = {**ops, **self._waiting}
                self._plan(self._parts.limits.try_again)
                raise
            self._written = views.watermark

    def _move(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure


def _tell(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("rows could not be written", exc_info=task.exception())
