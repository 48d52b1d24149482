"""The command service: the only way to change anything."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from callboard.contracts.commands import TABLE
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.agent import AddAgent
from callboard.contracts.commands.artifact import (
    CreateArtifact,
    DeleteArtifact,
    EditArtifact,
    ExportArtifact,
    RetryArtifact,
    RollbackArtifact,
)
from callboard.contracts.commands.base import Command, Declaration
from callboard.contracts.commands.evidence import ExportEvidence
from callboard.contracts.commands.job import CreateJob, ResumeJob, RetryJobItem
from callboard.contracts.commands.model import TryModel
from callboard.contracts.commands.permission import (
    AddRule,
    DryRunRules,
    EvaluatePermission,
    ResolvePermission,
    RevokeRule,
    RevokeTrust,
    TrustWorkspace,
)
from callboard.contracts.commands.process import ListProcesses
from callboard.contracts.commands.secret import ListSecrets, SetSecret
from callboard.contracts.commands.session import DeleteSession, OpenWorkspace, StartDemo, UpdateSession, WorkspaceIsOpen
from callboard.contracts.commands.session_import import ImportPastSession, ImportTurn, ListPastSessions
from callboard.contracts.commands.settings import UpdateSettings
from callboard.contracts.commands.task import MergeSubagent
from callboard.contracts.commands.tool import GetToolInventory, ListServers, ReconnectServer
from callboard.contracts.commands.turn import EditQueuedTurn, SteerTurn, SubmitTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor
from callboard.control.batch import Decision
from callboard.control.decide import SessionCommand
from callboard.control.effects import ListSession

from .artifacts.service import ArtifactService
from .background_tasks import BackgroundTasks
from .dependencies import Dependencies
from .evidence_exporter import EvidenceExporter
from .permissions.trust_service import PermissionCommand, to_respond_action
from .queries.service import Queries
from .secrets.append_redactor import body_hash, redact_value
from .secrets.key_store import SecretCommand, answer_secret
from .session_importer import imported_session_id
from .session_registry import SessionRegistry, session_id_from
from .workspaces.registry import WorkspaceRegistry
from .worktree_merge import WorktreeMerger

_DECLARED: dict[type[Command], Declaration] = {row.command: row for row in TABLE}
#: Their answers come from programs and servers, so secrets in them are redacted here.
_LIVE_QUERIES = (ListPastSessions, ListProcesses, GetToolInventory, ListServers, TryModel)


class CommandRunner:
    """Implements the port `CommandService`."""

    def __init__(
        self,
        dependencies: Dependencies,
        sessions: SessionRegistry,
        workspaces: WorkspaceRegistry,
        queries: Queries,
        exports: EvidenceExporter,
        artifacts: ArtifactService,
    ) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces
        self._queries = queries
        self._exports = exports
        self._merges = WorktreeMerger(sessions)
        self._artifacts = artifacts
        self._in_flight: dict[str, tuple[str, asyncio.Task[Any]]] = {}
        self._tasks = BackgroundTasks()

    async def submit(self, command: Command, *, key: str = "", actor: Actor) -> Any:
        """Run a command, or answer a query.

        The same key and body have one effect and one answer, also while the first request is
        running (CTL-01). A used key with another body is refused. A `submit_turn` with `turn_id`
        and no key uses that id as its key (CTL-02).

        Raises:
            Refusal: `unknown_command`, `not_authorised`, `invalid_input`, `idempotency_conflict`,
                or what the command refuses.
        """
        declared = _DECLARED.get(type(command))
        if declared is None:
            raise Refusal("unknown_command", f"There is no command {type(command).__name__}.")
        # These commands carry values on purpose, which the log never records.
        if not isinstance(command, SetSecret | UpdateSettings):
            command = redact_value(command, self._dependencies.secrets)
        if declared.query and not isinstance(command, ListSecrets):
            answer = await self._queries.answer(command)
            return redact_value(answer, self._dependencies.secrets) if isinstance(command, _LIVE_QUERIES) else answer
        if declared.authority == "person" and actor.kind not in ("person", "policy"):
            raise Refusal("not_authorised", f"Only a person may run {declared.name}.")
        if isinstance(command, SecretCommand):
            return await answer_secret(command, self._dependencies.secrets)
        if isinstance(command, SubmitTurn | SteerTurn | EditQueuedTurn) and not command.text.strip():
            raise Refusal("invalid_input", "text must not be empty.", field="text", hint="Enter a message.")
        if not key and isinstance(command, SubmitTurn) and command.turn_id is not None:
            key = f"turn:{command.turn_id}"
        if not key:
            return redact_value(await self._dispatch(command, None, actor), self._dependencies.secrets)
        body = body_hash(declared.name, command, self._dependencies.secrets)
        running = self._in_flight.get(key)
        if running is None:
            task = self._tasks.start(self._run_once(command, declared, key, body, actor))
            self._in_flight[key] = (body, task)
            task.add_done_callback(lambda _: self._in_flight.pop(key, None))
        else:
            _require_same_body(running[0], body)
            task = running[1]
        return await self._tasks.wait(task)

    async def wait_settled(self) -> None:
        """Wait for work outside the sessions that must not be interrupted, and cancel the rest."""
        await self._queries.importer.close()
        await self._merges.wait_settled()
        await self._artifacts.wait_settled()
        await self._exports.close()
        # A command with a key is completed even if its caller was cancelled.
        await self._tasks.wait_all()

    async def _run_once(self, command: Command, declared: Declaration, key: str, body: str, actor: Actor) -> Any:
        stored = await self._dependencies.store.facts.answer(key)
        if stored is not None:
            _require_same_body(stored.body_hash, body)
            try:
                return msgspec.json.decode(stored.answer, type=declared.answer)
            except msgspec.MsgspecError as error:
                raise Refusal(
                    "answer_unreadable",
                    f"{declared.name} has run, but this version cannot read its stored answer.",
                    field="idempotencyKey",
                    hint="Read the session to see the result. A new key runs the command again.",
                ) from error
        answer_slot = StoredAnswer(key=key, body_hash=body, answer=b"")
        return redact_value(await self._dispatch(command, answer_slot, actor), self._dependencies.secrets)

    async def _dispatch(self, command: Command, stored_answer: StoredAnswer | None, actor: Actor) -> Any:
        match command:
            case OpenWorkspace():
                return await self._workspaces.open_folder(command, actor, stored_answer)
            case UpdateSession():
                return await self._update(command, actor, stored_answer)
            case DeleteSession():
                return await self._delete(command, stored_answer, actor)
            case StartDemo():
                return await self._start_demo(command, stored_answer, actor)
            case SubmitTurn(session_id=None) | CreateJob(session_id=None):
                return await self._submit_new(command, stored_answer, actor)
            case (
                SubmitTurn(session_id=str(session))
                | CreateJob(session_id=str(session))
                | ResumeJob(session_id=session)
                | RetryJobItem(session_id=session)
                | AddAgent(session_id=session)
            ):
                self._workspaces.require_open(session)
                return await (await self._sessions.get(session)).host.run_command(command, actor, stored_answer)
            case ImportTurn() | ImportPastSession():
                return await self._import(command, stored_answer, actor)
            case RespondAction():
                return await self._respond(command, stored_answer, actor)
            case ResolvePermission(policy=policy):
                return await self._respond(to_respond_action(command), stored_answer, Actor(kind="policy", id=policy))
            case (
                TrustWorkspace()
                | RevokeTrust()
                | AddRule()
                | RevokeRule()
                | DryRunRules()
                | EvaluatePermission()
                | UpdateSettings()
            ):
                return await self._run_permission(command, stored_answer, actor)
            case MergeSubagent() | ReconnectServer():
                return await self._run_outside(command, actor, stored_answer)
            case (
                CreateArtifact()
                | EditArtifact()
                | RollbackArtifact()
                | RetryArtifact()
                | ExportArtifact()
                | DeleteArtifact()
            ):
                return await self._artifacts.submit(command, actor, stored_answer)
            case ExportEvidence():
                return await self._exports.export(command, actor, stored_answer)
            case _:
                session_command: SessionCommand = command  # pyright: ignore[reportAssignmentType]
                opened = await self._sessions.get(getattr(command, "session_id", None) or "")
                return await opened.host.run_command(session_command, actor, stored_answer)

    async def _run_outside(
        self, command: MergeSubagent | ReconnectServer, actor: Actor, stored_answer: StoredAnswer | None
    ) -> Any:
        """Run a command that has effects outside the log."""
        if isinstance(command, ReconnectServer):
            return await self._queries.tools.reconnect(command)
        return await self._merges.merge(command, actor, stored_answer)

    async def _run_permission(
        self,
        command: PermissionCommand | DryRunRules | EvaluatePermission | UpdateSettings,
        stored_answer: StoredAnswer | None,
        actor: Actor,
    ) -> Any:
        trusting = self._queries.trust
        match command:
            case DryRunRules() | EvaluatePermission():
                return await trusting.answer(command)
            case UpdateSettings():
                return await trusting.update(command, actor, stored_answer)
            case _:
                return await trusting.submit(command, actor, stored_answer)

    async def _submit_new(
        self, command: SubmitTurn | CreateJob, stored_answer: StoredAnswer | None, actor: Actor
    ) -> Any:
        """Create a session with its first turn or job.

        A turn with a caller's id always creates the same session, so a repetition creates no second
        one (CTL-02). The session is listed right after its first facts, because a refused session
        must not be listed. After a crash in between, recovery lists it.
        """
        if command.workspace_id is None:
            raise Refusal(
                "invalid_input",
                f"A {'job' if isinstance(command, CreateJob) else 'turn'} needs a session, or a workspace to create one in.",
                field="workspaceId",
                hint="Give sessionId or workspaceId.",
            )
        self._workspaces.get(command.workspace_id).require_folder()
        workspace = command.workspace_id
        session = self._dependencies.ids.new("session")
        if isinstance(command, SubmitTurn) and command.turn_id is not None:
            session = session_id_from(command.turn_id)
            if self._workspaces.was_deleted(session) or (await self._dependencies.store.facts.head(session)).sequence:
                raise Refusal(
                    "turn_id_used",
                    f"Turn {command.turn_id} already created a session.",
                    field="turnId",
                    hint="Omit turnId, or use a new one.",
                )
        opened = await self._sessions.open(session, workspace)

        async def list_it(decision: Decision) -> None:
            title = next((new.fact.title for new in decision.facts if isinstance(new.fact, SessionCreated)), "")
            await self._workspaces.apply_effect(session, workspace, ListSession(workspace, title, f"{session}/1"))

        try:
            request = msgspec.structs.replace(command, session_id=session)
            answer = await opened.host.run_command(request, actor, stored_answer, list_it)
        except Refusal:
            if opened.host.state.sequence == 0:
                await self._sessions.release(session)
            raise
        # The caller can use the session in commands of its workspace at once.
        await self._workspaces.apply_effect(
            session, workspace, ListSession(workspace, opened.host.state.title, f"{session}/1")
        )
        return answer

    async def _start_demo(self, command: StartDemo, stored_answer: StoredAnswer | None, actor: Actor) -> Any:
        """Start a demo. The answer is stored with its first turn; a crash before that leaves only a
        folder."""
        demos = self._dependencies.demos
        if demos is None:
            raise Refusal("invalid_input", "This process has no demos.", field="name")
        demo = await asyncio.to_thread(demos.set_out, command.name)
        opened: WorkspaceIsOpen = await self._workspaces.open_folder(OpenWorkspace(path=demo.folder), actor, None)
        turn = SubmitTurn(
            workspace_id=opened.workspace_id,
            text=demo.objective,
            mode=demo.mode,
            permission_mode=demo.permission_mode,
        )
        return await self._submit_new(turn, stored_answer, actor)

    async def _import(
        self, command: ImportTurn | ImportPastSession, stored_answer: StoredAnswer | None, actor: Actor
    ) -> Any:
        """Import a turn or a past session. The same source always maps to the same session; a
        deleted one stays deleted."""
        if isinstance(command, ImportPastSession):
            return await self._queries.importer.import_session(
                command, actor, stored_answer, lambda turn: self.submit(turn, actor=actor)
            )
        self._workspaces.get(command.workspace_id).require_approved()
        self._queries.importer.require_not_driven(command.source_id)
        session = imported_session_id(command.source, command.source_id)
        new = (await self._dependencies.store.facts.head(session)).sequence == 0
        opened = await self._sessions.open(session, command.workspace_id if new else "")
        answer = await opened.host.run_command(command, actor, stored_answer)
        if new:
            state = opened.host.state
            effect = ListSession(state.workspace, state.title, f"{session}/1")
            await self._workspaces.apply_effect(session, state.workspace, effect)
        return answer

    async def _respond(self, command: RespondAction, stored_answer: StoredAnswer | None, actor: Actor) -> Any:
        """Answer an action. If it is settled, return the first decision."""
        opened = await self._sessions.get(command.session_id)
        try:
            return await opened.host.run_command(command, actor, stored_answer)
        except Refusal as refusal:
            if refusal.code != "unknown_action":
                raise
            settled = await self._queries.find_settled_action(command.session_id, command.action_id)
            if settled is None:
                raise
            return settled

    async def _update(self, command: UpdateSession, actor: Actor, stored_answer: StoredAnswer | None) -> Any:
        """Update a session. Unarchiving it sets its timers again."""
        answer = await self._workspaces.update_session(command, actor, stored_answer)
        if command.archived is False and command.session_id in self._workspaces.scheduled_sessions():
            (await self._sessions.get(command.session_id)).host.arm_timers()
        return answer

    async def _delete(self, command: DeleteSession, stored_answer: StoredAnswer | None, actor: Actor) -> Any:
        """Delete a session. The fact comes first, so recovery completes an interrupted deletion."""
        host = self._workspaces.require_deletable(command)
        async with self._sessions.locked_out(command.session_id):
            head = await self._dependencies.store.facts.head(command.session_id)
            answer = await self._workspaces.record_deletion(host, command.session_id, head, actor, stored_answer)
            await self._dependencies.store.rows.clear(command.session_id)
            await self._dependencies.store.facts.delete(command.session_id)
        return answer


def _require_same_body(first: str, second: str) -> None:
    if first != second:
        raise Refusal(
            "idempotency_conflict",
            "This key was used for another request.",
            field="Idempotency-Key",
            hint="Use a new key for a new request. Repeat the same body to get the first answer.",
        )
