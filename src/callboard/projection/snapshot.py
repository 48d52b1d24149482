"""Snapshots of tasks and their subagents (Subagents specification, Snapshot), and roster, graph and board from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from callboard.contracts.entities.team import Ref, Role, TaskEntity, TaskStatus
from callboard.contracts.facts.agent import RemoteArtifact
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.facts.exchange.channel import ChannelOpened
from callboard.contracts.facts.exchange.review import ReviewRequested, ReviewVerdict
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed, ToolRequested
from callboard.contracts.record import Record, format_step_id
from callboard.contracts.rows.agent import AgentRow
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.task import AttemptRow, TaskRow
from callboard.contracts.rows.team import EdgeRow
from callboard.contracts.vocabulary import SubagentStatus

from .reducer import Reducer, on
from .rows import Table
from .view import SessionView

#: The state of a part of a snapshot without facts. Empty if there are facts.
ReportedState = Literal["", "unknown", "unavailable", "stale"]
_STATUS: dict[str, SubagentStatus] = {
    "spawning": "queued",
    "running": "running",
    "waiting": "waiting",
    "needs_input": "waiting",
    "plan_ready": "waiting",
    "idle": "waiting",
    "completed": "completed",
    "failed": "failed",
    "killed": "cancelled",
}
#: The status of a closed child, by its task's status.
_CLOSED: dict[TaskStatus, SubagentStatus] = {"done": "completed", "blocked": "failed", "cancelled": "cancelled"}
#: The fields to compare between a team from snapshots and a team from events.
COMPARED: dict[str, tuple[str, ...]] = {
    "roster": ("subagentId", "role", "status", "taskId", "lineage", "remote", "blocked"),
    "graph": ("source", "target"),
    "board": (
        *("taskId", "title", "status", "assignee", "parentTaskId", "dependsOn", "entity", "paused", "cancelling"),
        *("phase", "counters", "attempts", "refs"),
    ),
}


class SubagentSnapshot(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One subagent.

    `lineage` is `unavailable` if its parents are unknown, `remote` if it is an unreachable remote agent. Optional fields
    without a value are absent.
    """

    subagent_id: str
    task_id: str
    role: Role
    status: SubagentStatus
    parent_task_id: str | msgspec.UnsetType = msgspec.UNSET
    parent_run_id: str | msgspec.UnsetType = msgspec.UNSET
    parent_agent_id: str = ""
    current_step_id: str | msgspec.UnsetType = msgspec.UNSET
    channel_ids: tuple[str, ...] = ()
    tool_call_ids: tuple[str, ...] = ()
    artifact_refs: tuple[Ref, ...] = ()
    evidence_refs: tuple[Ref, ...] = ()
    last_event_cursor: str | msgspec.UnsetType = msgspec.UNSET
    lineage: ReportedState = ""
    remote: ReportedState = ""
    blocked: bool = False


