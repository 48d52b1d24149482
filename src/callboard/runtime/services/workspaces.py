"""Commands on the list of workspaces and sessions."""

from __future__ import annotations

from callboard.contracts.commands.session import (
    DeletedSession,
    DeleteSession,
    ListSessions,
    ListWorkspaces,
    OpenedWorkspace,
    OpenWorkspace,
    SessionList,
    SessionUpdated,
    UpdateSession,
    WorkspaceList,
)
from callboard.contracts.facts.workspace import SessionDeleted
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.record import NewFact
from callboard.contracts.scope import Actor
from callboard.control.workspace import require_deletable, update_session

from ..service import Service, answers, carries_out


class WorkspaceService(Service):
    """Opens workspaces, and lists, updates and deletes their sessions."""

    @carries_out(OpenWorkspace)
    async def open_workspace(
        self, command: OpenWorkspace, actor: Actor, stored_answer: StoredAnswer | None
    ) -> OpenedWorkspace:
        """Open a folder as a workspace."""
        return await self._workspaces.open_folder(command, actor, stored_answer)

    @answers(ListWorkspaces)
    async def list_workspaces(self, _: ListWorkspaces) -> WorkspaceList:
        """Return the opened workspaces."""
        return WorkspaceList(workspaces=tuple(row for host in self._workspaces.all() for row in host.rows()))

    @answers(ListSessions)
    async def list_sessions(self, query: ListSessions) -> SessionList:
        """Return the sessions of one workspace or of all."""
        workspace = query.workspace_id
        hosts = self._workspaces.all() if workspace is None else [self._workspaces.get(workspace)]
        await self._sessions.wait_shown()
        rebuilding, missing = await self._workspaces.wait_listed(hosts, self._dependencies.limits.rebuild_wait)
        return SessionList(sessions=self._workspaces.cards(workspace), rebuilding=rebuilding, missing=missing)

    @carries_out(UpdateSession)
    async def update_session(
        self, command: UpdateSession, actor: Actor, stored_answer: StoredAnswer | None
    ) -> SessionUpdated:
        """Rename, pin or archive a session. Unarchiving it sets its timers again."""
        host = self._workspaces.find_holder(command.session_id)
        answer = await host.change(lambda state: update_session(state, command), actor, stored_answer=stored_answer)
        if command.archived is False and command.session_id in self._workspaces.scheduled_sessions():
            (await self._sessions.get(command.session_id)).host.arm_timers()
        return answer

    @carries_out(DeleteSession)
    async def delete_session(
        self, command: DeleteSession, actor: Actor, stored_answer: StoredAnswer | None
    ) -> DeletedSession:
        """Delete a session. The fact comes first, so recovery completes an interrupted deletion."""
        session, store = command.session_id, self._dependencies.store
        host = self._workspaces.find_holder(session)
        require_deletable(host.state, command)
        async with self._sessions.lock_out(session):
            head = await store.facts.read_head(session)
            fact = SessionDeleted(session_id=session, last_sequence=head.sequence, link=head.link.hex())
            answer = DeletedSession(session_id=session, last_sequence=head.sequence, link=fact.link)
            await host.change(lambda _: ((NewFact(fact),), answer), actor, stored_answer=stored_answer)
            await store.rows.clear(session)
            await store.facts.delete(session)
        return answer
