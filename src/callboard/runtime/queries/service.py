"""The query service. It answers from rows, and waits for rows that lag behind."""

from __future__ import annotations

from typing import Any

from callboard.contracts.commands.action import ActionAnswered
from callboard.contracts.commands.agent import ListAgents
from callboard.contracts.commands.artifact import GetArtifact, GetArtifactDiff, ListArtifacts
from callboard.contracts.commands.base import Command
from callboard.contracts.commands.context import FindMentions, GetContext
from callboard.contracts.commands.evidence import ListExports
from callboard.contracts.commands.job import GetJob
from callboard.contracts.commands.model import ListModels, PreviewRoute, TryModel
from callboard.contracts.commands.permission import DryRunRules, EvaluatePermission, GetTrust, ListRules
from callboard.contracts.commands.process import GetExecutionEnvironment, ListProcesses
from callboard.contracts.commands.session import (
    GetParts,
    GetSession,
    GetThreadRead,
    GetTurns,
    Incident,
    ListSessions,
    ListSizes,
    ListWorkspaces,
    PartList,
    SessionList,
    SessionRead,
    ThreadRead,
    TurnList,
    WorkspaceList,
)
from callboard.contracts.commands.session_import import ListPastSessions
from callboard.contracts.commands.settings import GetSettings
from callboard.contracts.commands.subagent import ListSubagents, WaitSubagents
from callboard.contracts.commands.task import GetTask, ListTasks
from callboard.contracts.commands.tool import GetToolInventory, ListServers
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.model import ModelFailed
from callboard.contracts.facts.session import ErrorRaised, WarningRaised
from callboard.contracts.rows import AnyPart
from callboard.contracts.rows.conversation import ActionPart, ActionRow, QueueRow, StatusRow, TurnRow, part_order
from callboard.contracts.rows.session import SessionRow

from ..artifacts.service import ArtifactService
from ..dependencies import Dependencies
from ..evidence_exporter import EvidenceExporter
from ..permissions.trust_service import TrustService
from ..session_importer import SessionImporter
from ..session_registry import OpenSession, SessionRegistry, unknown_thread
from ..workspaces.registry import WorkspaceRegistry
from . import jobs
from .context import ContextReads
from .processes import ProcessReads
from .route_preview import RoutePreviews
from .tasks import TaskReads
from .team import TeamReads
from .tools import ToolReads

#: Number of newest facts that a thread read searches for incidents.
INCIDENT_FACTS = 500
#: Number of turns per read.
TURN_PAGE = 200


