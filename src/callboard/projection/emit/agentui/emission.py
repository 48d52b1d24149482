"""One event of Agent UI that a fact is told as, and how the facts of turns, calls, actions and sessions make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from callboard.contracts.facts import (
    ActionResolved,
    Fact,
    ModelFailed,
    PermissionRuleAdded,
    PlanUpdated,
    QueueAdded,
    Rule,
    SessionArchived,
    TurnInterrupted,
)
from callboard.contracts.facts.action import ActionType
from callboard.contracts.rows.conversation import RuntimeStatus
from callboard.contracts.vocabulary import Control, EventClass, EventScope, Owner, Persistence, Phase, Surface


class Emission(msgspec.Struct, frozen=True):
    """One event that a fact is told as. `adds` goes into the payload beside the fact's own content; `action` is the id of the
    action that it is about, where that is not the scope's."""

    type: EventClass
    owner: Owner
    scope: EventScope
    phase: Phase
    surface: Surface
    persistence: Persistence
    control: Control | None = None
    adds: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    action: str = ""


Row = tuple[Emission, ...] | Callable[[Fact], tuple[Emission, ...]]


def run(
    kind: EventClass, phase: Phase, status: RuntimeStatus, *, scope: EventScope = "run", control: Control | None = None
) -> Emission:
    """A step in the life of a foreground turn (Agent UI specification, Runtime execution alignment)."""
    adds = {"runtimeEntity": "agent_turn", "runtimeStatus": status}
    return Emission(kind, "runtime", scope, phase, "runtime_status", "snapshot", control, adds)


def queue(status: str, control: Control | None = None) -> tuple[Emission, ...]:
    adds = {"runtimeEntity": "agent_turn", "status": status}
    return (Emission("queue.changed", "runtime", "task", "waiting", "task_capsule", "snapshot", control, adds),)


def queued(fact: Fact) -> tuple[Emission, ...]:
    count = {"queuedTurnCount": fact.position} if isinstance(fact, QueueAdded) else {}
    return tuple(msgspec.structs.replace(one, adds={**one.adds, **count}) for one in queue("queued", "queue"))


def steer(phase: Phase, status: str, control: Control | None = None) -> tuple[Emission, ...]:
    adds = {"steer": status}
    return (Emission("queue.changed", "runtime", "turn", phase, "composer", "snapshot", control, adds),)


def tool(kind: EventClass, phase: Phase, state: str, owner: Owner = "tool") -> tuple[Emission, ...]:
    return (Emission(kind, owner, "tool_call", phase, "tool_ui", "archive", None, {"toolState": state}),)


def permission(scope: EventScope) -> tuple[Emission, ...]:
    return (Emission("permission.changed", "policy", scope, "acting", "tool_ui", "archive"),)


def text(phase: Phase) -> tuple[Emission, ...]:
    return (Emission("text.final", "model", "part", phase, "conversation", "transcript"),)


def reasoning(phase: Phase) -> tuple[Emission, ...]:
    return (Emission("reasoning.summary", "model", "part", phase, "inline_process", "archive"),)


def diagnostic(phase: Phase) -> Emission:
    return Emission("diagnostic.changed", "diagnostics", "run", phase, "diagnostics", "diagnostics_log")


def metric(scope: EventScope = "run") -> Emission:
    return Emission("metric.changed", "diagnostics", scope, "acting", "diagnostics", "diagnostics_log")


def session(kind: EventClass, phase: Phase, scope: EventScope = "session") -> tuple[Emission, ...]:
    return (Emission(kind, "session", scope, phase, "session_tabs", "snapshot"),)


#: The type of action that a standing permission is.
GRANT: ActionType = "permission_grant"
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


def granted(fact: Fact) -> tuple[Emission, ...]:
    """A rule that allows is a grant; one that asks or denies grants nothing."""
    if not isinstance(fact, PermissionRuleAdded):
        return permission("session")
    changed = permission(reach(fact.rule))
    if fact.rule.verdict != "allow":
        return changed
    adds = {"actionType": GRANT, "outcome": "granted"}
    owner = ACTION_OWNERS[GRANT]
    resolved = Emission("action.resolved", owner, "action_request", "accepted", "hitl", "snapshot", None, adds)
    return (*changed, msgspec.structs.replace(resolved, action=fact.rule.rule_id))


def reach(rule: Rule) -> EventScope:
    """What a rule holds for."""
    return "workspace" if rule.scope == "workspace" else "session"


def answered(phase: Phase, outcome: str, control: Control | None = None) -> tuple[Emission, ...]:
    adds = {"outcome": outcome}
    return (Emission("action.resolved", "action", "action_request", phase, "hitl", "archive", control, adds),)


def resolved(fact: Fact) -> tuple[Emission, ...]:
    decision = fact.decision if isinstance(fact, ActionResolved) else "unknown"
    control = cast("Control", decision) if decision in ("approve", "reject", "answer") else None
    return answered("acting", decision, control)


def interrupted(fact: Fact) -> tuple[Emission, ...]:
    by_person = isinstance(fact, TurnInterrupted) and fact.cause in ("person", "replaced")
    return (run("run.finished", "cancelled" if by_person else "interrupted", "done"),)


def failed_attempt(fact: Fact) -> tuple[Emission, ...]:
    if isinstance(fact, ModelFailed) and fact.retry_in_ms is not None:
        return (run("run.status", "waiting", "retrying"), diagnostic("waiting"))
    return (diagnostic("failed"),)


def archived(fact: Fact) -> tuple[Emission, ...]:
    if isinstance(fact, SessionArchived) and not fact.archived:
        return session("session.updated", "completed")
    return session("session.closed", "archived")


def plan(fact: Fact) -> tuple[Emission, ...]:
    final = isinstance(fact, PlanUpdated) and fact.final
    kind: EventClass = "plan.final" if final else "plan.delta"
    return (Emission(kind, "model", "part", "planning", "inline_process", "transcript"),)
