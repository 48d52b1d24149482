"""Reader over the running process."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from callboard.client import Client
from callboard.contracts.commands.session import (
    GetParts,
    GetTurns,
    ListSessions,
    ListSizes,
    ListWorkspaces,
    PartList,
    SessionList,
    SessionSize,
    SizeList,
    TurnList,
    WorkspaceList,
)
from callboard.contracts.content import Text
from callboard.contracts.record import WireEvent
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.session import WorkspaceRow
from callboard.contracts.rows.turn import TurnRow
from callboard.projection.rows import Table

from .port import SessionListing

_PAGE = 1000


class RemoteReader:
    """A `Reader` over HTTP."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def list_workspaces(self) -> tuple[WorkspaceRow, ...]:
        listed: WorkspaceList = await self._client.submit(ListWorkspaces())
        return listed.workspaces

    async def list_sessions(self) -> SessionListing:
        """Return all sessions, once no rows are being rebuilt: `last` must be the newest of all."""
        while True:
            # The server delays this response while it rebuilds, so the loop does not spin.
            listed: SessionList = await self._client.submit(ListSessions())
            if not listed.rebuilding:
                break
        return SessionListing(tuple(sorted(listed.sessions, key=lambda card: -card.order)), listed.missing)

    async def list_sizes(self) -> dict[str, SessionSize]:
        listed: SizeList = await self._client.submit(ListSizes())
        return {size.session_id: size for size in listed.sizes}

    async def read_facts(self, stream: str, *, after: int, follow: bool) -> AsyncGenerator[WireEvent]:
        if follow:
            async with aclosing(self._client.follow_facts(stream, after=after)) as events:
                async for event in events:
                    yield event
            return
        while page := await self._client.read_facts(stream, after=after, limit=_PAGE):
            for event in page:
                yield event
            after = page[-1].sequence

    async def read_conversation(self, session: str, *, turns: int) -> Table:
        """Return the snapshot, with partials, and all parts of ended turns, which a snapshot may omit."""
        table = Table()
        async with aclosing(self._client.follow_ops(session)) as batches:
            async for batch in batches:
                table.apply(batch.ops)
                break
        listed: TurnList = await self._client.submit(GetTurns(session_id=session, limit=turns))
        for turn in listed.turns:
            if turn.ended_at:
                parts: PartList = await self._client.submit(GetParts(session_id=session, turn_id=turn.turn_id))
                table.apply(Upsert(row.panel, row) for row in parts.parts)
                table.apply([Upsert(TurnRow.panel, turn)])
        return table

    async def read_text(self, text: Text) -> str:
        return await self._client.read_text(text)
