"""The start of sessions, and of new work in them."""

from __future__ import annotations

import asyncio

import msgspec

from callboard.contracts.commands.agent import AddAgent
from callboard.contracts.commands.base import Answer
from callboard.contracts.commands.job import CreateJob, ResumeJob, RetryJobItem
from callboard.contracts.commands.session import OpenWorkspace, StartDemo
from callboard.contracts.commands.turn import SubmitTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor
from callboard.control.batch import Decision
from callboard.control.effects import ListSession

from ..service import Service, carries_out
from ..session_registry import derive_session_id


class SessionStarter(Service):
    """Starts turns and jobs. Without a session they create one."""

    @carries_out(SubmitTurn, CreateJob)
    async def start(self, command: SubmitTurn | CreateJob, actor: Actor, stored_answer: StoredAnswer | None) -> Answer:
        """Start a turn or a job."""
        if command.session_id is not None:
            return await self._run(command.session_id, command, actor, stored_answer)
        return await self._create(command, actor, stored_answer)

    @carries_out(ResumeJob, RetryJobItem, AddAgent)
    async def continue_work(
        self, command: ResumeJob | RetryJobItem | AddAgent, actor: Actor, stored_answer: StoredAnswer | None
    ) -> Answer:
        """Start work in a session. It needs the folder."""
        return await self._run(command.session_id, command, actor, stored_answer)

    @carries_out(StartDemo)
    async def start_demo(self, command: StartDemo, actor: Actor, stored_answer: StoredAnswer | None) -> Answer:
        """Start a demo. The answer is stored with its first turn; a crash before that leaves only a folder."""
        demos = self._dependencies.demos
        if demos is None:
            raise Refusal(
                "invalid_input",
                "This process has no demos.",
                field="name",
                hint="Send it to a server that was started with `callboard`.",
            )
        demo = await asyncio.to_thread(demos.create_folder, command.name)
        opened = await self._workspaces.open_folder(OpenWorkspace(path=demo.folder), actor, None)
        turn = SubmitTurn(
            workspace_id=opened.workspace_id,
            text=demo.objective,
            mode=demo.mode,
            permission_mode=demo.permission_mode,
        )
        return await self._create(turn, actor, stored_answer)

    async def _run(
        self,
        session: str,
        command: SubmitTurn | CreateJob | ResumeJob | RetryJobItem | AddAgent,
        actor: Actor,
        stored_answer: StoredAnswer | None,
    ) -> Answer:
        self._workspaces.require_open(session)
        return await (await self._sessions.get(session)).host.run_command(command, actor, stored_answer)

    async def _create(
        self, command: SubmitTurn | CreateJob, actor: Actor, stored_answer: StoredAnswer | None
    ) -> Answer:
        """Create a session with its first turn or job.

        A turn with a caller's id always creates the same session, so a repetition creates no second
        one (CTL-02). The session is listed right after its first facts, because a refused session
        must not be listed. After a crash in between, recovery lists it.
        """
        workspace = command.workspace_id
        if workspace is None:
            raise Refusal(
                "invalid_input",
                f"A {'job' if isinstance(command, CreateJob) else 'turn'} needs a session, or a workspace to create one in.",
                field="workspaceId",
                hint="Give sessionId or workspaceId.",
            )
        self._workspaces.get(workspace).require_folder()
        session = self._dependencies.ids.new("session")
        if isinstance(command, SubmitTurn) and command.turn_id is not None:
            session = await self._derive_session(command.turn_id)
        opened = await self._sessions.open(session, workspace)

        async def list_session(decision: Decision) -> None:
            title = next((new.fact.title for new in decision.facts if isinstance(new.fact, SessionCreated)), "")
            await self._workspaces.apply_effect(session, workspace, ListSession(workspace, title, f"{session}/1"))

        try:
            request = msgspec.structs.replace(command, session_id=session)
            # A busy workspace would keep the group commit waiting.
            is_busy = self._workspaces.get(workspace).is_changing
            answer = await opened.host.run_command(
                request, actor, stored_answer, list_session=None if is_busy else list_session
            )
        except Refusal:
            if opened.host.state.sequence == 0:
                await self._sessions.release(session)
            raise
        if session not in opened.host.workspace.sessions:
            # The caller can use the session in commands of its workspace immediately.
            effect = ListSession(workspace, opened.host.state.title, f"{session}/1")
            await self._workspaces.apply_effect(session, workspace, effect)
        return answer

    async def _derive_session(self, turn: str) -> str:
        """Return the id of the session that a turn creates; refuse the second use of a turn's id."""
        session = derive_session_id(turn)
        if self._workspaces.was_deleted(session) or (await self._dependencies.store.facts.read_head(session)).sequence:
            raise Refusal(
                "turn_id_used",
                f"Turn {turn} already created a session.",
                field="turnId",
                hint="Omit turnId, or use a new one.",
            )
        return session
