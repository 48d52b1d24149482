"""The panels of one session as they are now: folded from facts and live pieces, followed by clients."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.live import Cursor, Partial
from callboard.contracts.ports.live import LiveFacts, LiveGap, LiveItem, LivePiece
from callboard.contracts.record import Record
from callboard.contracts.rows import SESSION_PANELS, Op, SessionCard, Upsert
from callboard.projection.rows import compact
from callboard.projection.view import SessionView

from ..dependencies import Dependencies
from ..fingerprint import view_fingerprint
from ..slices import in_slices, pages
from .ring import Ring
from .row_writer import RowWriter
from .watermark import Watermark
from .window import RowT, Window

log = logging.getLogger(__name__)


class SessionViews:
    """Keeps one session's rows. `card` is told when the session's entry in the list changes."""

    def __init__(self, session: str, dependencies: Dependencies, card: Callable[[SessionCard], None]) -> None:
        limits = dependencies.limits
        self._session = session
        self._dependencies = dependencies
        self._card = card
        self._view = SessionView()
        self._window = Window(limits.snapshot_turns, limits.snapshot_bytes)
        self._ring = Ring(Cursor(0, 0), limits.ring_bytes, self._window.snapshot)
        self._reached = Watermark()
        self._behind = RowWriter(session, dependencies, self._view)
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Loads what was written, folds what came after, and follows the session from then on."""
        if not await self._load():
            self._view, self._reached = SessionView(), Watermark()
            self._window = Window(self._dependencies.limits.snapshot_turns, self._dependencies.limits.snapshot_bytes)
            self._ring = Ring(Cursor(0, 0), self._dependencies.limits.ring_bytes, self._window.snapshot)
            self._behind = RowWriter(self._session, self._dependencies, self._view)
            await self._dependencies.store.rows.clear(self._session)
            # Opens the rows anew: from here on they are written again.
            await self._dependencies.store.rows.views(self._session)
        await self.start().wait()
        self._reached.check()

    async def _load(self) -> bool:
        """Load the rows that are kept. False where there are none, or they are of other code, damaged or do not fit."""
        rows = self._dependencies.store.rows
        kept = await rows.views(self._session)
        if kept is None:
            return False
        if kept.fingerprint != view_fingerprint():
            log.info("the rows of %s are of another version: they are folded anew", self._session)
            return False
        head = await self._dependencies.store.facts.head(self._session)
        try:
            view = SessionView.from_state(kept.state)
            if not kept.watermark == view.sequence <= head.sequence:
                log.warning("the rows of %s do not fit its log: they are folded anew", self._session)
                return False
            await self._window.load(rows, self._session)
            card = await rows.row(self._session, "sessions", self._session)
        except msgspec.MsgspecError as error:
            log.warning("the view state of %s does not decode: its rows are folded anew (%s)", self._session, error)
            return False
        except Refusal as refusal:
            if refusal.code != "rows_damaged":
                raise
            return False
        self._view = view
        self._reached.advance(kept.watermark)
        self._behind = RowWriter(self._session, self._dependencies, view, kept.watermark)
        # However many came after it: what is still to go on is in sight.
        self._window.apply(Upsert(row.panel, row) for row in view.open_tasks())
        if isinstance(card, SessionCard):
            self._card(card)
        return True

    def start(self) -> asyncio.Event:
        """Follows the session from now on; the event tells when what there was is shown. Of a new session that is nothing."""
        ready = asyncio.Event()
        self._task = asyncio.create_task(self._follow(ready))
        return ready

    async def follow(self, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Encoded operations for a client, from its cursor or from a snapshot. Raises what stopped the views, if that ended
        them."""
        async with aclosing(self._ring.follow(after)) as chunks:
            async for chunk in chunks:
                yield chunk
                # Not kept while nothing comes: it may be a whole snapshot.
                del chunk
        self._reached.check()

    @property
    def is_followed(self) -> bool:
        """True while a client follows."""
        return self._ring.followers > 0

    @property
    def cursor(self) -> Cursor:
        """Where a client is that has seen everything."""
        return self._ring.cursor

    async def wait_for(self, sequence: int) -> None:
        """Waits until the rows show the fact of that sequence."""
        await self._reached.wait(sequence)

    def rows(self, kind: type[RowT]) -> list[RowT]:
        """The newest rows of a kind, in order."""
        return self._window.rows(kind)

    async def flush(self) -> None:
        """Waits until all that is shown is in the rows table; what a full disk refused is read from memory."""
        try:
            await self._behind.write()
        except Refusal as refusal:
            if refusal.code != "store_full":
                raise

    def release_memory(self, *, quiet: bool) -> None:
        """Give back memory that no client needs; where it is `quiet` in the session, also what the next fact needs again."""
        self._ring.drop_older(self._dependencies.limits.replay)
        if quiet:
            self._view.rest()

    async def close(self) -> None:
        """Ends the clients' streams and writes what waits."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._ring.close()
        await self._behind.close()

    async def _follow(self, ready: asyncio.Event) -> None:
        try:
            async for items in self._dependencies.feed.follow(self._session, None):
                for item in items:
                    await self._take(item)
                ready.set()
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            log.exception("the views of %s stopped", self._session)
            self._reached.fail(error)
            self._ring.close()
            raise
        finally:
            ready.set()

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
        self._keep(ops, records[-1].sequence)
        self._window.apply(ops)
        self._ring.push(cursor, compact(op for op in ops if op.panel in SESSION_PANELS))
        self._reached.advance(records[-1].sequence)

    async def _catch_up(self, cursor: Cursor, partials: Sequence[Partial]) -> None:
        """Folds the facts up to the cursor, then the text so far; whoever followed gets a snapshot."""
        facts = self._dependencies.store.facts
        after = self._reached.sequence
        while after < cursor.sequence:
            records = await facts.read(self._session, after=after, until=cursor.sequence, limit=1000)
            if not records:
                break
            after = records[-1].sequence
            async for page in in_slices(pages(records)):
                # All at once: rows are never written with a state that is ahead of them.
                ops = [op for record in page for op in self._view.apply(record)]
                self._keep(ops, page[-1].sequence)
                self._window.apply(ops)
            if self._behind.is_full:
                await self._behind.write()
        self._window.apply(self._view.resume(partials))
        self._ring.restart(cursor)
        self._reached.advance(after)

    def _keep(self, ops: Sequence[Op], watermark: int) -> None:
        for op in ops:
            if isinstance(op, Upsert) and isinstance(op.row, SessionCard):
                self._card(op.row)
        self._behind.add(ops, watermark)
