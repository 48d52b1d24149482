"""What can be read of a task and its subagents at once (Subagents specification, Snapshot), made of facts alone, and the
roster, the graph and the board that are made of it alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from callboard.contracts.entities.team import Ref, Role, TaskEntity, TaskStatus
from callboard.contracts.facts import (
    ChannelOpened,
    EvidenceExported,
    RemoteArtifact,
    ReviewRequested,
    ReviewVerdict,
    ToolCompleted,
    ToolFailed,
    ToolRequested,
)
from callboard.contracts.record import Record, step_id
from callboard.contracts.rows import AgentRow, EdgeRow, TaskRow, Upsert
from callboard.contracts.rows.team import AttemptRow
from callboard.contracts.vocabulary import SubagentStatus

from .rows import Table
from .view import SessionView

#: What a part of a snapshot that facts do not tell reads as.
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
#: What a closed child came to, by how its task stands.
_CLOSED: dict[TaskStatus, SubagentStatus] = {"done": "completed", "blocked": "failed", "cancelled": "cancelled"}
#: The fields by which a team that is made of snapshots is held against the one that is made of events.
COMPARED: dict[str, tuple[str, ...]] = {
    "roster": ("subagentId", "role", "status", "taskId", "lineage", "remote", "blocked"),
    "graph": ("source", "target"),
    "board": (
        *("taskId", "title", "status", "assignee", "parentTaskId", "dependsOn", "entity", "paused", "cancelling"),
        *("phase", "counters", "attempts", "refs"),
    ),
}


class SubagentSnapshot(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One subagent. `lineage` says where its parents are not known, `remote` where it is elsewhere and not there; optional
    fields are absent where there is nothing."""

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


class TaskSnapshot(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A task with its attempts and the subagents that work on it, whole up to the sequence `through`. `state` is `stale` where
    newer facts are known of."""

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
    counters: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    attempts: tuple[AttemptRow, ...] = ()
    refs: tuple[Ref, ...] = ()
    subagents: tuple[SubagentSnapshot, ...] = ()
    through: int
    state: ReportedState = ""


class _SubagentState(msgspec.Struct):
    """What the facts of one agent name."""

    step: str = ""
    cursor: str = ""
    channels: list[str] = msgspec.field(default_factory=list[str])
    calls: list[str] = msgspec.field(default_factory=list[str])
    files: dict[str, Ref] = msgspec.field(default_factory=dict[str, Ref])
    evidence: dict[str, Ref] = msgspec.field(default_factory=dict[str, Ref])


class TaskFold:
    """Folds a session's facts, in their order and as they come, into the snapshots of its tasks."""

    def __init__(self) -> None:
        self.through = 0
        self._view = SessionView()
        self._table = Table()
        self._seen: dict[str, _SubagentState] = {}

    def take(self, records: Iterable[Record]) -> None:
        """Takes the facts behind `through`."""
        for record in records:
            ops = self._view.apply(record)
            self._table.apply(op for op in ops if isinstance(op, Upsert) and op.panel in ("agents", "tasks"))
            _see(self._seen, record)
            self.through = record.sequence

    def snapshots(self) -> tuple[TaskSnapshot, ...]:
        """One for each task."""
        tasks = self._table.panel(TaskRow)
        parents = {row.key: row.parent_task for row in tasks}
        agents = [row for row in self._table.panel(AgentRow) if row.parent_thread_id]
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
                    _subagent(agent, row.status, self._seen.get(agent.agent_id, _SubagentState()), parents)
                    for agent in agents
                    if agent.task_id == row.key
                ),
                through=self.through,
            )
            for row in tasks
        )


def task_snapshots(records: Iterable[Record]) -> tuple[TaskSnapshot, ...]:
    """The snapshots of all tasks that the facts of a session tell of."""
    fold = TaskFold()
    fold.take(records)
    return fold.snapshots()


def stale(snapshots: Sequence[TaskSnapshot], head: int) -> tuple[TaskSnapshot, ...]:
    """The snapshots as they read beside a log that is at `head`: what is behind it is kept and marked."""
    return tuple(msgspec.structs.replace(one, state="stale") if one.through < head else one for one in snapshots)


def roster(snapshots: Iterable[TaskSnapshot]) -> list[dict[str, Any]]:
    """Who takes part, made of snapshots alone."""
    return [_plain(one, COMPARED["roster"]) for task in snapshots for one in task.subagents]


def graph(snapshots: Iterable[TaskSnapshot]) -> list[dict[str, Any]]:
    """Parents and their children, made of snapshots alone. A child whose parent is not known has no line."""
    return [
        {"source": one.parent_agent_id, "target": one.subagent_id}
        for task in snapshots
        for one in task.subagents
        if one.parent_agent_id
    ]


