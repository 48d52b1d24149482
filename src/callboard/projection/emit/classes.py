"""Which of Agent UI's event classes a fact is told as, and with which owner, scope, phase, surface and persistence.

Every type of fact has one row here. A row is what the fact is told as, or a function of the fact where that depends on what
it says. A fact with an empty row is told by others: the row says which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from callboard.contracts.facts import (
    ActionRequired,
    ActionResolved,
    Fact,
    HandoffAccepted,
    HandoffCompleted,
    ModelFailed,
    PlanUpdated,
    QueueAdded,
    RemoteTaskChanged,
    ReviewVerdict,
    SessionArchived,
    TaskUpdated,
    TeamChanged,
    TurnInterrupted,
    WorkerNotification,
)
from callboard.contracts.facts.action import ActionType
from callboard.contracts.live import PartialKind
from callboard.contracts.rows.conversation import RuntimeStatus
from callboard.contracts.team import RemoteTaskState
from callboard.contracts.vocabulary import Control, EventClass, EventScope, Owner, Persistence, Phase, Surface


class Emission(msgspec.Struct, frozen=True):
    """One event that a fact is told as. `adds` goes into the payload beside the fact's own content."""

    type: EventClass
    owner: Owner
    scope: EventScope
    phase: Phase
    surface: Surface
    persistence: Persistence
    control: Control | None = None
    adds: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


Row = tuple[Emission, ...] | Callable[[Fact], tuple[Emission, ...]]


def _run(
    kind: EventClass, phase: Phase, status: RuntimeStatus, *, scope: EventScope = "run", control: Control | None = None
) -> Emission:
    """A step in the life of a foreground turn (Agent UI specification, Runtime execution alignment)."""
    adds = {"runtimeEntity": "agent_turn", "runtimeStatus": status}
    return Emission(kind, "runtime", scope, phase, "runtime_status", "snapshot", control, adds)


def _queue(status: str, control: Control | None = None) -> tuple[Emission, ...]:
    adds = {"runtimeEntity": "agent_turn", "status": status}
    return (Emission("queue.changed", "runtime", "task", "waiting", "task_capsule", "snapshot", control, adds),)


def _queued(fact: Fact) -> tuple[Emission, ...]:
    count = {"queuedTurnCount": fact.position} if isinstance(fact, QueueAdded) else {}
    return tuple(msgspec.structs.replace(one, adds={**one.adds, **count}) for one in _queue("queued", "queue"))


def _steer(phase: Phase, status: str, control: Control | None = None) -> tuple[Emission, ...]:
    adds = {"steer": status}
    return (Emission("queue.changed", "runtime", "turn", phase, "composer", "snapshot", control, adds),)


def _tool(kind: EventClass, phase: Phase, state: str, owner: Owner = "tool") -> tuple[Emission, ...]:
    return (Emission(kind, owner, "tool_call", phase, "tool_ui", "archive", None, {"toolState": state}),)


def _permission(scope: EventScope) -> tuple[Emission, ...]:
    return (Emission("permission.changed", "policy", scope, "acting", "tool_ui", "archive"),)


def _text(phase: Phase) -> tuple[Emission, ...]:
    return (Emission("text.final", "model", "part", phase, "conversation", "transcript"),)


def _reasoning(phase: Phase) -> tuple[Emission, ...]:
    return (Emission("reasoning.summary", "model", "part", phase, "inline_process", "archive"),)


def _diagnostic(phase: Phase) -> Emission:
    return Emission("diagnostic.changed", "diagnostics", "run", phase, "diagnostics", "diagnostics_log")


def _metric(scope: EventScope = "run") -> Emission:
    return Emission("metric.changed", "diagnostics", scope, "acting", "diagnostics", "diagnostics_log")


def _session(kind: EventClass, phase: Phase, scope: EventScope = "session") -> tuple[Emission, ...]:
    return (Emission(kind, "session", scope, phase, "session_tabs", "snapshot"),)


#: Who owns an action (Agent UI specification, Human-in-the-loop taxonomy).
ACTION_OWNERS: dict[ActionType, Owner] = {
    "tool_approval": "policy",
    "plan_decision": "runtime",
    "teammate_plan_decision": "agent",
    "structured_input": "action",
    "clarification": "runtime",
    "permission_grant": "policy",
    "delegated_permission": "policy",
    "credential_request": "policy",
    "artifact_review": "artifact",
}


