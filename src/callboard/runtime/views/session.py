"""The current panels of one session."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.live import Cursor, Partial
from callboard.contracts.ports.live import LiveFacts, LiveGap, LiveItem, LivePiece
from callboard.contracts.record import Record
from callboard.contracts.rows import SESSION_PANELS
from callboard.contracts.rows.base import Op, Upsert
from callboard.contracts.rows.session import SessionCard
from callboard.projection.rows import compact
from callboard.projection.view import SessionView

from ..dependencies import Dependencies
from ..fingerprint import compute_view_fingerprint
from ..slices import split_pages, yield_in_slices
from .reader_signal import ReaderSignal
from .ring import Ring
from .row_writer import RowWriter
from .watermark import Watermark
from .window import RowT, Window

log = logging.getLogger(__name__)

#: Seconds after a wait in which the views fold what arrived during it, without another wait.
_SAME_STEP_SECONDS = 0.05


class SessionViews:
    """Folds a session's facts and live pieces into rows.

    Args:
        card: Receives the session's changed card.
        is_listed: Returns True while a client follows the list of sessions, and so the card.
    """

    def __init__(
        self,
        session: str,
        dependencies: Dependencies,
        card: Callable[[SessionCard], None],
        is_listed: Callable[[], bool],
    ) -> None:
        limits = dependencies.limits
        self._session = session
        self._dependencies = dependencies
        self._show_card = card
        self._view = SessionView()
        self._window = Window(limits.snapshot_turns, limits.snapshot_bytes)
        self._ring = self._build_ring()
        self._watermark = Watermark()
        self._writer = RowWriter(session, dependencies, self._view)
        self._reader_signal = ReaderSignal(lambda: self._ring.is_read or self._watermark.waiting > 0 or is_listed())
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Load the stored rows, fold newer facts, and follow the session."""
        try:
            await self._open()
        except BaseException as error:
            # Callers can already wait for rows.
            self._watermark.fail(error if isinstance(error, Exception) else _build_closed_refusal(self._session))
            raise

    async def _open(self) -> None:
        if not await self._load():
            # `_watermark` is still at 0, and callers can already wait for it.
            self._view = SessionView()
            self._window = Window(self._dependencies.limits.snapshot_turns, self._dependencies.limits.snapshot_bytes)
            self._ring = self._build_ring()
            self._writer = RowWriter(self._session, self._dependencies, self._view)
            await self._dependencies.store.rows.clear(self._session)
            # Reopen the rows for writing.
            await self._dependencies.store.rows.read_views(self._session)
        await self.start().wait()
        self._watermark.check()

    async def _load(self) -> bool:
        """Load the stored rows. Return False if there are none, or if they are outdated, damaged or do not fit the log."""
        rows = self._dependencies.store.rows
        stored = await rows.read_views(self._session)
        if stored is None:
            return False
        if stored.fingerprint != compute_view_fingerprint():
            log.info("rows of %s are of another version: rebuilding", self._session)
            return False
        head = await self._dependencies.store.facts.read_head(self._session)
        try:
            view = SessionView.from_state(stored.state)
            if not stored.watermark == view.sequence <= head.sequence:
                log.warning("rows of %s do not fit its log: rebuilding", self._session)
                return False
            await self._window.load(rows, self._session)
            card = await rows.read_row(self._session, "sessions", self._session)
        except msgspec.MsgspecError as error:
            log.warning("the view state of %s does not decode: rebuilding its rows (%s)", self._session, error)
            return False
        except Refusal as refusal:
            if refusal.code != "rows_damaged":
                raise
            return False
        self._view = view
        self._watermark.advance(stored.watermark)
        self._writer = RowWriter(self._session, self._dependencies, view, stored.watermark)
        # Open tasks stay in the window, however old they are.
        self._window.apply(Upsert(row.panel, row) for row in view.list_open_tasks())
        if isinstance(card, SessionCard):
            self._show_card(card)
        return True

    def start(self) -> asyncio.Event:
        """Follow the session. The returned event is set when existing facts are shown."""
        ready = asyncio.Event()
        self._task = asyncio.create_task(self._follow(ready))
        return ready

    async def follow(self, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Yield encoded operations for a client, from its cursor or a snapshot."""
        self._reader_signal.send()
        async with aclosing(self._ring.follow(after)) as chunks:
            async for chunk in chunks:
                yield chunk
                # Free the chunk before waiting: it can be a whole snapshot.
                del chunk
        self._watermark.check()

    @property
    def is_followed(self) -> bool:
        """Return True while a client follows."""
        return self._ring.followers > 0

    @property
    def cursor(self) -> Cursor:
        """The cursor of a client that has seen everything. It can follow from there."""
        self._ring.hold()
        return self._ring.cursor

    async def wait_for(self, sequence: int) -> None:
        """Wait until the rows show the fact of that sequence."""
        # Also when the rows are current: a wait that began before must not delay the next facts.
        self._reader_signal.send()
        await self._watermark.wait(sequence)

    def rows(self, kind: type[RowT]) -> list[RowT]:
        """Return the newest rows of a kind, in order."""
        return self._window.rows(kind)

    async def flush(self) -> None:
        """Write all rows to the table. If the disk is full, they stay readable from memory."""
        try:
            await self._writer.write()
        except Refusal as refusal:
            if refusal.code != "store_full":
                raise

    def release_memory(self, *, quiet: bool) -> None:
        """Release memory that no client needs; if `quiet`, also what the next fact will need again."""
        self._ring.drop_older(self._dependencies.limits.replay)
        if quiet:
            self._view.compress()

    async def close(self, sequence: int = 0) -> None:
        """End the clients' streams and write the waiting rows, up to the fact of that sequence."""
        if self._task is not None:
            # `_follow` has logged why views stopped.
            with contextlib.suppress(Exception):
                await self.wait_for(sequence)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._watermark.waiting:
            # These views do not receive the fact any more.
            self._watermark.fail(_build_closed_refusal(self._session))
        self._ring.close()
        await self._writer.close()

    async def _follow(self, ready: asyncio.Event) -> None:
        loop, waited_at = asyncio.get_running_loop(), -math.inf
        try:
            async for items in self._dependencies.feed.follow(self._session, None):
                # Fold what arrived during a wait in one step.
                if ready.is_set() and loop.time() - waited_at > _SAME_STEP_SECONDS:
                    await self._reader_signal.wait(self._dependencies.limits.fold_behind)
                    waited_at = loop.time()
                for item in _join_facts(items):
                    await self._apply(item)
                ready.set()
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            log.exception("the views of %s stopped", self._session)
            self._watermark.fail(error)
            self._ring.close()
            raise
        finally:
            ready.set()

    async def _apply(self, item: LiveItem) -> None:
        match item:
            case LiveFacts(cursor, records):
                self._apply_facts(cursor, records)
            case LivePiece(cursor, frame):
                ops = self._view.apply_frame(frame)
                self._window.apply(ops)
                self._ring.push(cursor, ops)
            case LiveGap(cursor, partials):
                await self._catch_up(cursor, partials)

    def _apply_facts(self, cursor: Cursor, records: Sequence[Record]) -> None:
        ops = compact(op for record in records for op in self._view.apply(record))
        self._write(ops, records[-1].sequence)
        self._window.apply(ops)
        self._ring.push(cursor, [op for op in ops if op.panel in SESSION_PANELS])
        self._watermark.advance(records[-1].sequence)

    async def _catch_up(self, cursor: Cursor, partials: Sequence[Partial]) -> None:
        """Fold the facts up to the cursor and the partials. Clients receive a snapshot."""
        facts = self._dependencies.store.facts
        after = self._watermark.sequence
        while after < cursor.sequence:
            records = await facts.read(self._session, after=after, until=cursor.sequence, limit=1000)
            if not records:
                # A caller that waits for these facts would wait forever.
                raise LookupError(f"the log of {self._session} ends at {after}, before {cursor.sequence}")
            after = records[-1].sequence
            async for page in yield_in_slices(split_pages(records)):
                # Without a pause in between: the view state must never be ahead of the rows.
                ops = [op for record in page for op in self._view.apply(record)]
                self._write(ops, page[-1].sequence)
                self._window.apply(ops)
            if self._writer.is_full:
                await self._writer.write()
        self._window.apply(self._view.resume(partials))
        self._ring.restart(cursor)
        self._watermark.advance(after)

    def _build_ring(self) -> Ring:
        limits = self._dependencies.limits
        return Ring(Cursor(0, 0), limits.ring_bytes, self._window.snapshot, limits.replay)

    def _write(self, ops: Sequence[Op], watermark: int) -> None:
        for op in ops:
            if isinstance(op, Upsert) and isinstance(op.row, SessionCard):
                self._show_card(op.row)
        self._writer.add(ops, watermark)


def _build_closed_refusal(session: str) -> Refusal:
    return Refusal("unreachable", f"The rows of {session} are not open any more.", hint="Repeat the request.")


def _join_facts(items: Sequence[LiveItem]) -> list[LiveItem]:
    """Join neighbouring batches of facts, so that rows change once for all of them."""
    joined: list[LiveItem] = []
    for item in items:
        last = joined[-1] if joined else None
        if isinstance(item, LiveFacts) and isinstance(last, LiveFacts):
            joined[-1] = LiveFacts(item.cursor, (*last.records, *item.records))
        else:
            joined.append(item)
    return joined
