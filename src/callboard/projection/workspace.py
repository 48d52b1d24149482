"""A workspace's row, and the title, pin, archive state and deletion of its sessions.

A session's card comes from its own stream, its title from the workspace's. Only this module combines them.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from callboard.contracts.errors import Problem
from callboard.contracts.facts.permission import PermissionRuleAdded, PermissionRuleRevoked
from callboard.contracts.facts.workspace import (
    SessionArchived,
    SessionDeleted,
    SessionListed,
    SessionPinned,
    SessionTitled,
    SettingsChanged,
    WorkspaceOpened,
    WorkspaceTrusted,
    WorkspaceTrustRevoked,
)
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.session import SessionCard, SessionRow, WorkspaceRow

from .reducer import Panel, on, remove, upsert

RowT = TypeVar("RowT", SessionCard, SessionRow)


class Listing(msgspec.Struct, frozen=True, gc=False):
    """A workspace's data about one session."""

    title: str
    pinned: bool = False
    archived: bool = False


def apply_listing(row: RowT, listing: Listing | None) -> RowT:
    """Return the row of a session with its listing; without a listing, the row itself."""
    if listing is None:
        return row
    if isinstance(row, SessionCard):
        return msgspec.structs.replace(row, title=listing.title, pinned=listing.pinned, archived=listing.archived)
    return msgspec.structs.replace(row, title=listing.title, archived=listing.archived)


def build_damaged_card(session: str, workspace: str, problem: Problem, *, at: int, title: str = "") -> SessionCard:
    """Return the card of an unreadable session.

    Args:
        at: The time of its newest fact in microseconds since the epoch, 0 if unknown.
    """
    return SessionCard(
        key=session,
        order=at,
        sequence=0,
        session_id=session,
        workspace_id=workspace,
        title=title,
        state="damaged",
        attention="failed",
        updated_at=at,
        problem=problem.message,
        problem_code=problem.code,
    )


class WorkspaceView(Panel):
    """The panels of one workspace. The sessions' views pass in the cards."""

    sequence: int = 0
    row: WorkspaceRow | None = None
    listings: dict[str, Listing] = msgspec.field(default={})
    cards: dict[str, SessionCard] = msgspec.field(default={})

    def find_listing(self, session: str) -> Listing | None:
        """Return the listing of a session, or None."""
        return self.listings.get(session)

    def update_card(self, card: SessionCard) -> list[Op]:
        """Return the row operations of a changed card, with its listing if there is one."""
        return self._show(card, self.listings.get(card.session_id))

    def apply(self, record: Record, *context: Any) -> list[Op]:
        """Return the row operations of a fact of the workspace; none for a repeated fact."""
        if record.sequence <= self.sequence:
            return []
        self.sequence = record.sequence
        return super().apply(record, *context)

    @on
    def open(self, record: Record, fact: WorkspaceOpened) -> list[Op]:
        self.row = WorkspaceRow(
            key=record.stream,
            order=record.header.at,
            sequence=record.sequence,
            workspace_id=record.stream,
            path=fact.path,
            name=fact.name,
        )
        return upsert(self.row)

    @on
    def list_session(self, record: Record, fact: SessionListed) -> list[Op]:
        return self._store_listing(fact.session_id, Listing(title=fact.title))

    @on
    def title_session(self, record: Record, fact: SessionTitled) -> list[Op]:
        return self._change_listing(fact.session_id, title=fact.title)

    @on
    def pin_session(self, record: Record, fact: SessionPinned) -> list[Op]:
        return self._change_listing(fact.session_id, pinned=fact.pinned)

    @on
    def archive_session(self, record: Record, fact: SessionArchived) -> list[Op]:
        return self._change_listing(fact.session_id, archived=fact.archived)

    @on
    def delete_session(self, record: Record, fact: SessionDeleted) -> list[Op]:
        self.listings.pop(fact.session_id, None)
        self.cards.pop(fact.session_id, None)
        return remove(SessionCard, fact.session_id)

    @on
    def trust(self, record: Record, fact: WorkspaceTrusted) -> list[Op]:
        return self._change_row(record, trusted=fact.digest)

    @on
    def revoke_trust(self, record: Record, fact: WorkspaceTrustRevoked) -> list[Op]:
        return self._change_row(record, trusted="")

    @on
    def change_settings(
        self, record: Record, fact: SettingsChanged | PermissionRuleAdded | PermissionRuleRevoked
    ) -> list[Op]:
        return self._change_row(record)

    def _change_row(self, record: Record, **changes: str) -> list[Op]:
        """Change the workspace's row. Its new sequence makes readers reload settings, rules and trust."""
        if self.row is None:
            return []
        self.row = msgspec.structs.replace(self.row, sequence=record.sequence, **changes)
        return upsert(self.row)

    def _change_listing(self, session: str, **changes: str | bool) -> list[Op]:
        listing = self.listings.get(session)
        return [] if listing is None else self._store_listing(session, msgspec.structs.replace(listing, **changes))

    def _store_listing(self, session: str, listing: Listing) -> list[Op]:
        self.listings[session] = listing
        card = self.cards.get(session)
        return [] if card is None else self._show(card, listing)

    def _show(self, card: SessionCard, listing: Listing | None) -> list[Op]:
        # Store the listed card, so that each card exists once. Listing it again changes nothing.
        row = self.cards[card.session_id] = apply_listing(card, listing)
        return upsert(row)