def _answered(phase: Phase, outcome: str, control: Control | None = None) -> tuple[Emission, ...]:
    adds = {"outcome": outcome}
    return (Emission("action.resolved", "action", "action_request", phase, "hitl", "archive", control, adds),)


def _resolved(fact: Fact) -> tuple[Emission, ...]:
    decision = fact.decision if isinstance(fact, ActionResolved) else "unknown"
    control = cast("Control", decision) if decision in ("approve", "reject", "answer") else None
    return _answered("acting", decision, control)


def _interrupted(fact: Fact) -> tuple[Emission, ...]:
    by_person = isinstance(fact, TurnInterrupted) and fact.cause in ("person", "replaced")
    return (_run("run.finished", "cancelled" if by_person else "interrupted", "done"),)


def _failed_attempt(fact: Fact) -> tuple[Emission, ...]:
    if isinstance(fact, ModelFailed) and fact.retry_in_ms is not None:
        return (_run("run.status", "waiting", "retrying"), _diagnostic("waiting"))
    return (_diagnostic("failed"),)


def _archived(fact: Fact) -> tuple[Emission, ...]:
    if isinstance(fact, SessionArchived) and not fact.archived:
        return _session("session.updated", "completed")
    return _session("session.closed", "archived")


#: How the newest turn of an agent in that state stands, and its runtime status.
_OF_STATE: dict[str, tuple[RuntimeStatus, str]] = {
    "spawning": ("accepted", "submitted"),
    "waiting": ("blocked", "waiting"),
    "running": ("streaming", "running"),
    "needs_input": ("blocked", "waiting"),
    "plan_ready": ("blocked", "waiting"),
    "idle": ("idle", "completed"),
    "completed": ("done", "completed"),
    "failed": ("failed", "failed"),
    "killed": ("done", "cancelled"),
    "closed": ("done", "closed"),
}


def _agent(
    kind: EventClass,
    phase: Phase,
    status: str,
    surface: Surface = "team_roster",
    control: Control | None = None,
    **more: str,
) -> Emission:
    """A step in the life of a child (Agent UI specification, Child subagent or teammate turn)."""
    runtime, latest = _OF_STATE[status]
    adds = {
        "runtimeEntity": "subagent_turn",
        "status": status,
        "runtimeStatus": runtime,
        "latestTurnStatus": latest,
        **more,
    }
    return Emission(kind, "agent", "agent", phase, surface, "snapshot", control, adds)


def _required(fact: Fact) -> tuple[Emission, ...]:
    owner = ACTION_OWNERS[fact.action_type] if isinstance(fact, ActionRequired) else "policy"
    asked = Emission("action.required", owner, "action_request", "waiting", "hitl", "snapshot")
    blocked = _run("run.status", "waiting", "blocked")
    match fact:
        case ActionRequired(action_type="delegated_permission"):
            return (asked, blocked, _agent("agent.changed", "waiting", "needs_input"))
        case ActionRequired(action_type="teammate_plan_decision"):
            return (asked, blocked, _agent("agent.changed", "waiting", "plan_ready"))
        case _:
            return (asked, blocked)


def _lane(kind: EventClass, phase: Phase, status: str, control: Control | None = None) -> tuple[Emission, ...]:
    return (Emission(kind, "agent", "agent", phase, "handoff_lane", "archive", control, {"status": status}),)


def _told(fact: Fact) -> tuple[Emission, ...]:
    """A worker's notification; one of a child that waits for somebody is told of the child, too."""
    note = Emission("worker.notification", "agent", "agent", "reviewing", "worker_notifications", "archive")
    match fact:
        case WorkerNotification(status="needs_input"):
            return (note, _agent("agent.changed", "waiting", "needs_input"))
        case WorkerNotification(status="interrupted" | "ready_for_review"):
            return (note, _agent("agent.changed", "waiting", "waiting"))
        case _:
            return (note,)


