"""What the surfaces follow: row operations of a session or a workspace, and facts."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.live import Cursor
from callboard.contracts.record import Record

from .events.stream import EventStream
from .parts import Parts
from .sessions import Sessions
from .workspaces import Workspaces


class RuntimeFeeds:
    """Implements the port `Feeds`."""

    def __init__(self, parts: Parts, sessions: Sessions, workspaces: Workspaces, events: EventStream) -> None:
        self._parts = parts
        self._sessions = sessions
        self._workspaces = workspaces
        self._events = events

    async def ops(self, stream: str, *, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Encoded server-sent events of row operations. Raises Refusal `unknown_session`, `unknown_workspace`."""
        if is_workspace_stream(stream):
            follow = self._workspaces.get(stream).follow(after)
        else:
            found = await self._sessions.get(stream)
            await found.views.reach(found.begun)
            follow = found.views.follow(after)
        async with aclosing(follow) as chunks:
            async for chunk in chunks:
                yield chunk

    async def facts(self, stream: str, *, after: int) -> AsyncGenerator[tuple[Record, ...]]:
        """The facts after a sequence, stored and then live. Raises Refusal where there is no such stream."""
        if is_workspace_stream(stream):
            self._workspaces.get(stream)
        else:
            await self._sessions.get(stream)
        async with aclosing(self._parts.store.facts.subscribe(stream, after=after)) as subscription:
            async for records in subscription:
                yield records

    async def events(self, workspace: str, *, after: int | None) -> AsyncGenerator[bytes]:
        """Encoded events of a workspace. Raises Refusal `unknown_workspace`."""
        self._workspaces.get(workspace)
        async with aclosing(self._events.follow(workspace, after)) as chunks:
            async for chunk in chunks:
                yield chunk
