"""What the surfaces follow: row operations of a session or a workspace, and facts."""

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

#: How many facts are read at once.
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

    async def ops(self, stream: str, *, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Encoded server-sent events of row operations. Raises Refusal `unknown_session`, `unknown_workspace`."""
        if is_workspace_stream(stream):
            follow = self._workspaces.get(stream).follow(after)
        else:
            found = await self._sessions.get(stream)
            await found.views.wait_for(found.first_sequence)
            follow = found.views.follow(after)
        async with aclosing(follow) as chunks:
            async for chunk in chunks:
                yield chunk
                # Not kept while nothing comes: it may be a whole snapshot.
                del chunk

    async def facts(self, stream: str, *, after: int) -> AsyncGenerator[tuple[Record, ...]]:
        """The facts after a sequence, stored and then live. Raises Refusal where there is no such stream."""
        if is_workspace_stream(stream):
            self._workspaces.get(stream)
        else:
            await self._sessions.get(stream)
        async with aclosing(self._dependencies.store.facts.subscribe(stream, after=after)) as subscription:
            async for records in subscription:
                yield records

    async def live(self, session: str) -> AsyncGenerator[tuple[LiveItem, ...]]:
        """All facts and the text in the making, in one order. Raises Refusal `unknown_session`."""
        await self._sessions.get(session)
        reached = 0
        async with aclosing(self._dependencies.feed.follow(session)) as batches:
            async for items in batches:
                for item in items:
                    async for records in self._missed(session, reached, item):
                        reached = records[-1].sequence
                        yield (LiveFacts(Cursor(reached), records),)
                    reached = item.cursor.sequence
                    yield (item,)

    async def _missed(self, session: str, reached: int, item: LiveItem) -> AsyncGenerator[tuple[Record, ...]]:
        """The facts before a gap's place that were not told yet. Whatever else comes leads on from what was told."""
        until = item.cursor.sequence if isinstance(item, LiveGap) else 0
        while reached < until:
            records = await self._dependencies.store.facts.read(session, after=reached, until=until, limit=PAGE)
            if not records:
                # The session was deleted meanwhile; nothing follows.
                return
            reached = records[-1].sequence
            yield records

    async def events(self, workspace: str, *, after: int | None) -> AsyncGenerator[bytes]:
        """Encoded events of a workspace. Raises Refusal `unknown_workspace`."""
        self._workspaces.get(workspace)
        async with aclosing(self._events.follow(workspace, after)) as chunks:
            async for chunk in chunks:
                yield chunk
                # Not kept while nothing comes: it may be a whole snapshot.
                del chunk