class Queries:
    """Answers the commands that are declared as queries."""

    def __init__(
        self,
        dependencies: Dependencies,
        sessions: SessionRegistry,
        workspaces: WorkspaceRegistry,
        exports: EvidenceExporter,
        artifacts: ArtifactService,
    ) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces
        self._teams = TeamReads(dependencies, sessions)
        self._tasks = TaskReads(dependencies, sessions)
        self._exports = exports
        self._artifacts = artifacts
        self._processes = ProcessReads(dependencies, sessions, workspaces)
        self.tools = ToolReads(dependencies, sessions, workspaces)
        self.trust = TrustService(dependencies, sessions, workspaces)
        self.importer = SessionImporter(dependencies, workspaces)
        self._contexts = ContextReads(dependencies, sessions, workspaces)
        self._routes = RoutePreviews(dependencies, sessions, workspaces)

    async def answer(self, query: Command) -> Any:
        """Answer a query. If stored rows are damaged, they are rebuilt and the query repeated.

        Raises:
            Refusal: What the query refuses.
        """
        try:
            return await self._answer(query)
        except Refusal as refusal:
            if refusal.code != "rows_damaged":
                raise
        return await self._answer(query)

    async def _answer(self, query: Command) -> Any:
        match query:
            case ListWorkspaces():
                return WorkspaceList(workspaces=tuple(row for host in self._workspaces.all() for row in host.rows()))
            case ListSessions(workspace_id=workspace_id):
                hosts = self._workspaces.all() if workspace_id is None else [self._workspaces.get(workspace_id)]
                rebuilding, missing = await self._workspaces.wait_listed(hosts, self._dependencies.limits.rebuild_wait)
                return SessionList(
                    sessions=self._workspaces.cards(workspace_id), rebuilding=rebuilding, missing=missing
                )
            case GetSession() | GetThreadRead() | GetTurns() | GetParts():
                return await self._answer_session(query)
            case ListAgents() | ListSubagents() | WaitSubagents() | ListTasks() | GetTask() | GetJob():
                return await self._answer_team(query)
            case GetTrust() | ListRules() | GetSettings() | DryRunRules() | EvaluatePermission():
                return await self.trust.answer(query)
            case GetContext() | FindMentions() | ListSizes():
                return await self._contexts.answer(query)
            case ListExports():
                return await self._exports.list(query)
            case ListArtifacts() | GetArtifact() | GetArtifactDiff():
                return await self._artifacts.answer(query)
            case GetExecutionEnvironment():
                return await self._processes.environment(query)
            case ListProcesses():
                return await self._processes.list(query)
            case GetToolInventory() | ListServers():
                return await self.tools.answer(query)
            case ListModels() | TryModel() | PreviewRoute():
                return await self._answer_models(query)
            case ListPastSessions():
                return await self.importer.list(query)
            case _:
                raise Refusal("unknown_command", f"There is no query {type(query).__name__}.")

    async def _answer_session(self, query: GetSession | GetThreadRead | GetTurns | GetParts) -> Any:
        match query:
            case GetSession():
                return await self._session(query)
            case GetThreadRead():
                return await self._thread(query)
            case GetTurns():
                return await self._turns(query)
            case GetParts():
                return await self._parts_of(query)

    async def _answer_models(self, query: ListModels | TryModel | PreviewRoute) -> Any:
        if isinstance(query, PreviewRoute):
            return await self._routes.preview(query)
        catalog = self._dependencies.model_catalog
        if catalog is None:
            raise Refusal("model_unconfigured", "Model listing is not available in this process.")
        return await (catalog.tested(query.name) if isinstance(query, TryModel) else catalog.listed())

    async def _answer_team(
        self, query: ListAgents | ListSubagents | WaitSubagents | ListTasks | GetTask | GetJob
    ) -> Any:
        match query:
            case ListAgents():
                return await self._teams.list_agents(query)
            case ListSubagents():
                return await self._teams.list_subagents(query)
            case WaitSubagents():
                return await self._teams.wait(query)
            case ListTasks():
                return await self._tasks.list(query)
            case GetTask():
                return await self._tasks.get(query)
            case GetJob():
                return await jobs.read_job(self._tasks, query)

    async def find_settled_action(self, session: str, action: str) -> ActionAnswered | None:
        """Return the decision on a settled action; None if it is pending or unknown."""
        opened = await self._sessions.get(session)
        sequence = opened.host.state.sequence
        await opened.views.wait_for(sequence)
        await opened.views.flush()
        part = await self._dependencies.store.rows.row(session, "parts", action)
        if not isinstance(part, ActionPart) or part.outcome == "pending":
            return None
        return ActionAnswered(
            session_id=session, action_id=action, outcome=part.outcome, first=False, sequence=sequence
        )

    async def _session(self, query: GetSession) -> SessionRead:
        opened = await self._at(query.session_id, query.wait_for)
        shell = opened.views.rows(SessionRow)
        if not shell:
            raise Refusal("unknown_session", f"There is no session {query.session_id}.", field="sessionId")
        await opened.views.flush()
        newest = await self._dependencies.store.rows.rows(query.session_id, "turns", limit=query.turns)
        return SessionRead(
            session=self._workspaces.get(shell[0].workspace_id).with_listing(shell[0]),
            threads=tuple(opened.views.rows(StatusRow)),
            turns=tuple(row for row in newest if isinstance(row, TurnRow)),
            cursor=str(opened.views.cursor),
            head=opened.host.state.sequence,
        )

    async def _thread(self, query: GetThreadRead) -> ThreadRead:
        opened = await self._at(query.session_id, query.wait_for)
        thread = query.thread_id or opened.host.state.lead
        status = self._status(opened, thread)
        turns = [row for row in opened.views.rows(TurnRow) if row.thread_id == thread and row.ended_at]
        return ThreadRead(
            status=status,
            actions=tuple(row for row in opened.views.rows(ActionRow) if row.thread_id == thread),
            queue=tuple(row for row in opened.views.rows(QueueRow) if row.thread_id == thread),
            last_turn=max(turns, key=lambda row: row.ended_at) if turns else None,
            incidents=await self._incidents(opened, thread),
            head=opened.host.state.sequence,
        )

    @staticmethod
    def _status(opened: OpenSession, thread: str) -> StatusRow:
        for row in opened.views.rows(StatusRow):
            if row.thread_id == thread:
                return row
        raise unknown_thread(thread)

    async def _incidents(self, opened: OpenSession, thread: str) -> tuple[Incident, ...]:
        state = opened.host.state
        after = max(0, state.sequence - INCIDENT_FACTS)
        records = await self._dependencies.store.facts.read(state.session, after=after, limit=INCIDENT_FACTS)
        return tuple(
            Incident(sequence=record.sequence, at=record.header.at, code=record.fact.code, message=record.fact.message)
            for record in records
            if record.scope.thread in ("", thread)
            and isinstance(record.fact, WarningRaised | ErrorRaised | ModelFailed)
        )

    async def _turns(self, query: GetTurns) -> TurnList:
        opened = await self._at(query.session_id, 0)
        await opened.views.flush()
        rows = self._dependencies.store.rows
        if query.thread_id is None:
            newest = await rows.rows(query.session_id, "turns", before=query.before, limit=query.limit)
            return TurnList(turns=tuple(row for row in newest if isinstance(row, TurnRow)))
        thread_order = self._status(opened, query.thread_id).order
        before, turns = query.before, list[TurnRow]()
        while len(turns) < query.limit and (before is None or before > thread_order):
            page = await rows.rows(query.session_id, "turns", before=before, limit=TURN_PAGE)
            if not page:
                break
            turns = [*(row for row in page if isinstance(row, TurnRow) and row.thread_id == query.thread_id), *turns]
            before = page[0].order
        return TurnList(turns=tuple(turns[-query.limit :]))

    async def _parts_of(self, query: GetParts) -> PartList:
        opened = await self._at(query.session_id, 0)
        await opened.views.flush()
        row = await self._dependencies.store.rows.row(query.session_id, "turns", query.turn_id)
        if not isinstance(row, TurnRow):
            raise Refusal("unknown_turn", f"The session has no turn {query.turn_id}.", field="turnId")
        if not row.started_at:
            return PartList(parts=())
        first = part_order(row.order, 0)
        before = part_order(row.order + 1, 0)
        rows = await self._dependencies.store.rows.rows(query.session_id, "parts", before=before, limit=10_000)
        return PartList(parts=tuple(part for part in rows if isinstance(part, AnyPart) and part.order >= first))

    async def _at(self, session: str, sequence: int) -> OpenSession:
        opened = await self._sessions.get(session)
        if (
            sequence > opened.host.state.sequence
            and sequence > (await self._dependencies.store.facts.head(session)).sequence
        ):
            raise Refusal(
                "gap",
                f"The session has no fact {sequence} yet.",
                field="waitFor",
                hint="Wait only for a sequence that an answer named.",
            )
        await opened.views.wait_for(max(sequence, opened.first_sequence))
        return opened
