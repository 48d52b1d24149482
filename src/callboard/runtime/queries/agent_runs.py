"""Run records of the Multi-agent runtime specification.

A session's runs are folded on first use and then extended. Only a bounded number is kept; others
are folded again.
"""

from __future__ import annotations

import re
import string
from collections import OrderedDict
from pathlib import Path
from typing import Any, get_args

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionCreated, ThreadOpened
from callboard.contracts.facts.subagent import SubagentContinued, SubagentIsolated, SubagentSpawned
from callboard.contracts.facts.turn import (
    Mode,
    PermissionMode,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    TurnSubmitted,
)
from callboard.contracts.record import Record
from callboard.contracts.rows.run import AgentRunRecord, LocatedRun
from callboard.contracts.rows.settings import Budgets, EffectiveSettings, LeadSettings, ModelInUse, OpenedFolder
from callboard.contracts.times import format_timestamp
from callboard.projection.emit.run_emission import to_run_kind
from callboard.projection.run_end import derive_status

from ..dependencies import Dependencies
from ..session_registry import SessionRegistry
from ..workspaces.host import WorkspaceHost
from ..workspaces.registry import WorkspaceRegistry

#: Number of sessions whose runs are kept.
MAX_SESSIONS = 64
#: Number of facts per read.
PAGE = 1000
#: Largest number of runs in a read of a whole workspace, newest sessions first.
MAX_RUNS = 1000
#: Largest difference between clocks and ids, in microseconds.
CLOCK_TOLERANCE = 60_000_000
#: A run id is a UUIDv7 in base 62: milliseconds above `_RANDOM_BITS` random bits.
_RUN_ID = re.compile(r"run_[0-9A-Za-z]{22}")
_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM_BITS = 80


class _Agent(msgspec.Struct):
    """Data of a thread that its run records contain."""

    kind: str = ""
    parent_run: str = ""
    child: bool = False
    folder: str = ""


class _SessionRuns:
    """The runs of one session up to a sequence."""

    def __init__(self, session: str) -> None:
        self.sequence = 0
        self.runs: dict[str, LocatedRun] = {}
        self._session = session
        self._session_folder = ""
        self._agents: dict[str, _Agent] = {}
        self._submitted: dict[str, int] = {}

    def apply(self, record: Record) -> None:
        """Apply the next fact."""
        self.sequence = record.sequence
        scope, fact = record.scope, record.fact
        agent = self._agents.setdefault(scope.thread, _Agent()) if scope.thread else _Agent()
        match fact:
            case SessionCreated():
                self._session_folder = fact.folder
            case ThreadOpened():
                agent.kind = fact.kind
                agent.child = bool(scope.parent_thread)
            case SubagentSpawned() | SubagentContinued():
                agent.parent_run, agent.child = scope.parent_run, True
            case SubagentIsolated():
                agent.folder = fact.path
            case TurnSubmitted():
                self._submitted[scope.turn] = record.sequence
            case TurnStarted():
                self._start(record, agent)
            case TurnCompleted():
                self._end(record, "completed", "", "")
            case TurnFailed():
                self._end(record, "failed", "", fact.code)
            case TurnInterrupted():
                self._end(record, "interrupted", fact.cause, fact.cause)
            case _ if record.header.type in ("turn.completed", "turn.failed", "turn.interrupted"):
                # The content was erased. The header still has the end and its kind.
                self._end(record, record.header.type.removeprefix("turn."), "", "erased")
            case _:
                pass

    def _start(self, record: Record, agent: _Agent) -> None:
        scope = record.scope
        self.runs[scope.run] = LocatedRun(
            record=AgentRunRecord(
                run_id=scope.run,
                repo_path=agent.folder or self._session_folder,
                session_id=self._session,
                agent_id=scope.agent,
                agent_kind=to_run_kind(agent.kind, parent=agent.child),
                parent_run_id=agent.parent_run or None,
                status="running",
                started_at=format_timestamp(record.header.at),
            ),
            thread_id=scope.thread,
            turn_id=scope.turn,
            first=self._submitted.pop(scope.turn, record.sequence),
        )

    def _end(self, record: Record, how: str, cause: str, detail: str) -> None:
        run = self.runs.get(record.scope.run)
        if run is None:
            return
        ended = msgspec.structs.replace(
            run.record,
            status=derive_status(how, cause),
            detail=detail or None,
            ended_at=format_timestamp(record.header.at),
        )
        self.runs[record.scope.run] = msgspec.structs.replace(run, record=ended, last=record.sequence)


