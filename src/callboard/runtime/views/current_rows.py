"""The current rows of a session that is not opened for it: the stored rows and the facts after them."""

from __future__ import annotations

import logging
from typing import TypeVar

import msgspec

from callboard.contracts.ports.store import RowStore, Store
from callboard.contracts.rows.base import Row, Upsert
from callboard.projection.rows import Table
from callboard.projection.view import SessionView

from ..fingerprint import compute_view_fingerprint
from ..slices import yield_in_slices

log = logging.getLogger(__name__)

#: Facts read at a time.
_PAGE = 1000

RowT = TypeVar("RowT", bound=Row)


class CurrentRows:
    """Stored rows of a session, with the changes in `newer`. Only for kinds of rows that are never removed."""

    def __init__(self, session: str, stored: RowStore, newer: Table) -> None:
        self._session = session
        self._stored = stored
        self._newer = newer

    async def list_newest(self, kind: type[RowT], limit: int) -> list[RowT]:
        """Return the newest rows of a kind, in order."""
        stored = await self._stored.read_rows(self._session, kind.panel, limit=limit)
        merged = Table(Upsert(kind.panel, row) for row in (*stored, *self._newer.list_rows(kind)))
        return merged.list_rows(kind)[-limit:]

    async def get(self, kind: type[RowT], key: str) -> RowT | None:
        """Return the row of a kind and key, or None."""
        row = self._newer.get_row(kind, key) or await self._stored.read_row(self._session, kind.panel, key)
        return row if isinstance(row, kind) else None


async def read_current_rows(store: Store, session: str) -> CurrentRows:
    """Fold the facts after the stored rows, or all facts if the stored rows are of another version."""
    stored, view, newer = await store.rows.read_views(session), SessionView(), Table()
    if stored is not None and stored.fingerprint == compute_view_fingerprint():
        try:
            view = SessionView.from_state(stored.state)
        except msgspec.MsgspecError as error:
            log.warning(
                "the rows of %s are folded from its facts, because its view state is damaged: %s", session, error
            )
    while records := await store.facts.read(session, after=view.sequence, limit=_PAGE):
        async for record in yield_in_slices(records):
            newer.apply(view.apply(record))
    return CurrentRows(session, store.rows, newer)
