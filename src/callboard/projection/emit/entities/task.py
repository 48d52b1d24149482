"""Translations of facts about tasks, jobs and reviews."""

from __future__ import annotations

from typing import Any

from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.exchange.review import ReviewApplied, ReviewRequested, ReviewVerdict
from callboard.contracts.facts.job import JobCreated, JobItemRetried
from callboard.contracts.facts.task import (
    SnapshotUpdated,
    TaskCancelled,
    TaskCancelRequested,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarted,
    TaskUpdated,
)
from callboard.contracts.rows.status import RuntimeStatus
from callboard.contracts.rows.task import TaskRow
from callboard.contracts.vocabulary import Control, EventClass, Phase

from ..agentui_emission import Emission, Emissions, emit_task
from ..run_emission import Translation, update_state

#: A job's status and the runtime's status, by the status of the job's card.
_JOB_STATUS: dict[str, tuple[str, RuntimeStatus]] = {
    "open": ("scheduled", "accepted"),
    "claimed": ("scheduled", "accepted"),
    "blocked": ("failed", "failed"),
    "done": ("completed", "done"),
    "cancelled": ("cancelled", "done"),
}


def build_job_payload(row: TaskRow, ended: str = "") -> dict[str, Any]:
    """Return the payload of a job (Agent UI specification, Durable automation job).

    Args:
        ended: The final status of a job without an open card.
    """
    state, runtime = _JOB_STATUS.get(ended or row.status, ("running", "streaming"))
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


def _emit_updated(fact: Fact) -> Emissions:
    status = fact.status if isinstance(fact, TaskUpdated) else None
    commented = isinstance(fact, TaskUpdated) and fact.comment is not None
    assigned = isinstance(fact, TaskUpdated) and fact.assignee is not None
    if status is None:
        return emit_task("acting", "commented" if commented else "assigned" if assigned else "open")
    return emit_task("reviewing" if status == "reviewing" else "waiting" if status == "blocked" else "acting", status)


def _emit_review(kind: EventClass, phase: Phase, status: str, control: Control | None = None) -> Emissions:
    return (Emission(kind, "agent", "agent", phase, "review_lane", "evidence_pack", control, {"status": status}),)


def _emit_verdict(fact: Fact) -> Emissions:
    return _emit_review("review.completed", "completed", fact.verdict if isinstance(fact, ReviewVerdict) else "unknown")


TRANSLATIONS: dict[type[Fact], Translation] = {
    JobCreated: Translation(emit_task("accepted", "open")),
    JobItemRetried: Translation(emit_task("accepted", "open", "retry")),
    TaskCreated: Translation(emit_task("accepted", "open"), update_state("task_created"), ("task.created",)),
    TaskStarted: Translation(emit_task("acting", "running"), update_state("task_started"), ("task.updated",)),
    TaskPaused: Translation(emit_task("waiting", "blocked"), update_state("task_paused"), ("task.updated",)),
    TaskResumed: Translation(emit_task("accepted", "running"), update_state("task_resumed"), ("task.updated",)),
    TaskCancelRequested: Translation(
        emit_task("acting", "running", "stop"), update_state("task_cancel_requested"), ("task.updated",)
    ),
    TaskUpdated: Translation(_emit_updated, update_state("task_updated"), ("task.updated",)),
    TaskCompleted: Translation(emit_task("completed", "done"), update_state("task_completed"), ("task.completed",)),
    TaskFailed: Translation(emit_task("failed", "blocked"), update_state("task_failed"), ("task.failed",)),
    TaskCancelled: Translation(
        emit_task("cancelled", "cancelled"), update_state("task_cancelled"), ("task.cancelled",)
    ),
    SnapshotUpdated: Translation(
        (Emission("state.snapshot", "runtime", "task", "reconciling", "task_capsule", "snapshot"),),
        subagents=("snapshot.updated",),
    ),
    ReviewRequested: Translation(
        _emit_review("review.requested", "reviewing", "requested", "request_review"),
        update_state("review_requested"),
        ("review.requested",),
    ),
    ReviewVerdict: Translation(_emit_verdict, update_state("review_judged"), ("review.verdict",)),
    ReviewApplied: Translation(
        _emit_review("review.completed", "completed", "applied"), update_state("review_applied"), ("review.applied",)
    ),
}