def _accepted(fact: Fact) -> tuple[Emission, ...]:
    if isinstance(fact, HandoffAccepted) and fact.ownership:
        return (*_lane("agent.changed", "accepted", "accepted"), *_lane("agent.handoff", "acting", "active"))
    return _lane("agent.changed", "accepted", "accepted")


def _completed(fact: Fact) -> tuple[Emission, ...]:
    returned = isinstance(fact, HandoffCompleted) and fact.returned
    return _lane("agent.changed", "completed", "returned" if returned else "completed")


def _task(phase: Phase, status: str, control: Control | None = None) -> tuple[Emission, ...]:
    adds = {"runtimeEntity": "work_item", "status": status}
    return (Emission("task.changed", "task", "task", phase, "work_board", "snapshot", control, adds),)


def _updated(fact: Fact) -> tuple[Emission, ...]:
    status = fact.status if isinstance(fact, TaskUpdated) else None
    commented = isinstance(fact, TaskUpdated) and fact.comment is not None
    assigned = isinstance(fact, TaskUpdated) and fact.assignee is not None
    if status is None:
        return _task("acting", "commented" if commented else "assigned" if assigned else "open")
    return _task("reviewing" if status == "reviewing" else "waiting" if status == "blocked" else "acting", status)


def _review(kind: EventClass, phase: Phase, status: str, control: Control | None = None) -> tuple[Emission, ...]:
    return (Emission(kind, "agent", "agent", phase, "review_lane", "evidence_pack", control, {"status": status}),)


def _judged(fact: Fact) -> tuple[Emission, ...]:
    return _review("review.completed", "completed", fact.verdict if isinstance(fact, ReviewVerdict) else "unknown")


def _team(fact: Fact) -> tuple[Emission, ...]:
    """Agent UI specification, queue and parallelism facts."""
    adds: dict[str, Any] = {"retryableOverload": False}
    if isinstance(fact, TeamChanged):
        adds |= {
            "teamPhase": fact.phase,
            "status": fact.phase,
            "teamParallelBudget": fact.parallel_budget,
            "teamActiveCount": fact.active_count,
            "teamQueuedCount": fact.queued_count,
            "providerConcurrencyGroup": fact.group,
            "providerParallelBudget": fact.group_budget,
            "queueReason": fact.queue_reason,
            "retryableOverload": fact.queue_reason == "provider_budget",
        }
    return (Emission("team.changed", "agent", "team", "routing", "team_roster", "snapshot", None, adds),)


def _background(phase: Phase, status: str) -> tuple[Emission, ...]:
    """A step of an agent that sleeps and wakes (Agent UI specification, Durable automation job)."""
    adds = {"runtimeEntity": "automation_job", "status": status, "runtimeStatus": "idle"}
    surface: Surface = "background_teammate"
    return (
        Emission("task.changed", "task", "task", phase, surface, "snapshot", None, adds),
        Emission("agent.changed", "agent", "agent", phase, surface, "snapshot", None, adds),
    )


def _remote(fact: Fact) -> tuple[Emission, ...]:
    """What an agent elsewhere told of its task (Agent UI specification, Remote protocol task)."""
    state = fact.state if isinstance(fact, RemoteTaskChanged) else "unknown"
    runtime, phase = _OF_REMOTE[state]
    adds = {"runtimeEntity": "external_task", "status": state, "runtimeStatus": runtime}
    if isinstance(fact, RemoteTaskChanged):
        adds["remoteTaskId"] = fact.remote_task_id
    surface: Surface = "remote_teammate"
    return (
        Emission("task.changed", "task", "task", phase, surface, "snapshot", None, adds),
        Emission("agent.changed", "agent", "agent", phase, surface, "snapshot", None, adds),
    )


#: How the runtime stands, and the phase, of a task elsewhere in that state.
_OF_REMOTE: dict[RemoteTaskState, tuple[RuntimeStatus, Phase]] = {
    "submitted": ("accepted", "submitted"),
    "working": ("streaming", "acting"),
    "input_required": ("blocked", "waiting"),
    "auth_required": ("blocked", "waiting"),
    "completed": ("done", "completed"),
    "failed": ("failed", "failed"),
    "canceled": ("done", "cancelled"),
    "rejected": ("failed", "failed"),
    "unknown": ("blocked", "waiting"),
}