class TaskSnapshot(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A task with its attempts and subagents, up to the sequence `through`. `state` is `stale` if newer facts exist."""

    task_id: str
    title: str
    status: TaskStatus
    assignee: str = ""
    parent_task_id: str = ""
    depends_on: tuple[str, ...] = ()
    entity: TaskEntity = "work_item"
    paused: bool = False
    cancelling: bool = False
    phase: str = ""
    counters: dict[str, int] = {}
    attempts: tuple[AttemptRow, ...] = ()
    refs: tuple[Ref, ...] = ()
    subagents: tuple[SubagentSnapshot, ...] = ()
    through: int
    state: ReportedState = ""


class _SubagentState(msgspec.Struct, gc=False):
    """The ids in the facts of one agent."""

    step: str = ""
    cursor: str = ""
    channels: list[str] = []
    calls: list[str] = []
    files: dict[str, Ref] = {}
    evidence: dict[str, Ref] = {}


class _SubagentStates(Reducer):
    """The ids in the facts of each agent."""

    agents: dict[str, _SubagentState] = msgspec.field(default={})

    def apply(self, record: Record) -> None:
        """Apply the fact."""
        scope = record.scope
        if scope.agent:
            state = self.get_state(scope.agent)
            state.cursor = record.event_id
            state.step = format_step_id(scope.run, scope.step) if scope.step else state.step
        self.handle(record)

    def get_state(self, agent: str) -> _SubagentState:
        """Return the agent's state, which is empty at first."""
        return self.agents.setdefault(agent, _SubagentState())

    @on
    def open_channel(self, record: Record, fact: ChannelOpened) -> None:
        for agent in fact.participants:
            self.get_state(agent).channels.append(record.scope.channel)

    @on
    def request_call(self, record: Record, fact: ToolRequested) -> None:
        self.get_state(record.scope.agent).calls.append(record.scope.tool_call)

    @on
    def add_files(self, record: Record, fact: ToolCompleted | ToolFailed) -> None:
        files = self.get_state(record.scope.agent).files
        files |= {change.path: Ref(type="file", ref=change.path) for change in fact.changes}

    @on
    def add_review(self, record: Record, fact: ReviewRequested | ReviewVerdict) -> None:
        evidence = self.get_state(fact.target).evidence
        evidence |= {ref.ref: ref for ref in fact.refs}

    @on
    def add_artifact(self, record: Record, fact: RemoteArtifact) -> None:
        artifact = fact.remote_artifact_id
        self.get_state(record.scope.agent).files[artifact] = Ref(type="artifact", ref=artifact)

    @on
    def add_evidence(self, record: Record, fact: EvidenceExported) -> None:
        scope = record.scope
        if scope.agent:
            self.get_state(scope.agent).evidence[scope.evidence] = Ref(type="evidence", ref=scope.evidence)


class TaskFold:
    """A fold of a session's facts into the snapshots of its tasks. Apply the facts in order."""

    def __init__(self) -> None:
        self.through = 0
        self._view = SessionView()
        self._table = Table()
        self._states = _SubagentStates()

    def apply(self, records: Iterable[Record]) -> None:
        """Apply the facts after `through`."""
        for record in records:
            ops = self._view.apply(record)
            self._table.apply(op for op in ops if isinstance(op, Upsert) and op.panel in ("agents", "tasks"))
            self._states.apply(record)
            self.through = record.sequence

    def build_snapshots(self) -> tuple[TaskSnapshot, ...]:
        """Return one snapshot per task."""
        tasks = self._table.list_rows(TaskRow)
        parents = {row.key: row.parent_task for row in tasks}
        agents = [row for row in self._table.list_rows(AgentRow) if row.parent_thread_id]
        return tuple(
            TaskSnapshot(
                task_id=row.key,
                title=row.title,
                status=row.status,
                assignee=row.assignee,
                parent_task_id=row.parent_task,
                depends_on=row.depends_on,
                entity=row.entity,
                paused=row.paused,
                cancelling=row.cancelling,
                phase=row.phase,
                counters=row.counters,
                attempts=row.attempts,
                refs=row.refs,
                subagents=tuple(
                    _build_subagent(agent, row.status, self._states.get_state(agent.agent_id), parents)
                    for agent in agents
                    if agent.task_id == row.key
                ),
                through=self.through,
            )
            for row in tasks
        )


def build_task_snapshots(records: Iterable[Record]) -> tuple[TaskSnapshot, ...]:
    """Return the snapshots of all tasks in a session's facts."""
    fold = TaskFold()
    fold.apply(records)
    return fold.build_snapshots()


def mark_stale(snapshots: Sequence[TaskSnapshot], head: int) -> tuple[TaskSnapshot, ...]:
    """Mark the snapshots that are older than the sequence `head` as stale."""
    return tuple(
        msgspec.structs.replace(snapshot, state="stale") if snapshot.through < head else snapshot
        for snapshot in snapshots
    )


def build_roster(snapshots: Iterable[TaskSnapshot]) -> list[dict[str, Any]]:
    """Return the roster of the snapshots."""
    return [_select_fields(agent, COMPARED["roster"]) for task in snapshots for agent in task.subagents]


def build_graph(snapshots: Iterable[TaskSnapshot]) -> list[dict[str, Any]]:
    """Return the edges from parents to children. A child with an unknown parent has no edge."""
    return [
        {"source": agent.parent_agent_id, "target": agent.subagent_id}
        for task in snapshots
        for agent in task.subagents
        if agent.parent_agent_id
    ]


def build_board(snapshots: Iterable[TaskSnapshot]) -> list[dict[str, Any]]:
    """Return the board of the snapshots."""
    return [_select_fields(task, COMPARED["board"]) for task in snapshots]


def from_rows(rows: Table) -> dict[str, list[dict[str, Any]]]:
    """Return roster, graph and board of the panels, in the compared fields."""
    tasks = rows.list_rows(TaskRow)
    children = [row for task in tasks for row in rows.list_rows(AgentRow) if row.task_id == task.key]
    statuses: dict[str, TaskStatus] = {task.key: task.status for task in tasks}
    parents = {row.target: row.source for row in rows.list_rows(EdgeRow) if row.edge_type == "child"}
    return {
        "roster": [
            {
                "subagentId": child.key,
                "role": child.role,
                "status": derive_status(child, statuses[child.task_id]),
                "taskId": child.task_id,
                **_collect_unknowns(child),
            }
            for child in children
        ],
        "graph": [{"source": parents[child.key], "target": child.key} for child in children if child.key in parents],
        "board": [
            {
                "taskId": task.key,
                "title": task.title,
                "status": task.status,
                "assignee": task.assignee,
                "parentTaskId": task.parent_task,
                "dependsOn": task.depends_on,
                "entity": task.entity,
                "paused": task.paused,
                "cancelling": task.cancelling,
                "phase": task.phase,
                "counters": task.counters,
                "attempts": msgspec.to_builtins(task.attempts),
                "refs": msgspec.to_builtins(task.refs),
            }
            for task in tasks
        ],
    }


def derive_status(row: AgentRow, task: TaskStatus) -> SubagentStatus:
    """Return the snapshot status of an agent's state.

    A child that waits for a slot is queued. A closed child has its task's result.
    """
    if row.state == "closed":
        return _CLOSED.get(task, "unknown")
    if row.state == "waiting" and row.queue_reason is not None:
        return "queued"
    return _STATUS.get(row.state, "unknown")


def _build_subagent(
    row: AgentRow, task: TaskStatus, state: _SubagentState, parents: dict[str, str]
) -> SubagentSnapshot:
    return SubagentSnapshot(
        subagent_id=row.agent_id,
        task_id=row.task_id,
        role=row.role,
        status=derive_status(row, task),
        parent_task_id=parents.get(row.task_id) or msgspec.UNSET,
        parent_run_id=row.parent_run_id or msgspec.UNSET,
        parent_agent_id=row.parent_agent_id,
        current_step_id=(state.step if row.current_run else "") or msgspec.UNSET,
        channel_ids=tuple(state.channels),
        tool_call_ids=tuple(state.calls),
        artifact_refs=tuple(state.files.values()),
        evidence_refs=tuple(state.evidence.values()),
        last_event_cursor=state.cursor or msgspec.UNSET,
        **_collect_unknowns(row),
    )


def _collect_unknowns(row: AgentRow) -> dict[str, Any]:
    """Return what is unknown or unreachable, and whether an action blocks the agent."""
    return {
        "lineage": "unavailable" if "lineage_unavailable" in row.degraded else "",
        "remote": "unavailable" if "remote_unavailable" in row.degraded else "",
        "blocked": "permission_blocked" in row.degraded,
    }


def _select_fields(snapshot: SubagentSnapshot | TaskSnapshot, fields: tuple[str, ...]) -> dict[str, Any]:
    whole: dict[str, Any] = msgspec.to_builtins(snapshot)
    return {name: whole.get(name, "") for name in fields}
