"""Import of past sessions of other products."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import cast

import msgspec

from callboard.contracts.commands.base import Answer
from callboard.contracts.commands.session_import import (
    ImportPastSession,
    ImportTurn,
    ListPastSessions,
    PastSessionEntry,
    PastSessionImported,
    PastSessionList,
    TurnImported,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionSource
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor
from callboard.control.effects import ListSession

from ..background_tasks import BackgroundTasks
from ..dependencies import Dependencies
from ..secrets.append_redactor import redact_value
from ..service import Service, answers, carries_out
from ..session_registry import SessionRegistry, derive_session_id
from ..workspaces.registry import WorkspaceRegistry


@dataclass
class _Progress:
    """Number of turns that an import has read."""

    turns: int = 0


class SessionImporter(Service):
    """Lists and imports past sessions.

    It reads files in threads and imports each turn as a separate command, so other commands run
    between two turns.
    """

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        super().__init__(dependencies, sessions, workspaces)
        self._tasks = BackgroundTasks()
        self._imports: dict[str, tuple[_Progress, asyncio.Task[PastSessionImported]]] = {}
        self._closing = False

    @answers(ListPastSessions)
    async def list_sessions(self, query: ListPastSessions) -> PastSessionList:
        """Return the past sessions of the workspace's folder and their import state."""
        folder = self._workspaces.get(query.workspace_id).state.path
        past = self._dependencies.past_sessions
        if past is None:
            return PastSessionList(sessions=())
        listing = await asyncio.to_thread(past.find, folder)
        imported = {session for host in self._workspaces.all() for session in host.state.sessions}
        driven = await self._find_driven_sessions()
        entries = (
            self._add_import_state(entry, imported) for entry in listing.sessions if entry.source_id not in driven
        )
        return msgspec.structs.replace(listing, sessions=tuple(entry for entry in entries if entry is not None))

    @carries_out(ImportTurn)
    async def import_turn(self, command: ImportTurn, actor: Actor, stored_answer: StoredAnswer | None) -> Answer:
        """Import a turn. The same source always maps to the same session; a deleted one stays deleted."""
        self._workspaces.get(command.workspace_id).require_approved()
        await self._require_not_driven(command.source_id)
        session = derive_imported_session_id(command.source, command.source_id)
        new = (await self._dependencies.store.facts.read_head(session)).sequence == 0
        opened = await self._sessions.open(session, command.workspace_id if new else "")
        answer = await opened.host.run_command(command, actor, stored_answer)
        if new:
            state = opened.host.state
            effect = ListSession(state.workspace, state.title, f"{session}/1")
            await self._workspaces.apply_effect(session, state.workspace, effect)
        return answer

    @carries_out(ImportPastSession)
    async def import_session(
        self, request: ImportPastSession, actor: Actor, stored_answer: StoredAnswer | None
    ) -> PastSessionImported:
        """Import a past session. A second request joins the running import."""
        host = self._workspaces.get(request.workspace_id)
        await self._require_not_driven(request.source_id)
        host.require_approved()
        session = derive_imported_session_id(request.source, request.source_id)
        if self._workspaces.was_deleted(session):
            raise Refusal(
                "unknown_session",
                "This past session was imported and then deleted here.",
                field="sourceId",
                hint="A deleted session cannot be imported again.",
            )
        if session in self._imports:
            task = self._imports[session][1]
        else:
            progress = _Progress()
            task = self._tasks.start(self._import(request, host.state.path, progress, actor))
            self._imports[session] = progress, task
            task.add_done_callback(lambda _: self._imports.pop(session, None))
        answer = await self._tasks.wait(task)
        return await host.change(lambda _: ((), answer), actor, stored_answer=stored_answer)

    async def _require_not_driven(self, source_id: str) -> None:
        """Refuse a past session that a session here created."""
        session = (await self._find_driven_sessions()).get(source_id)
        if session is not None:
            raise Refusal(
                "session_driven",
                f"Session {session} started this session and already contains it.",
                field="sourceId",
                hint=f"Read {session} instead.",
            )

    async def _find_driven_sessions(self) -> dict[str, str]:
        """Return the conversations of external agents that sessions here started, each with its session."""
        await self._sessions.wait_shown()
        return {
            conversation: card.session_id
            for host in self._workspaces.all()
            for card in host.cards()
            for conversation in card.driven
        }

    async def close(self) -> None:
        """Stop the running imports after their current turn. A later import continues with the rest."""
        self._closing = True
        await self._tasks.wait_all()

    async def _import(
        self, request: ImportPastSession, folder: str, progress: _Progress, actor: Actor
    ) -> PastSessionImported:
        past = self._dependencies.past_sessions
        source = (folder, request.source, request.source_id, request.workspace_id)
        transcript = await asyncio.to_thread(past.open, *source) if past is not None else None
        if transcript is None:
            raise Refusal(
                "unknown_session",
                f"This folder has no past session {request.source_id}.",
                field="sourceId",
                hint="Find past sessions with list_past_sessions.",
            )
        session, added = "", 0
        while (turn := await asyncio.to_thread(next, transcript.turns, None)) is not None:
            if self._closing:
                raise Refusal(
                    "unreachable",
                    "Callboard is shutting down.",
                    hint="Start it again and repeat the import. It continues.",
                )
            turn = redact_value(turn, self._dependencies.secrets)
            imported = cast("TurnImported", await self.import_turn(turn, actor, None))
            session = imported.session_id
            progress.turns += 1
            added += imported.added
        if not session:
            raise Refusal(
                "nothing_to_import",
                "The past session has no finished turn.",
                field="sourceId",
                hint="A turn can be imported when its transcript has not changed for 5 minutes. Try again then.",
            )
        return PastSessionImported(
            session_id=session, added=added, known=progress.turns - added, unfinished=transcript.unfinished
        )

    def _add_import_state(self, entry: PastSessionEntry, imported: set[str]) -> PastSessionEntry | None:
        """Return the entry with its import state; None if a person deleted the import."""
        session = derive_imported_session_id(entry.source, entry.source_id)
        if self._workspaces.was_deleted(session):
            return None
        running = self._imports.get(session)
        return msgspec.structs.replace(
            entry,
            session_id=session,
            imported=session in imported,
            importing=running[0].turns if running is not None else None,
        )


def derive_imported_session_id(source: SessionSource, source_id: str) -> str:
    """Return the id of the session that a past session is imported as. It is always the same."""
    return derive_session_id(f"{source}:{source_id}")
