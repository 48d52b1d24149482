"""The command service: the only way to change anything. Keys make a command safe to repeat."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from callboard.contracts.commands import (
    TABLE,
    DeleteSession,
    EditQueuedTurn,
    ImportTurn,
    OpenWorkspace,
    RespondAction,
    StartDemo,
    SteerTurn,
    SubmitTurn,
    UpdateSession,
    WorkspaceIsOpen,
)
from callboard.contracts.commands.agents import AddAgent
from callboard.contracts.commands.artifacts import (
    CreateArtifact,
    DeleteArtifact,
    EditArtifact,
    ExportArtifact,
    RetryArtifact,
    RollbackArtifact,
)
from callboard.contracts.commands.base import Command, Declaration
from callboard.contracts.commands.evidence import ExportEvidence
from callboard.contracts.commands.jobs import CreateJob, ResumeJob, RetryJobItem
from callboard.contracts.commands.models import TryModel
from callboard.contracts.commands.past import ImportPastSession, ListPastSessions
from callboard.contracts.commands.processes import ListProcesses
from callboard.contracts.commands.secrets import ListSecrets, SetSecret
from callboard.contracts.commands.settings import UpdateSettings
from callboard.contracts.commands.tasks import MergeSubagent
from callboard.contracts.commands.tooling import GetToolInventory, ListServers, ReconnectServer
from callboard.contracts.commands.trust import (
    AddRule,
    DryRunRules,
    EvaluatePermission,
    ResolvePermission,
    RevokeRule,
    RevokeTrust,
    TrustWorkspace,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import SessionCreated
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
#: What is answered to these comes from programs and servers as they are now, and not from facts.
_TOLD = (ListPastSessions, ListProcesses, GetToolInventory, ListServers, TryModel)


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
        """Carries a command out, or answers a query. Raises Refusal.

        The same key and body have one effect and one answer, also while the first is in flight (CTL-01); another body under
        a used key is refused. A `submit_turn` with a `turn_id` and no key is keyed by that id (CTL-02).
        """
        declared = _DECLARED.get(type(command))
        if declared is None:
            raise Refusal("unknown_command", f"There is no command {type(command).__name__}.")
        # A value that is to be kept, or to stand in the settings, is no part of what is recorded.
        if not isinstance(command, SetSecret | UpdateSettings):
            command = redact_value(command, self._dependencies.secrets)
        if declared.query and not isinstance(command, ListSecrets):
            answer = await self._queries.answer(command)
            return redact_value(answer, self._dependencies.secrets) if isinstance(command, _TOLD) else answer
        if declared.authority == "person" and actor.kind not in ("person", "policy"):
            raise Refusal("not_authorised", f"Only a person may {declared.name}.")
        if isinstance(command, SecretCommand):
            return await answer_secret(command, self._dependencies.secrets)
        if isinstance(command, SubmitTurn | SteerTurn | EditQueuedTurn) and not command.text.strip():
            raise Refusal("invalid_input", "text must not be empty.", field="text", hint="Say what is to be done.")
        if not key and isinstance(command, SubmitTurn) and command.turn_id is not None:
            key = f"turn:{command.turn_id}"
        if not key:
            return redact_value(await self._carry_out(command, None, actor), self._dependencies.secrets)
        body = body_hash(declared.name, command, self._dependencies.secrets)
        running = self._in_flight.get(key)
        if running is None:
            task = self._tasks.start(self._once(command, declared, key, body, actor))
            self._in_flight[key] = (body, task)
            task.add_done_callback(lambda _: self._in_flight.pop(key, None))
        else:
            _same(running[0], body)
            task = running[1]
        return await self._tasks.wait(task)

    async def wait_settled(self) -> None:
        """Waits for what runs outside of the sessions and must not be left half way; what can be made again is ended."""
        await self._queries.importer.close()
        await self._merges.wait_settled()
        await self._artifacts.wait_settled()
        await self._exports.close()
        # What was asked for with a key is carried out also where its asker has gone.
        await self._tasks.wait_all()

    async def _once(self, command: Command, declared: Declaration, key: str, body: str, actor: Actor) -> Any:
        stored = await self._dependencies.store.facts.answer(key)
        if stored is not None:
            _same(stored.body_hash, body)
            try:
                return msgspec.json.decode(stored.answer, type=declared.answer)
            except msgspec.MsgspecError as error:
                raise Refusal(
                    "answer_unreadable",
                    f"{declared.name} was carried out, and its stored answer cannot be read by this version.",
                    field="idempotencyKey",
                    hint="Read the session to see what came of it; a new key carries the command out again.",
                ) from error
        kept = StoredAnswer(key=key, body_hash=body, answer=b"")
        return redact_value(await self._carry_out(command, kept, actor), self._dependencies.secrets)

    async def _carry_out(self, command: Command, stored_answer: StoredAnswer | None, actor: Actor) -> Any:
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
                return await self._permit(command, stored_answer, actor)
            case MergeSubagent() | ReconnectServer():
                return await self._outside(command, actor, stored_answer)
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
                found = await self._sessions.get(getattr(command, "session_id", None) or "")
                return await found.host.run_command(session_command, actor, stored_answer)

    async def _outside(
        self, command: MergeSubagent | ReconnectServer, actor: Actor, stored_answer: StoredAnswer | None
    ) -> Any:
        """What takes effect outside the log."""
        if isinstance(command, ReconnectServer):
            return await self._queries.tools.reconnect(command)
        return await self._merges.merge(command, actor, stored_answer)

    async def _permit(
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
        """The session is made by the turn, or by the job; its workspace must be open. A turn that the caller named makes the
        same session however often it comes, so that there is never a second one of it (CTL-02).

        It is listed with its first facts, right behind them: one that is listed and was refused is shown nowhere, and one that
        a crash left unlisted is listed when it is found.
        """
        if command.workspace_id is None:
            raise Refusal(
                "invalid_input",
                f"A {'job' if isinstance(command, CreateJob) else 'turn'} needs a session, or a workspace to make one in.",
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
                    f"There is a session that the turn {command.turn_id} made.",
                    field="turnId",
                    hint="Leave turnId out, or give a new one.",
                )
        found = await self._sessions.open(session, workspace)

        async def list_it(decision: Decision) -> None:
            title = next((new.fact.title for new in decision.facts if isinstance(new.fact, SessionCreated)), "")
            await self._workspaces.apply_effect(session, workspace, ListSession(workspace, title, f"{session}/1"))

        try:
            named = msgspec.structs.replace(command, session_id=session)
            answer = await found.host.run_command(named, actor, stored_answer, list_it)
        except Refusal:
            if found.host.state.sequence == 0:
                await self._sessions.release(session)
            raise
        # Who has the answer may name the session in its workspace's commands at once.
        await self._workspaces.apply_effect(
            session, workspace, ListSession(workspace, found.host.state.title, f"{session}/1")
        )
        return answer

    async def _start_demo(self, command: StartDemo, stored_answer: StoredAnswer | None, actor: Actor) -> Any:
        """The answer is kept with the first turn; a demo that a crash cuts short before that leaves a folder and no session."""
        demos = self._dependencies.demos
        if demos is None:
            raise Refusal("invalid_input", "There are no demos here.", field="name")
        made = await asyncio.to_thread(demos.set_out, command.name)
        opened: WorkspaceIsOpen = await self._workspaces.open_folder(OpenWorkspace(path=made.folder), actor, None)
        turn = SubmitTurn(
            workspace_id=opened.workspace_id,
            text=made.objective,
            mode=made.mode,
            permission_mode=made.permission_mode,
        )
        return await self._submit_new(turn, stored_answer, actor)

    async def _import(
        self, command: ImportTurn | ImportPastSession, stored_answer: StoredAnswer | None, actor: Actor
    ) -> Any:
        """A past session is the same session however often it is imported; one that the person deleted stays deleted."""
        if isinstance(command, ImportPastSession):
            return await self._queries.importer.import_session(
                command, actor, stored_answer, lambda turn: self.submit(turn, actor=actor)
            )
        self._workspaces.get(command.workspace_id).require_approved()
        self._queries.importer.require_not_driven(command.source_id)
        session = imported_session_id(command.source, command.source_id)
        new = (await self._dependencies.store.facts.head(session)).sequence == 0
        found = await self._sessions.open(session, command.workspace_id if new else "")
        answer = await found.host.run_command(command, actor, stored_answer)
        if new:
            state = found.host.state
            effect = ListSession(state.workspace, state.title, f"{session}/1")
            await self._workspaces.apply_effect(session, state.workspace, effect)
        return answer

    async def _respond(self, command: RespondAction, stored_answer: StoredAnswer | None, actor: Actor) -> Any:
        """An action that is settled answers with the decision that settled it, whatever is asked now."""
        found = await self._sessions.get(command.session_id)
        try:
            return await found.host.run_command(command, actor, stored_answer)
        except Refusal as refusal:
            if refusal.code != "unknown_action":
                raise
            settled = await self._queries.find_settled_action(command.session_id, command.action_id)
            if settled is None:
                raise
            return settled

    async def _update(self, command: UpdateSession, actor: Actor, stored_answer: StoredAnswer | None) -> Any:
        """What sleeps in a session that is taken out of the archive wakes again at its times."""
        answer = await self._workspaces.update_session(command, actor, stored_answer)
        if command.archived is False and command.session_id in self._workspaces.scheduled_sessions():
            (await self._sessions.get(command.session_id)).host.arm_timers()
        return answer

    async def _delete(self, command: DeleteSession, stored_answer: StoredAnswer | None, actor: Actor) -> Any:
        """The fact comes first: a deletion that a crash cuts short is then carried on, and never forgotten."""
        host = self._workspaces.require_deletable(command)
        async with self._sessions.locked_out(command.session_id):
            head = await self._dependencies.store.facts.head(command.session_id)
            answer = await self._workspaces.record_deletion(host, command.session_id, head, actor, stored_answer)
            await self._dependencies.store.rows.clear(command.session_id)
            await self._dependencies.store.facts.delete(command.session_id)
        return answer


def _same(first: str, second: str) -> None:
    if first != second:
        raise Refusal(
            "idempotency_conflict",
            "This key was used for another request.",
            field="Idempotency-Key",
            hint="Use a fresh key for a new request; repeat the same body to get the first answer.",
        )
