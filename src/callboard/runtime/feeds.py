"""Streams that clients follow: row operations, facts and events."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.live import Cursor
from callboard.contracts.ports.live import LiveFacts, LiveGap, LiveItem
from callboard.contracts.record import Record

from .dependencies import Dependencies
from .events.stream import EventStream
from .session_registry import SessionRegistry
from .workspaces.registry import WorkspaceRegistry

#: Number of facts per read.
PAGE = 1000


class RuntimeFeeds:
    """Implements the port `Feeds`."""

    def __init__(
        self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry, events: EventStream
    ) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces
        self._events = events

    async def follow_ops(self, stream: str, *, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Yield row operations of a session or a workspace as encoded server-sent events."""
        if is_workspace_stream(stream):
            follow = self._workspaces.get(stream).follow(after)
            await self._sessions.wait_shown()
        else:
            opened = await self._sessions.get(stream)
            await opened.views.wait_for(opened.host.state.sequence)
            follow = opened.views.follow(after)
        async with aclosing(follow) as chunks:
            async for chunk in chunks:
                yield chunk
                # Free the chunk before waiting: it can be a whole snapshot.
                del chunk

    async def follow_facts(self, stream: str, *, after: int) -> AsyncGenerator[tuple[Record, ...]]:
        """Yield the facts after a sequence: stored facts, then live ones."""
        if is_workspace_stream(stream):
            self._workspaces.get(stream)
        else:
            await self._sessions.get(stream)
        async with aclosing(self._dependencies.store.facts.subscribe(stream, after=after)) as subscription:
            async for records in subscription:
                yield records

    async def follow_live(self, session: str) -> AsyncGenerator[tuple[LiveItem, ...]]:
        """Yield all facts and partial text of a session in one order."""
        await self._sessions.get(session)
        reached = 0
        async with aclosing(self._dependencies.feed.follow(session)) as batches:
            async for items in batches:
                for item in items:
                    async for records in self._read_gap(session, reached, item):
                        reached = records[-1].sequence
                        yield (LiveFacts(Cursor(reached), records),)
                    reached = item.cursor.sequence
                    yield (item,)

    async def _read_gap(self, session: str, reached: int, item: LiveItem) -> AsyncGenerator[tuple[Record, ...]]:
        """Yield the facts before a gap that were not yielded yet. Every other item continues without a gap."""
        until = item.cursor.sequence if isinstance(item, LiveGap) else 0
        while reached < until:
            records = await self._dependencies.store.facts.read(session, after=reached, until=until, limit=PAGE)
            if not records:
                # The session was deleted during the read.
                return
            reached = records[-1].sequence
            yield records

    async def follow_events(self, workspace: str, *, after: int | None) -> AsyncGenerator[bytes]:
        """Yield the events of a workspace, encoded."""
        self._workspaces.get(workspace)
        await self._sessions.wait_shown()
        async with aclosing(self._events.follow(workspace, after)) as chunks:
            async for chunk in chunks:
                yield chunk
                # Free the chunk before waiting: it can be a whole snapshot.
                del chunk
