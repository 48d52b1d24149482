"""A workspace's row, and the title, pin, archive state and deletion of its sessions.

A session's card comes from its own stream, its title from the workspace's. Only this module combines them.
"""

from __future__ import annotations

from typing import TypeVar

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

from .reducer import remove, upsert

RowT = TypeVar("RowT", SessionCard, SessionRow)


class Listing(msgspec.Struct, frozen=True):
    """A workspace's data about one session."""

    title: str
    pinned: bool = False
    archived: bool = False


class WorkspacePanels(msgspec.Struct):
    """The state of a workspace's view: its row, and the listing of each session."""

    sequence: int = 0
    row: WorkspaceRow | None = None
    listings: dict[str, Listing] = msgspec.field(default_factory=dict[str, Listing])


def listed(row: RowT, listing: Listing | None) -> RowT:
    """Return the row of a session with its listing; without a listing, the row itself."""
    if listing is None:
        return row
    if isinstance(row, SessionCard):
        return msgspec.structs.replace(row, title=listing.title, pinned=listing.pinned, archived=listing.archived)
    return msgspec.structs.replace(row, title=listing.title, archived=listing.archived)


def damaged(session: str, workspace: str, problem: Problem, *, at: int, title: str = "") -> SessionCard:
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


class WorkspaceView:
    """The panels of one workspace. The sessions' views pass in the cards."""

    def __init__(self) -> None:
        self._panels = WorkspacePanels()
        self._cards: dict[str, SessionCard] = {}

    @property
    def sequence(self) -> int:
        return self._panels.sequence

    @property
    def listings(self) -> frozenset[str]:
        """Return the sessions that the workspace lists."""
        return frozenset(self._panels.listings)

    def listing(self, session: str) -> Listing | None:
        """Return the listing of a session, or None."""
        return self._panels.listings.get(session)

    def card(self, card: SessionCard) -> list[Op]:
        """Return the row operations of a changed card, with its listing if there is one."""
        return self._show(card, self._panels.listings.get(card.session_id))

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of a fact of the workspace; none for a repeated fact."""
        if record.sequence <= self._panels.sequence:
            return []
        self._panels.sequence = record.sequence
        match record.fact:
            case WorkspaceOpened() as fact:
                self._panels.row = WorkspaceRow(
                    key=record.stream,
                    order=record.header.at,
                    sequence=record.sequence,
                    workspace_id=record.stream,
                    path=fact.path,
                    name=fact.name,
                )
                return upsert(self._panels.row)
            case SessionListed() as fact:
                return self._list(fact.session_id, Listing(title=fact.title))
            case SessionTitled() | SessionPinned() | SessionArchived() as fact:
                return self._change(fact)
            case SessionDeleted() as fact:
                self._panels.listings.pop(fact.session_id, None)
                self._cards.pop(fact.session_id, None)
                return remove(SessionCard, fact.session_id)
            case WorkspaceTrusted(digest=digest):
                return self._row(record, digest)
            case WorkspaceTrustRevoked():
                return self._row(record, "")
            case SettingsChanged() | PermissionRuleAdded() | PermissionRuleRevoked():
                return self._row(record)
            case _:
                return []

    def _row(self, record: Record, trusted: str | None = None) -> list[Op]:
        """Update the sequence of the workspace's row, so that readers reload settings, rules and trust."""
        row = self._panels.row
        if row is None:
            return []
        digest = row.trusted if trusted is None else trusted
        self._panels.row = msgspec.structs.replace(row, trusted=digest, sequence=record.sequence)
        return upsert(self._panels.row)

    def _change(self, fact: SessionTitled | SessionPinned | SessionArchived) -> list[Op]:
        listing = self._panels.listings.get(fact.session_id)
        if listing is None:
            return []
        match fact:
            case SessionTitled():
                return self._list(fact.session_id, msgspec.structs.replace(listing, title=fact.title))
            case SessionPinned():
                return self._list(fact.session_id, msgspec.structs.replace(listing, pinned=fact.pinned))
            case SessionArchived():
                return self._list(fact.session_id, msgspec.structs.replace(listing, archived=fact.archived))

    def _list(self, session: str, listing: Listing) -> list[Op]:
        self._panels.listings[session] = listing
        card = self._cards.get(session)
        return [] if card is None else self._show(card, listing)

    def _show(self, card: SessionCard, listing: Listing | None) -> list[Op]:
        # Store the listed card, so that each card exists once. Listing it again changes nothing.
        row = self._cards[card.session_id] = listed(card, listing)
        return upsert(row)
