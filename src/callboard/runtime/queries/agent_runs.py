"""Runs as the Multi-agent runtime specification records them, folded from the facts of their sessions.

A session's runs are folded when they are first asked for, and on from there: what is kept is bounded, and made anew from the
log where it was let go.
"""

from __future__ import annotations

import re
import string
from collections import OrderedDict
from pathlib import Path
from typing import Any, get_args

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    SessionCreated,
    SubagentContinued,
    SubagentIsolated,
    SubagentSpawned,
    ThreadOpened,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    TurnSubmitted,
)
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.record import Record
from callboard.contracts.rows.run_record import (
    AgentRunRecord,
    Budgets,
    EffectiveSettings,
    FoundRun,
    LeadSettings,
    ModelInUse,
    OpenedFolder,
)
from callboard.contracts.times import timestamp
from callboard.projection.emit.run_emission import run_kind, run_status

from ..dependencies import Dependencies
from ..session_registry import SessionRegistry
from ..workspaces.host import WorkspaceHost
from ..workspaces.registry import WorkspaceRegistry

#: How many sessions' runs are kept at hand.
KEPT = 64
#: How many facts are read at once.
PAGE = 1000
#: A read of a whole workspace gives so many runs at most, the newest sessions' first.
MOST_RUNS = 1000
#: How far clocks and ids may be apart, in microseconds.
SLACK = 60_000_000
#: An id is a UUIDv7 in base 62: milliseconds, and so many bits below them.
_RUN = re.compile(r"run_[0-9A-Za-z]{22}")
_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_BELOW_TIME = 80


class _Agent(msgspec.Struct):
    """What a thread's runs are recorded with."""

    kind: str = ""
    parent_run: str = ""
    child: bool = False
    folder: str = ""


class _SessionRuns:
    """The runs of one session up to a sequence."""

    def __init__(self, session: str) -> None:
        self.sequence = 0
        self.runs: dict[str, FoundRun] = {}
        self._session = session
        self._folder = ""
        self._agents: dict[str, _Agent] = {}
        self._submitted: dict[str, int] = {}

    def take(self, record: Record) -> None:
        """Takes the next fact."""
        self.sequence = record.sequence
        scope, fact = record.scope, record.fact
        agent = self._agents.setdefault(scope.thread, _Agent()) if scope.thread else _Agent()
        match fact:
            case SessionCreated():
                self._folder = fact.folder
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
                # Its content was erased; that it ended, and how, is in its header.
                self._end(record, record.header.type.removeprefix("turn."), "", "erased")
            case _:
                pass

    def _start(self, record: Record, agent: _Agent) -> None:
        scope = record.scope
        self.runs[scope.run] = FoundRun(
            record=AgentRunRecord(
                run_id=scope.run,
                repo_path=agent.folder or self._folder,
                session_id=self._session,
                agent_id=scope.agent,
                agent_kind=run_kind(agent.kind, parent=agent.child),
                parent_run_id=agent.parent_run or None,
                status="running",
                started_at=timestamp(record.header.at),
            ),
            thread_id=scope.thread,
            turn_id=scope.turn,
            first=self._submitted.pop(scope.turn, record.sequence),
        )

    def _end(self, record: Record, how: str, cause: str, detail: str) -> None:
        found = self.runs.get(record.scope.run)
        if found is None:
            return
        ended = msgspec.structs.replace(
            found.record,
            status=run_status(how, cause),
            detail=detail or None,
            ended_at=timestamp(record.header.at),
        )
        self.runs[record.scope.run] = msgspec.structs.replace(found, record=ended, last=record.sequence)


