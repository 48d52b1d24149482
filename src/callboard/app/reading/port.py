"""The reader interface."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import NamedTuple, Protocol

from callboard.contracts.commands.session import SessionSize
from callboard.contracts.content import Text
from callboard.contracts.record import WireEvent
from callboard.contracts.rows.session import SessionCard, WorkspaceRow
from callboard.projection.rows import Table


class SessionListing(NamedTuple):
    """The sessions of all workspaces, newest first. `missing` counts sessions without a card, which could not be opened."""

    cards: tuple[SessionCard, ...]
    missing: int = 0


class Reader(Protocol):
    """Read access to sessions, facts and conversations. Methods raise Refusal `unknown_session`."""

    async def list_workspaces(self) -> tuple[WorkspaceRow, ...]:
        """Return the opened folders."""
        ...

    async def list_sessions(self) -> SessionListing:
        """Return all sessions, and the number of missing ones."""
        ...

    async def list_sizes(self) -> dict[str, SessionSize]:
        """Return the stored bytes of each session, by session id."""
        ...

    def read_facts(self, stream: str, *, after: int, follow: bool) -> AsyncGenerator[WireEvent]:
        """Yield the facts of a session or workspace after a sequence; with `follow` also new ones, while a process writes."""
        ...

    async def read_conversation(self, session: str, *, turns: int) -> Table:
        """Return the session's panels with its newest turns and their parts."""
        ...

    async def read_text(self, text: Text) -> str:
        """Return the whole text, even if its row holds only a preview."""
        ...
