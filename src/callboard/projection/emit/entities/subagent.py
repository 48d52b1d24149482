"""Translations of facts about subagents and the team's load."""

from __future__ import annotations

from typing import Any

from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.subagent import (
    SubagentCancelled,
    SubagentClosed,
    SubagentCompleted,
    SubagentContinued,
    SubagentFailed,
    SubagentIsolated,
    SubagentMerged,
    SubagentMergeRequested,
    SubagentQueued,
    SubagentsAwaited,
    SubagentSpawned,
    SubagentStarted,
    TeamChanged,
    WorkerNotification,
)

from ..agentui_emission import Emission, Emissions, emit_agent, emit_task
from ..run_emission import RunTranslation, Translation, emit_event, show_phase, update_state


def _emit_notified(fact: Fact) -> Emissions:
    """Emit a worker's notification, and the child's state if the child waits."""
    note = Emission("worker.notification", "agent", "agent", "reviewing", "worker_notifications", "archive")
    match fact:
        case WorkerNotification(status="needs_input"):
            return (note, *emit_agent("agent.changed", "waiting", "needs_input"))
        case WorkerNotification(status="interrupted" | "ready_for_review"):
            return (note, *emit_agent("agent.changed", "waiting", "waiting"))
        case _:
            return (note,)


def _emit_team(fact: Fact) -> Emissions:
    """Emit the team's load (Agent UI specification, queue and parallelism facts)."""
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


def _emit_result(status: str) -> RunTranslation:
    return emit_event("SubagentResult", status=status)


_MERGING: Emissions = (Emission("agent.changed", "agent", "agent", "reconciling", "delegation_graph", "archive"),)

TRANSLATIONS: dict[type[Fact], Translation] = {
    SubagentSpawned: Translation(
        emit_agent("agent.changed", "accepted", "spawning", "delegation_graph", "delegate"),
        emit_event("SubagentSpawned"),
    ),
    SubagentQueued: Translation(emit_agent("agent.changed", "waiting", "waiting"), update_state("subagent_queued")),
    SubagentIsolated: Translation(
        emit_agent("agent.changed", "preparing", "spawning"), update_state("subagent_isolated")
    ),
    SubagentStarted: Translation(
        (*emit_agent("agent.spawned", "acting", "running"), *emit_task("acting", "running")),
        update_state("subagent_started"),
        ("subagent.started", "worker.started"),
    ),
    SubagentContinued: Translation(
        emit_agent("agent.changed", "accepted", "waiting", control="continue_agent"),
        update_state("subagent_continued"),
    ),
    SubagentCompleted: Translation(
        emit_agent("agent.completed", "completed", "completed"),
        _emit_result("completed"),
        ("subagent.completed", "worker.completed"),
    ),
    SubagentFailed: Translation(
        emit_agent("agent.completed", "failed", "failed"), _emit_result("failed"), ("subagent.failed", "worker.failed")
    ),
    SubagentCancelled: Translation(
        emit_agent("agent.completed", "cancelled", "killed", control="stop"),
        _emit_result("cancelled"),
        ("subagent.cancelled", "worker.cancelled"),
    ),
    SubagentClosed: Translation(
        emit_agent("agent.changed", "archived", "closed", control="close"), update_state("subagent_closed")
    ),
    SubagentsAwaited: Translation(
        emit_agent("agent.changed", "waiting", "waiting", "delegation_graph", "wait"), show_phase("awaiting_subagents")
    ),
    SubagentMergeRequested: Translation(_MERGING, update_state("subagent_merging")),
    SubagentMerged: Translation(_MERGING, update_state("subagent_merged")),
    WorkerNotification: Translation(_emit_notified, update_state("subagent_reported"), ("worker.notification",)),
    TeamChanged: Translation(_emit_team, update_state("team_changed")),
}