class RunRecords:
    """Implements the port `RunReads`."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces
        self._folds: OrderedDict[str, _SessionRuns] = OrderedDict()

    def find_folder(self, project_root: str | None) -> OpenedFolder:
        """Return the open workspace of a folder, or the only open workspace."""
        host = self._find_host(project_root)
        return OpenedFolder(workspace_id=host.state.workspace, path=host.state.path)

    async def list_runs(self, project_root: str | None, session: str | None) -> tuple[AgentRunRecord, ...]:
        """Return the runs of one session or of the workspace, in start order within each session."""
        host = self._find_host(project_root)
        await self._sessions.wait_shown()
        listed = [session] if session is not None else [card.key for card in host.cards()]
        records: list[AgentRunRecord] = []
        for session_id in listed:
            if session_id not in host.state.sessions:
                raise _build_refusal(session_id)
            records += [run.record for run in (await self._fold(session_id)).runs.values()]
            if len(records) >= MAX_RUNS:
                break
        return tuple(records)

    async def find_run(self, run_id: str) -> LocatedRun:
        """Return a run."""
        for session in await self._find_candidates(run_id):
            run = (await self._fold(session)).runs.get(run_id)
            if run is not None:
                return run
        raise Refusal(
            "unknown_run", f"There is no run {run_id}.", field="run_id", hint="List the runs with GET /api/agent-runs."
        )

    async def list_children(self, run_id: str) -> tuple[AgentRunRecord, ...]:
        """Return the runs that a run started."""
        session = (await self.find_run(run_id)).record.session_id
        runs = (await self._fold(session)).runs.values()
        return tuple(run.record for run in runs if run.record.parent_run_id == run_id)

    async def read_facts(self, run: LocatedRun, *, after: int = 0, limit: int = PAGE) -> tuple[Record, ...]:
        """Return the run's own facts after a sequence, including the submission of its turn (MAR-15)."""
        session, until = run.record.session_id, run.last or None
        facts: list[Record] = []
        position = max(after, run.first - 1)
        while len(facts) < limit:
            records = await self._dependencies.store.facts.read(session, after=position, until=until, limit=PAGE)
            if not records:
                break
            position = records[-1].sequence
            facts += [record for record in records if _is_fact_of_run(record, run)]
        return tuple(facts[:limit])

    def read_settings(self, project_root: str | None) -> EffectiveSettings:
        """Return the effective settings of a workspace."""
        host = self._find_host(project_root)
        lead = self._dependencies.definitions.find_lead(host.state.path)
        route = self._dependencies.models.choose_route(lead.model)
        provider, name = route.candidates[route.chosen]
        limits = self._dependencies.limits
        rules: tuple[Any, ...] = tuple(
            msgspec.to_builtins(rule) for rule in (*host.context.settings.rules, *host.state.rules)
        )
        return EffectiveSettings(
            project_root=host.state.path,
            modes=get_args(Mode),
            permission_modes=get_args(PermissionMode),
            agent=LeadSettings(name=lead.name, max_iters=lead.max_iters, permission_mode=lead.permission_mode),
            model=ModelInUse(provider=provider, name=name, reason=route.reason),
            models=route.candidates,
            budgets=Budgets(team=limits.team_budget, provider=limits.group_budget),
            rules=rules,
        )

    async def _fold(self, session: str) -> _SessionRuns:
        """Return the session's current runs. Opening the session closes runs of a dead process first."""
        await self._sessions.get(session)
        runs = self._folds.setdefault(session, _SessionRuns(session))
        self._folds.move_to_end(session)
        while len(self._folds) > MAX_SESSIONS:
            self._folds.popitem(last=False)
        while records := await self._dependencies.store.facts.read(session, after=runs.sequence, limit=PAGE):
            for record in records:
                # A concurrent call may have folded further.
                if record.sequence == runs.sequence + 1:
                    runs.apply(record)
        return runs

    async def _find_candidates(self, run_id: str) -> list[str]:
        """Return the sessions that can contain the run, the likeliest first.

        First the sessions whose folded runs contain it, then open sessions, then the rest. A
        session that ended before the id was created cannot contain it.
        """
        created = _parse_creation_time(run_id)
        if created is None:
            return []
        folded = [session for session, runs in self._folds.items() if run_id in runs.runs]
        await self._sessions.wait_shown()
        listed = [card.key for host in self._workspaces.all() for card in host.cards()]
        known_sessions = [session for session in folded if session in listed]
        if known_sessions:
            return known_sessions
        facts, in_use = self._dependencies.store.facts, set(self._sessions.open_sessions())
        possible = [session for session in listed if (await facts.read_head(session)).at >= created - CLOCK_TOLERANCE]
        return sorted(possible, key=lambda session: session not in in_use)

    def _find_host(self, project_root: str | None) -> WorkspaceHost:
        hosts = self._workspaces.all()
        if project_root is None and len(hosts) == 1:
            return hosts[0]
        path = _resolve(project_root) if project_root else ""
        for host in hosts:
            if host.state.path == path:
                return host
        raise Refusal(
            "unknown_workspace",
            f"{project_root} is not an open folder." if project_root else "project_root is missing.",
            field="project_root",
            hint="Open it with open_workspace first." if project_root else "Enter the path of an open folder.",
        )


def _is_fact_of_run(record: Record, run: LocatedRun) -> bool:
    scope = record.scope
    if scope.parent_run == run.record.run_id and scope.thread != run.thread_id:
        return False
    return scope.run == run.record.run_id or (not scope.run and scope.turn == run.turn_id and scope.turn != "")


def _parse_creation_time(run_id: str) -> int | None:
    """Return when the id was created, in microseconds since the Unix epoch; None for an invalid run id."""
    if _RUN_ID.fullmatch(run_id) is None:
        return None
    number = 0
    for digit in run_id.removeprefix("run_"):
        number = number * 62 + _DIGITS.index(digit)
    return (number >> _RANDOM_BITS) * 1000


def _resolve(path: str) -> str:
    try:
        return str(Path(path).resolve())
    except (OSError, ValueError, RuntimeError):
        return ""


def _build_refusal(session: str) -> Refusal:
    return Refusal(
        "unknown_session",
        f"There is no session {session} in this folder.",
        field="session_id",
        hint="Find sessions with list_sessions.",
    )