def board(snapshots: Iterable[TaskSnapshot]) -> list[dict[str, Any]]:
    """The board, made of snapshots alone."""
    return [_plain(task, COMPARED["board"]) for task in snapshots]


def of_rows(rows: Table) -> dict[str, list[dict[str, Any]]]:
    """Roster, graph and board as the panels show them, made of events, in the compared fields."""
    tasks = rows.panel(TaskRow)
    children = [row for task in tasks for row in rows.panel(AgentRow) if row.task_id == task.key]
    statuses: dict[str, TaskStatus] = {task.key: task.status for task in tasks}
    lines = {row.target: row.source for row in rows.panel(EdgeRow) if row.edge_type == "child"}
    return {
        "roster": [
            {
                "subagentId": one.key,
                "role": one.role,
                "status": status_of(one, statuses[one.task_id]),
                "taskId": one.task_id,
                **_honest(one),
            }
            for one in children
        ],
        "graph": [{"source": lines[one.key], "target": one.key} for one in children if one.key in lines],
        "board": [
            {
                "taskId": one.key,
                "title": one.title,
                "status": one.status,
                "assignee": one.assignee,
                "parentTaskId": one.parent_task,
                "dependsOn": one.depends_on,
                "entity": one.entity,
                "paused": one.paused,
                "cancelling": one.cancelling,
                "phase": one.phase,
                "counters": one.counters,
                "attempts": msgspec.to_builtins(one.attempts),
                "refs": msgspec.to_builtins(one.refs),
            }
            for one in tasks
        ],
    }


def status_of(row: AgentRow, task: TaskStatus) -> SubagentStatus:
    """A roster's state in the words of a snapshot: a child that waits for a slot is queued, a closed one is what its task came
    to, a lost one unknown."""
    if row.state == "closed":
        return _CLOSED.get(task, "unknown")
    if row.state == "waiting" and row.queue_reason is not None:
        return "queued"
    return _STATUS.get(row.state, "unknown")


def _subagent(row: AgentRow, task: TaskStatus, seen: _SubagentState, parents: dict[str, str]) -> SubagentSnapshot:
    return SubagentSnapshot(
        subagent_id=row.agent_id,
        task_id=row.task_id,
        role=row.role,
        status=status_of(row, task),
        parent_task_id=parents.get(row.task_id) or msgspec.UNSET,
        parent_run_id=row.parent_run_id or msgspec.UNSET,
        parent_agent_id=row.parent_agent_id,
        current_step_id=(seen.step if row.current_run else "") or msgspec.UNSET,
        channel_ids=tuple(seen.channels),
        tool_call_ids=tuple(seen.calls),
        artifact_refs=tuple(seen.files.values()),
        evidence_refs=tuple(seen.evidence.values()),
        last_event_cursor=seen.cursor or msgspec.UNSET,
        **_honest(row),
    )


def _honest(row: AgentRow) -> dict[str, Any]:
    """What is not known of it, is not there, or keeps it from going on."""
    return {
        "lineage": "unavailable" if "lineage_unavailable" in row.degraded else "",
        "remote": "unavailable" if "remote_unavailable" in row.degraded else "",
        "blocked": "permission_blocked" in row.degraded,
    }


def _see(seen: dict[str, _SubagentState], record: Record) -> None:
    scope = record.scope
    if scope.agent:
        mine = seen.setdefault(scope.agent, _SubagentState())
        mine.cursor = record.event_id
        mine.step = step_id(scope.run, scope.step) if scope.step else mine.step
    match record.fact:
        case ChannelOpened() as fact:
            for agent in fact.participants:
                seen.setdefault(agent, _SubagentState()).channels.append(scope.channel)
        case ToolRequested():
            seen.setdefault(scope.agent, _SubagentState()).calls.append(scope.tool_call)
        case ToolCompleted(changes=changes) | ToolFailed(changes=changes):
            files = seen.setdefault(scope.agent, _SubagentState()).files
            files |= {change.path: Ref(type="file", ref=change.path) for change in changes}
        case ReviewRequested() | ReviewVerdict() as fact:
            evidence = seen.setdefault(fact.target, _SubagentState()).evidence
            evidence |= {ref.ref: ref for ref in fact.refs}
        case RemoteArtifact() as fact:
            files = seen.setdefault(scope.agent, _SubagentState()).files
            files[fact.remote_artifact_id] = Ref(type="artifact", ref=fact.remote_artifact_id)
        case EvidenceExported() if scope.agent:
            mine = seen.setdefault(scope.agent, _SubagentState()).evidence
            mine[scope.evidence] = Ref(type="evidence", ref=scope.evidence)
        case _:
            pass


def _plain(one: SubagentSnapshot | TaskSnapshot, fields: tuple[str, ...]) -> dict[str, Any]:
    whole: dict[str, Any] = msgspec.to_builtins(one)
    return {name: whole.get(name, "") for name in fields}
