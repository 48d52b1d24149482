"""Translations of facts about permissions, sandboxes and the actions that wait for a person."""

from __future__ import annotations

from typing import cast

from callboard.contracts.facts.action import ActionExpired, ActionRequired, ActionResolved, ActionType, ActionWithdrawn
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.permission import PermissionEvaluated, PermissionRuleAdded, PermissionRuleRevoked, Rule
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.vocabulary import Control, EventScope, Phase

from ..agentui_emission import ACTION_OWNERS, Emission, Emissions, emit_agent, emit_permission, emit_run
from ..run_emission import RunEmission, RunTranslation, Translation, emit_agent_status, show_phase, update_settings

#: The type of action that a rule with the verdict `allow` is.
GRANT: ActionType = "permission_grant"


def to_event_scope(rule: Rule) -> EventScope:
    """Return the scope in which the rule applies."""
    return "workspace" if rule.scope == "workspace" else "session"


def _emit_rule_added(fact: Fact) -> Emissions:
    """Emit the change, and a resolved grant if the rule allows calls."""
    if not isinstance(fact, PermissionRuleAdded):
        return emit_permission("session")
    changed = emit_permission(to_event_scope(fact.rule))
    if fact.rule.verdict != "allow":
        return changed
    resolved = Emission(
        "action.resolved",
        ACTION_OWNERS[GRANT],
        "action_request",
        "accepted",
        "hitl",
        "snapshot",
        adds={"actionType": GRANT, "outcome": "granted"},
        action=fact.rule.rule_id,
    )
    return (*changed, resolved)


def _emit_required(fact: Fact) -> Emissions:
    owner = ACTION_OWNERS[fact.action_type] if isinstance(fact, ActionRequired) else "policy"
    request = Emission("action.required", owner, "action_request", "waiting", "hitl", "snapshot")
    emissions = (request, *emit_run("run.status", "waiting", "blocked"))
    match fact:
        case ActionRequired(action_type="delegated_permission"):
            return (*emissions, *emit_agent("agent.changed", "waiting", "needs_input"))
        case ActionRequired(action_type="teammate_plan_decision"):
            return (*emissions, *emit_agent("agent.changed", "waiting", "plan_ready"))
        case _:
            return emissions


def _emit_answered(phase: Phase, outcome: str, control: Control | None = None) -> Emissions:
    adds = {"outcome": outcome}
    return (Emission("action.resolved", "action", "action_request", phase, "hitl", "archive", control, adds),)


def _emit_resolved(fact: Fact) -> Emissions:
    decision = fact.decision if isinstance(fact, ActionResolved) else "unknown"
    control = cast("Control", decision) if decision in ("approve", "reject", "answer") else None
    return _emit_answered("acting", decision, control)


def _show_request(fact: Fact) -> tuple[RunEmission, ...]:
    question = isinstance(fact, ActionRequired) and "answer" in fact.decisions
    return (emit_agent_status("awaiting_answer" if question else "awaiting_approval"),)


TRANSLATIONS: dict[type[Fact], Translation] = {
    PermissionEvaluated: Translation(emit_permission("tool_call")),
    PermissionRuleAdded: Translation(_emit_rule_added, update_settings("rule_added")),
    PermissionRuleRevoked: Translation(emit_permission("session"), update_settings("rule_revoked")),
    SandboxApplied: Translation(emit_permission("tool_call")),
    ActionRequired: Translation(_emit_required, RunTranslation(_show_request), ("worker.blocked",), children_only=True),
    ActionResolved: Translation(_emit_resolved, show_phase("answered")),
    ActionExpired: Translation(_emit_answered("cancelled", "expired"), show_phase("answered")),
    ActionWithdrawn: Translation(_emit_answered("cancelled", "withdrawn"), show_phase("answered")),
}