class RunRecords:
    """Reads of runs. Implements the port `RunReads`."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces
        self._kept: OrderedDict[str, _SessionRuns] = OrderedDict()

    def folder(self, project_root: str | None) -> OpenedFolder:
        """The opened workspace of a folder; without one, the only one there is. Raises Refusal `unknown_workspace`."""
        host = self._host(project_root)
        return OpenedFolder(workspace_id=host.state.workspace, path=host.state.path)

    async def runs(self, project_root: str | None, session: str | None) -> tuple[AgentRunRecord, ...]:
        """The runs of a session, or of all of the workspace's, in the order in which they began within each. Raises Refusal
        `unknown_workspace`, `unknown_session`."""
        host = self._host(project_root)
        listed = [session] if session is not None else [card.key for card in host.cards()]
        found: list[AgentRunRecord] = []
        for one in listed:
            if one not in host.state.sessions:
                raise _unknown_session(one)
            found += [run.record for run in (await self._of(one)).runs.values()]
            if len(found) >= MOST_RUNS:
                break
        return tuple(found)

    async def run(self, run_id: str) -> FoundRun:
        """The run of that id. Raises Refusal `unknown_run`."""
        for session in await self._candidates(run_id):
            found = (await self._of(session)).runs.get(run_id)
            if found is not None:
                return found
        raise Refusal(
            "unknown_run", f"There is no run {run_id}.", field="run_id", hint="GET /api/agent-runs names the runs."
        )

    async def children(self, run_id: str) -> tuple[AgentRunRecord, ...]:
        """The runs that were begun on behalf of a run. Raises Refusal `unknown_run`."""
        session = (await self.run(run_id)).record.session_id
        runs = (await self._of(session)).runs.values()
        return tuple(run.record for run in runs if run.record.parent_run_id == run_id)

    async def facts(self, run: FoundRun, *, after: int = 0, limit: int = PAGE) -> tuple[Record, ...]:
        """The run's own facts after a sequence, its turn's submission included, and none of any other run (MAR-15)."""
        session, until = run.record.session_id, run.last or None
        found: list[Record] = []
        place = max(after, run.first - 1)
        while len(found) < limit:
            records = await self._dependencies.store.facts.read(session, after=place, until=until, limit=PAGE)
            if not records:
                break
            place = records[-1].sequence
            found += [record for record in records if _is_of(record, run)]
        return tuple(found[:limit])

    def settings(self, project_root: str | None) -> EffectiveSettings:
        """What holds in a workspace now. Raises Refusal `unknown_workspace`."""
        host = self._host(project_root)
        lead = self._dependencies.definitions.lead(host.state.path)
        route = self._dependencies.models.route(lead.model)
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

    async def _of(self, session: str) -> _SessionRuns:
        """The session's runs as they are now; what a dead host left running is closed before they are told."""
        await self._sessions.get(session)
        runs = self._kept.setdefault(session, _SessionRuns(session))
        self._kept.move_to_end(session)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        while records := await self._dependencies.store.facts.read(session, after=runs.sequence, limit=PAGE):
            for record in records:
                # Somebody else may have folded on meanwhile.
                if record.sequence == runs.sequence + 1:
                    runs.take(record)
        return runs

    async def _candidates(self, run_id: str) -> list[str]:
        """The sessions that may hold the run, the likeliest first: one whose runs are at hand and have it, those in use, and
        the rest from the newest. A session whose facts end before the run's id was made cannot."""
        begun = _began(run_id)
        if begun is None:
            return []
        at_hand = [session for session, runs in self._kept.items() if run_id in runs.runs]
        listed = [card.key for host in self._workspaces.all() for card in host.cards()]
        there = [session for session in at_hand if session in listed]
        if there:
            return there
        facts, in_use = self._dependencies.store.facts, set(self._sessions.open_sessions())
        may = [session for session in listed if (await facts.head(session)).at >= begun - SLACK]
        return sorted(may, key=lambda session: session not in in_use)

    def _host(self, project_root: str | None) -> WorkspaceHost:
        hosts = self._workspaces.all()
        if project_root is None and len(hosts) == 1:
            return hosts[0]
        path = _real(project_root) if project_root else ""
        for host in hosts:
            if host.state.path == path:
                return host
        raise Refusal(
            "unknown_workspace",
            f"{project_root} is no folder that was opened." if project_root else "Which folder is not said.",
            field="project_root",
            hint="Open it with open_workspace first." if project_root else "Name one of those that were opened.",
        )


def _is_of(record: Record, run: FoundRun) -> bool:
    scope = record.scope
    if scope.parent_run == run.record.run_id and scope.thread != run.thread_id:
        return False
    return scope.run == run.record.run_id or (not scope.run and scope.turn == run.turn_id and scope.turn != "")


def _began(run_id: str) -> int | None:
    """When the id was made, in microseconds since the Unix epoch; None for what is no id of a run."""
    if _RUN.fullmatch(run_id) is None:
        return None
    number = 0
    for digit in run_id.removeprefix("run_"):
        number = number * 62 + _DIGITS.index(digit)
    return (number >> _BELOW_TIME) * 1000


def _real(path: str) -> str:
    try:
        return str(Path(path).resolve())
    except (OSError, ValueError, RuntimeError):
        return ""


def _unknown_session(session: str) -> Refusal:
    return Refusal(
        "unknown_session",
        f"There is no session {session} in this folder.",
        field="session_id",
        hint="list_sessions names them.",
    )
