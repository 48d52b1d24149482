"""Past sessions of other products: what there is in a folder, and taking one over turn by turn, as `import_turn` does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec

from callboard.contracts.commands.imports import ImportTurn, TurnImported
from callboard.contracts.commands.past import (
    ImportPastSession,
    ListPastSessions,
    PastSessionFound,
    PastSessionImported,
    PastSessionList,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionSource
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor

from .background_tasks import BackgroundTasks
from .dependencies import Dependencies
from .session_registry import session_id_from
from .workspaces.registry import WorkspaceRegistry

ImportSession = Callable[[ImportTurn], Awaitable[TurnImported]]


@dataclass
class _Progress:
    """How many turns an import looked at so far."""

    turns: int = 0


class SessionImporter:
    """Tells of past sessions and takes them over. Files are read in threads, and each turn is decided like any command, so
    that others go on between two."""

    def __init__(self, dependencies: Dependencies, workspaces: WorkspaceRegistry) -> None:
        self._dependencies = dependencies
        self._workspaces = workspaces
        self._tasks = BackgroundTasks()
        self._imports: dict[str, tuple[_Progress, asyncio.Task[PastSessionImported]]] = {}
        self._closing = False

    async def list(self, query: ListPastSessions) -> PastSessionList:
        """What there is in the workspace's folder, and what is here of it. Raises Refusal `unknown_workspace`."""
        folder = self._workspaces.get(query.workspace_id).state.path
        past = self._dependencies.past_sessions
        if past is None:
            return PastSessionList(sessions=())
        found = await asyncio.to_thread(past.find, folder)
        here = {session for host in self._workspaces.all() for session in host.state.sessions}
        driven = self._driven()
        told = (self._told(one, here) for one in found.sessions if one.source_id not in driven)
        return msgspec.structs.replace(found, sessions=tuple(one for one in told if one is not None))

    async def import_session(
        self, request: ImportPastSession, actor: Actor, stored_answer: StoredAnswer | None, take: ImportSession
    ) -> PastSessionImported:
        """Takes one over; who asks for one that is under way gets what that comes to, and it goes on when its asker goes away.
        Raises Refusal `unknown_workspace`, `unknown_session`, `transcript_unreadable`, and what `take` raises of a turn."""
        host = self._workspaces.get(request.workspace_id)
        self.require_not_driven(request.source_id)
        host.require_approved()
        session = imported_session_id(request.source, request.source_id)
        if self._workspaces.was_deleted(session):
            raise Refusal(
                "unknown_session",
                "This past session was imported, and was deleted here since.",
                field="sourceId",
                hint="What was deleted is not imported again.",
            )
        if session in self._imports:
            task = self._imports[session][1]
        else:
            progress = _Progress()
            task = self._tasks.start(self._take(request, host.state.path, progress, take))
            self._imports[session] = progress, task
            task.add_done_callback(lambda _: self._imports.pop(session, None))
        answer = await self._tasks.wait(task)
        return await host.change(lambda _: ((), answer), actor, stored_answer=stored_answer)

    def require_not_driven(self, source_id: str) -> None:
        """Refuse a past session that is the work of a session here. Raises Refusal `session_driven`."""
        session = self._driven().get(source_id)
        if session is not None:
            raise Refusal(
                "session_driven",
                f"Session {session} started this one, and holds all of it.",
                field="sourceId",
                hint=f"Read {session} in its place.",
            )

    def _driven(self) -> dict[str, str]:
        """The conversations of external agents that sessions here held, each with its session."""
        return {one: card.session_id for host in self._workspaces.all() for card in host.cards() for one in card.driven}

    async def close(self) -> None:
        """Ends what is under way behind the turn that it is at. What was taken over stays, and the rest comes when it is
        imported again."""
        self._closing = True
        await self._tasks.wait_all()

    async def _take(
        self, request: ImportPastSession, folder: str, progress: _Progress, take: ImportSession
    ) -> PastSessionImported:
        past = self._dependencies.past_sessions
        wanted = (folder, request.source, request.source_id, request.workspace_id)
        found = await asyncio.to_thread(past.open, *wanted) if past is not None else None
        if found is None:
            raise Refusal(
                "unknown_session",
                f"There is no past session {request.source_id} of this folder.",
                field="sourceId",
                hint="list_past_sessions names them.",
            )
        session, added = "", 0
        while (turn := await asyncio.to_thread(next, found.turns, None)) is not None:
            if self._closing:
                raise Refusal("unreachable", "Callboard is ending.", hint="Import it again: what is there stays.")
            taken = await take(turn)
            session = taken.session_id
            progress.turns += 1
            added += taken.added
        if not session:
            raise Refusal(
                "nothing_to_import",
                "The past session has no finished turn yet.",
                field="sourceId",
                hint="A turn is imported once its transcript did not change for 5 minutes. Try again then.",
            )
        return PastSessionImported(
            session_id=session, added=added, known=progress.turns - added, unfinished=found.unfinished
        )

    def _told(self, one: PastSessionFound, here: set[str]) -> PastSessionFound | None:
        """What is here of it; None of one that a person deleted."""
        session = imported_session_id(one.source, one.source_id)
        if self._workspaces.was_deleted(session):
            return None
        running = self._imports.get(session)
        return msgspec.structs.replace(
            one,
            session_id=session,
            imported=session in here,
            importing=running[0].turns if running is not None else None,
        )


def imported_session_id(source: SessionSource, source_id: str) -> str:
    """The id of the session that a past one is here: the same however often it is imported."""
    return session_id_from(f"{source}:{source_id}")