def _plan(fact: Fact) -> tuple[Emission, ...]:
    final = isinstance(fact, PlanUpdated) and fact.final
    kind: EventClass = "plan.final" if final else "plan.delta"
    return (Emission(kind, "model", "part", "planning", "inline_process", "transcript"),)


_BY_OTHERS: tuple[Emission, ...] = ()

#: Every type of fact, by its tag.
CLASSES: dict[str, Row] = {
    "session.created": _session("session.opened", "accepted"),
    "session.taken_over": (_diagnostic("interrupted"),),
    "thread.opened": _session("session.opened", "accepted", "thread"),
    "agent.connected": (_agent("agent.changed", "accepted", "idle", connection="idle"),),
    "agent.disconnected": (_agent("agent.changed", "waiting", "waiting", connection="disconnected"),),
    "agent.slept": _background("waiting", "sleeping"),
    "agent.woke": _background("accepted", "waking"),
    "agent.defined": (Emission("team.changed", "agent", "team", "accepted", "team_roster", "snapshot"),),
    "agent.edge.added": (Emission("team.changed", "agent", "team", "accepted", "delegation_graph", "snapshot"),),
    "remote.task": _remote,
    "remote.artifact": (
        Emission("artifact.changed", "artifact", "artifact", "producing", "remote_teammate", "artifact_store"),
    ),
    "plan.updated": _plan,
    "thread.paused": (_run("run.status", "waiting", "blocked", scope="thread"),),
    "thread.resumed": (_run("run.status", "accepted", "accepted", scope="thread"),),
    "turn.submitted": (_run("run.status", "submitted", "accepted", scope="turn", control="send"),),
    "turn.started": (_run("run.started", "accepted", "accepted"),),
    "turn.interrupt.requested": (_run("run.status", "acting", "streaming", control="interrupt"),),
    "turn.completed": (_run("run.finished", "completed", "done"),),
    "turn.failed": (_run("run.failed", "failed", "failed"),),
    "turn.interrupted": _interrupted,
    "queue.added": _queued,
    "queue.promoted": _queue("promoted"),
    "queue.edited": _queue("queued"),
    "queue.removed": _queue("removed"),
    "queue.steer.requested": _steer("submitted", "pending", "steer"),
    "queue.steer.accepted": _steer("accepted", "accepted"),
    "queue.steer.rejected": _steer("cancelled", "rejected"),
    "routing.resolved": (_run("run.status", "routing", "routing"),),
    "model.requested": (
        _run("run.status", "preparing", "preparing"),
        Emission("context.changed", "context", "run", "preparing", "diagnostics", "archive"),
    ),
    "model.completed": (_metric(),),
    "model.failed": _failed_attempt,
    "model.interrupted": (_diagnostic("interrupted"),),
    "reasoning.completed": _reasoning("reasoning"),
    "reasoning.interrupted": _reasoning("interrupted"),
    "message.text": _text("reconciling"),
    "message.interrupted": _text("interrupted"),
    "output.final": (_run("run.status", "reconciling", "streaming"),),
    "cost.recorded": (_metric(),),
    "tool.requested": _tool("tool.args", "acting", "input-available", "model"),
    "permission.evaluated": _permission("tool_call"),
    "sandbox.applied": _permission("tool_call"),
    "tool.started": (*_tool("tool.started", "acting", "running"), _run("run.status", "acting", "streaming")),
    "tool.completed": _tool("tool.result", "completed", "output-available"),
    "tool.failed": _tool("tool.failed", "failed", "output-error"),
    "tool.refused": _tool("tool.failed", "failed", "output-error"),
    "tool.lost": _tool("tool.failed", "failed", "output-error"),
    "tool.cancelled": _tool("tool.failed", "cancelled", "cancelled"),
    "action.required": _required,
    "action.resolved": _resolved,
    "action.expired": _answered("cancelled", "expired"),
    "action.withdrawn": _answered("cancelled", "withdrawn"),
    "permission.rule.added": _permission("session"),
    "permission.rule.revoked": _permission("session"),
    "subagent.spawned": (_agent("agent.changed", "accepted", "spawning", "delegation_graph", "delegate"),),
    "subagent.queued": (_agent("agent.changed", "waiting", "waiting"),),
    "subagent.isolated": (_agent("agent.changed", "preparing", "spawning"),),
    "subagent.started": (_agent("agent.spawned", "acting", "running"), *_task("acting", "running")),
    "subagent.continued": (_agent("agent.changed", "accepted", "waiting", control="continue_agent"),),
    "subagent.completed": (_agent("agent.completed", "completed", "completed"),),
    "subagent.failed": (_agent("agent.completed", "failed", "failed"),),
    "subagent.cancelled": (_agent("agent.completed", "cancelled", "killed", control="stop"),),
    "subagent.closed": (_agent("agent.changed", "archived", "closed", control="close"),),
    "subagent.awaited": (_agent("agent.changed", "waiting", "waiting", "delegation_graph", "wait"),),
    "worker.notification": _told,
    "team.changed": _team,
    "handoff.requested": _lane("agent.changed", "submitted", "handoff_requested"),
    "handoff.accepted": _accepted,
    "handoff.rejected": _lane("agent.changed", "cancelled", "rejected"),
    "handoff.completed": _completed,
    "handoff.reply.ended": _lane("agent.changed", "completed", "returned"),
    "channel.opened": (Emission("agent.changed", "agent", "agent", "accepted", "teammate_transcript", "archive"),),
    "channel.message": (Emission("agent.changed", "agent", "agent", "acting", "teammate_transcript", "archive"),),
    "channel.closed": (Emission("agent.changed", "agent", "agent", "completed", "teammate_transcript", "archive"),),
    "inbox.reserved": _BY_OTHERS,  # told as agent.changed by what was sent and by its acceptance
    "inbox.consumed": _BY_OTHERS,
    "task.created": _task("accepted", "open"),
    "task.started": _task("acting", "running"),
    "task.paused": _task("waiting", "blocked"),
    "task.resumed": _task("accepted", "running"),
    "task.cancel.requested": _task("acting", "running", "stop"),
    "task.updated": _updated,
    "task.completed": _task("completed", "done"),
    "task.failed": _task("failed", "blocked"),
    "task.cancelled": _task("cancelled", "cancelled"),
    "snapshot.updated": (Emission("state.snapshot", "runtime", "task", "reconciling", "task_capsule", "snapshot"),),
    "review.requested": _review("review.requested", "reviewing", "requested", "request_review"),
    "review.verdict": _judged,
    "review.applied": _review("review.completed", "completed", "applied"),
    "evidence.exported": (
        Emission(
            "evidence.changed", "evidence", "evidence", "completed", "timeline_evidence", "evidence_pack", "export"
        ),
    ),
    "warning.raised": (_diagnostic("acting"),),
    "error.raised": (_diagnostic("failed"),),
    "workspace.opened": _BY_OTHERS,  # a folder is no surface of Agent UI; its sessions are
    "workspace.session.listed": _BY_OTHERS,  # told as session.opened by the session itself
    "workspace.session.titled": _session("session.updated", "completed"),
    "workspace.session.pinned": _session("session.updated", "completed"),
    "workspace.session.archived": _archived,
    "workspace.session.scheduled": _BY_OTHERS,  # told by agent.slept and agent.woke of the session itself
    "workspace.session.deleted": _session("session.closed", "archived"),
}

#: Text in the making, by its kind.
DELTAS: dict[PartialKind, Emission] = {
    "text": Emission("text.delta", "model", "part", "producing", "conversation", "ephemeral_live"),
    "reasoning": Emission("reasoning.delta", "model", "part", "reasoning", "inline_process", "ephemeral_live"),
    "arguments": Emission(
        "tool.args", "model", "tool_call", "acting", "tool_ui", "ephemeral_live", None, {"toolState": "input-streaming"}
    ),
    "output": Emission(
        "tool.output.delta", "tool", "tool_call", "acting", "tool_ui", "ephemeral_live", None, {"toolState": "progress"}
    ),
}


def emissions(tag: str, fact: Fact) -> tuple[Emission, ...]:
    """What a fact is told as. One of a type that this version does not know is told to diagnostics, as unknown."""
    row = CLASSES.get(tag)
    if row is None:
        return (_diagnostic("acting"),)
    return row(fact) if callable(row) else row
