"""Rows written behind the log, with a watermark."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Views
from callboard.contracts.rows.base import Op, Remove, Upsert
from callboard.projection.view import SessionView

from ..background_tasks import BackgroundTasks
from ..dependencies import Dependencies
from ..fingerprint import compute_view_fingerprint

log = logging.getLogger(__name__)

#: Number of waiting operations at which they are written immediately.
MAX_WAITING = 2000


class RowWriter:
    """Writes one session's rows in batches. `view` provides the view state; the rows table is at `watermark`."""

    def __init__(self, session: str, dependencies: Dependencies, view: SessionView, watermark: int = 0) -> None:
        self._session = session
        self._dependencies = dependencies
        self._view = view
        self._waiting: dict[tuple[str, str], Op] = {}
        self._watermark = self._written = watermark
        self._writing = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._flushes = BackgroundTasks()
        self._closed = False

    @property
    def is_full(self) -> bool:
        """Return True if enough operations wait that they should be written first."""
        return len(self._waiting) >= MAX_WAITING

    def add(self, ops: Sequence[Op], watermark: int) -> None:
        """Add operations to write soon. Later operations on a row replace earlier ones.

        They bring the rows to the fact `watermark`.
        """
        for op in ops:
            if isinstance(op, Upsert):
                self._waiting[op.panel, op.row.key] = op
            elif isinstance(op, Remove):
                self._waiting[op.panel, op.key] = op
        self._watermark = max(self._watermark, watermark)
        self._plan(0.0 if self.is_full else self._dependencies.limits.write_behind)

    async def write(self) -> None:
        """Write the waiting operations, one write at a time. After an error they wait again, so the
        watermark never passes a gap."""
        async with self._writing:
            if self._watermark <= self._written:
                return
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            ops, self._waiting = self._waiting, {}
            views = Views(
                watermark=self._watermark, fingerprint=compute_view_fingerprint(), state=self._view.encode_state()
            )
            try:
                await self._dependencies.store.rows.write(self._session, tuple(ops.values()), views)
            except BaseException:
                self._waiting = {**ops, **self._waiting}
                self._plan(self._dependencies.limits.retry_interval)
                raise
            self._written = views.watermark

    async def close(self) -> None:
        """Write the waiting operations for the last time."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        await self._flushes.wait_all()
        await self.write()

    def _plan(self, wait: float) -> None:
        if self._timer is None and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(wait, self._flush_now)

    def _flush_now(self) -> None:
        self._timer = None
        self._flushes.start(self._write_behind())

    async def _write_behind(self) -> None:
        try:
            await self.write()
        except Refusal as refusal:
            log.warning("rows of %s were not written yet: %s", self._session, refusal.problem.message)
