"""What facts of a team are told as: its agents, their tasks, handoffs and reviews, and those that sleep or are elsewhere."""

from __future__ import annotations

from typing import Any

from callboard.contracts.entities.team import BackgroundState, RemoteTaskState
from callboard.contracts.facts import (
    ActionRequired,
    AgentSlept,
    Fact,
    HandoffAccepted,
    HandoffCompleted,
    RemoteArtifact,
    RemoteTaskChanged,
    ReviewVerdict,
    TaskUpdated,
    TeamChanged,
    ThreadOpened,
    WorkerNotification,
)
from callboard.contracts.rows import TaskRow
from callboard.contracts.rows.conversation import RuntimeStatus
from callboard.contracts.vocabulary import Control, EventClass, Phase, Surface

from .emission import ACTION_OWNERS, Emission, run, session

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


def agent(
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


def required(fact: Fact) -> tuple[Emission, ...]:
    owner = ACTION_OWNERS[fact.action_type] if isinstance(fact, ActionRequired) else "policy"
    asked = Emission("action.required", owner, "action_request", "waiting", "hitl", "snapshot")
    blocked = run("run.status", "waiting", "blocked")
    match fact:
        case ActionRequired(action_type="delegated_permission"):
            return (asked, blocked, agent("agent.changed", "waiting", "needs_input"))
        case ActionRequired(action_type="teammate_plan_decision"):
            return (asked, blocked, agent("agent.changed", "waiting", "plan_ready"))
        case _:
            return (asked, blocked)


def lane(kind: EventClass, phase: Phase, status: str, control: Control | None = None) -> tuple[Emission, ...]:
    return (Emission(kind, "agent", "agent", phase, "handoff_lane", "archive", control, {"status": status}),)


def told(fact: Fact) -> tuple[Emission, ...]:
    """A worker's notification; one of a child that waits for somebody is told of the child, too."""
    note = Emission("worker.notification", "agent", "agent", "reviewing", "worker_notifications", "archive")
    match fact:
        case WorkerNotification(status="needs_input"):
            return (note, agent("agent.changed", "waiting", "needs_input"))
        case WorkerNotification(status="interrupted" | "ready_for_review"):
            return (note, agent("agent.changed", "waiting", "waiting"))
        case _:
            return (note,)


def accepted(fact: Fact) -> tuple[Emission, ...]:
    if isinstance(fact, HandoffAccepted) and fact.ownership:
        return (*lane("agent.changed", "accepted", "accepted"), *lane("agent.handoff", "acting", "active"))
    return lane("agent.changed", "accepted", "accepted")


def completed(fact: Fact) -> tuple[Emission, ...]:
    returned = isinstance(fact, HandoffCompleted) and fact.returned
    return lane("agent.changed", "completed", "returned" if returned else "completed")


#: How a job's card reads to others, and how the runtime stands.
_OF_CARD: dict[str, tuple[str, RuntimeStatus]] = {
    "open": ("scheduled", "accepted"),
    "claimed": ("scheduled", "accepted"),
    "blocked": ("failed", "failed"),
    "done": ("completed", "done"),
    "cancelled": ("cancelled", "done"),
}


def task(phase: Phase, status: str, control: Control | None = None) -> tuple[Emission, ...]:
    """A step of a work item. What the task is to others may be more than that: see `context`."""
    adds = {"runtimeEntity": "work_item", "status": status}
    return (Emission("task.changed", "task", "task", phase, "work_board", "snapshot", control, adds),)


def of_job(row: TaskRow, ended: str = "") -> dict[str, Any]:
    """How a job stands by its card, or by how it `ended` (Agent UI specification, Durable automation job)."""
    state, runtime = _OF_CARD.get(ended or row.status, ("running", "streaming"))
    if row.paused and not ended:
        state, runtime = "paused", "blocked"
    last = row.attempts[-1] if row.attempts else None
    return {
        "runtimeEntity": "automation_job",
        "status": state,
        "runtimeStatus": runtime,
        "jobId": row.job,
        "lastRunRef": f"{row.key}.{last.number}" if last is not None else "",
        "wakeReason": "person",
    }


def updated(fact: Fact) -> tuple[Emission, ...]:
    status = fact.status if isinstance(fact, TaskUpdated) else None
    commented = isinstance(fact, TaskUpdated) and fact.comment is not None
    assigned = isinstance(fact, TaskUpdated) and fact.assignee is not None
    if status is None:
        return task("acting", "commented" if commented else "assigned" if assigned else "open")
    return task("reviewing" if status == "reviewing" else "waiting" if status == "blocked" else "acting", status)


def review(kind: EventClass, phase: Phase, status: str, control: Control | None = None) -> tuple[Emission, ...]:
    return (Emission(kind, "agent", "agent", phase, "review_lane", "evidence_pack", control, {"status": status}),)


def judged(fact: Fact) -> tuple[Emission, ...]:
    return review("review.completed", "completed", fact.verdict if isinstance(fact, ReviewVerdict) else "unknown")


def team(fact: Fact) -> tuple[Emission, ...]:
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


#: How the runtime stands, and the phase, of an agent that sleeps and wakes in that state.
OF_JOB: dict[BackgroundState, tuple[RuntimeStatus, Phase]] = {
    "scheduled": ("idle", "accepted"),
    "sleeping": ("idle", "waiting"),
    "waking": ("accepted", "accepted"),
    "running": ("streaming", "acting"),
    "blocked": ("blocked", "waiting"),
    "paused": ("blocked", "waiting"),
    "failed": ("failed", "failed"),
    "completed": ("done", "completed"),
    "unknown": ("blocked", "waiting"),
}
#: The same of a task elsewhere.
OF_REMOTE: dict[RemoteTaskState, tuple[RuntimeStatus, Phase]] = {
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


def job(state: BackgroundState) -> tuple[Emission, ...]:
    """How an agent stands that sleeps and wakes (Agent UI specification, Durable automation job)."""
    runtime, phase = OF_JOB[state]
    adds = {"runtimeEntity": "automation_job", "status": state, "runtimeStatus": runtime}
    return _both(phase, "background_teammate", adds)


def slept(fact: Fact) -> tuple[Emission, ...]:
    """An agent sleeps; one that has just joined is scheduled, one whose task ended is through."""
    if not isinstance(fact, AgentSlept):
        return job("unknown")
    return job("completed" if fact.reason == "ended" else "scheduled" if fact.reason == "joined" else "sleeping")


def remote(fact: Fact) -> tuple[Emission, ...]:
    """What an agent elsewhere told of its task (Agent UI specification, Remote protocol task)."""
    if not isinstance(fact, RemoteTaskChanged):
        return of_remote("unknown", "")
    return of_remote(fact.state, fact.remote_task_id)


def of_remote(state: RemoteTaskState, identity: str) -> tuple[Emission, ...]:
    """How a task elsewhere stands."""
    _, phase = OF_REMOTE[state]
    return _both(phase, "remote_teammate", external(state, identity))


def external(state: RemoteTaskState, identity: str) -> dict[str, Any]:
    """What names a task elsewhere, and says whether it waits for somebody."""
    return {
        "runtimeEntity": "external_task",
        "status": state,
        "runtimeStatus": OF_REMOTE[state][0],
        "remoteTaskId": identity,
        "inputRequired": state == "input_required",
        "authRequired": state == "auth_required",
    }


def delivered(fact: Fact) -> tuple[Emission, ...]:
    """An agent elsewhere delivered an artifact."""
    adds: dict[str, Any] = {"runtimeEntity": "external_task"}
    if isinstance(fact, RemoteArtifact):
        adds["remoteTaskId"] = fact.remote_task_id
    surface: Surface = "remote_teammate"
    return (Emission("artifact.changed", "artifact", "artifact", "producing", surface, "artifact_store", None, adds),)


def opened(fact: Fact) -> tuple[Emission, ...]:
    """An agent joined. One elsewhere is told with where its card is; one that sleeps tells of itself when it does."""
    if isinstance(fact, ThreadOpened) and fact.kind == "remote":
        adds = {"runtimeEntity": "external_task", "runtimeStatus": "idle", "agentCardRef": fact.url}
        surface: Surface = "remote_teammate"
        joined = Emission("agent.changed", "agent", "agent", "accepted", surface, "snapshot", None, adds)
        return (*session("session.opened", "accepted", "thread"), joined)
    return session("session.opened", "accepted", "thread")


def _both(phase: Phase, surface: Surface, adds: dict[str, Any]) -> tuple[Emission, ...]:
    """The task, and the agent whose it is."""
    return (
        Emission("task.changed", "task", "task", phase, surface, "snapshot", None, adds),
        Emission("agent.changed", "agent", "agent", phase, surface, "snapshot", None, adds),
    )
