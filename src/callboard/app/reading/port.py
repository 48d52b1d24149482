"""What can be read, wherever it is."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import NamedTuple, Protocol

from callboard.contracts.commands.sizes import SessionSize
from callboard.contracts.content import Text
from callboard.contracts.record import WireEvent
from callboard.contracts.rows import SessionCard, WorkspaceRow
from callboard.projection.rows import Table


class SessionListing(NamedTuple):
    """The sessions of all workspaces, the newest first. `missing` counts those that could not be opened for another reason than
    damage: they have no card."""

    cards: tuple[SessionCard, ...]
    missing: int = 0


class Reader(Protocol):
    """Sessions, facts and conversations. Raises Refusal `unknown_session` for a session that is not there."""

    async def list_workspaces(self) -> tuple[WorkspaceRow, ...]:
        """The folders that were opened."""
        ...

    async def list_sessions(self) -> SessionListing:
        """The sessions that there are, and how many are missing."""
        ...

    async def list_sizes(self) -> dict[str, SessionSize]:
        """How much room each session takes."""
        ...

    def read_facts(self, stream: str, *, after: int, follow: bool) -> AsyncGenerator[WireEvent]:
        """The facts of a session or workspace after a sequence; with `follow` those to come as well, where somebody writes."""
        ...

    async def read_conversation(self, session: str, *, turns: int) -> Table:
        """The session's panels with its newest turns and their parts."""
        ...

    async def read_text(self, text: Text) -> str:
        """All of a text, also where its row holds a preview."""
        ...
