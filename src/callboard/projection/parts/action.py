"""Action parts: a request for a person's decision, and its outcome."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.action import (
    ActionExpired,
    ActionRequired,
    ActionResolved,
    ActionWithdrawn,
    ApprovalScope,
)
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.conversation import ActionOutcome, ActionPart
from callboard.contracts.scope import Actor

from ..actions import asked_tool
from ..reducer import upsert
from .run import OpenRun
from .tool import change

_OUTCOMES: dict[str, ActionOutcome] = {"approve": "approved", "reject": "rejected", "answer": "answered"}


def require(run: OpenRun, record: Record, fact: ActionRequired) -> list[Op]:
    """Add a pending action, and name it in its tool call."""
    row = run.actions[record.scope.action] = ActionPart(
        **run.place.fields(record, record.scope.action, record.scope.step or run.step),
        action_id=record.scope.action,
        action_type=fact.action_type,
        tool=asked_tool(fact),
        prompt=fact.prompt,
        outcome="pending",
    )
    return [*upsert(row), *change(run, record)]


def settle(run: OpenRun, record: Record) -> list[Op]:
    """Set the outcome of an action. Only the first outcome counts."""
    row = run.actions.pop(record.scope.action, None)
    if row is None:
        return []
    outcome, reason, scope = _outcome(record)
    fact = record.fact
    return upsert(
        msgspec.structs.replace(
            row,
            sequence=record.sequence,
            outcome=outcome,
            reason=reason,
            answer=fact.answer if isinstance(fact, ActionResolved) else row.answer,
            answered_scope=scope,
            permission_mode=fact.permission_mode if isinstance(fact, ActionResolved) else None,
            next_turn_id=fact.next_turn if isinstance(fact, ActionResolved) else "",
            actor=_actor_name(record.header.actor),
            settled_at=record.header.at,
        )
    )


def _outcome(record: Record) -> tuple[ActionOutcome, str, ApprovalScope | None]:
    match record.fact:
        case ActionResolved() as fact:
            scope = fact.scope if fact.decision == "approve" else None
            return _OUTCOMES.get(fact.decision, "unknown"), fact.reason, scope
        case ActionExpired():
            return "expired", "", None
        case ActionWithdrawn() as fact:
            return "withdrawn", fact.reason, None
        case _:
            return "unknown", "", None


def _actor_name(actor: Actor | None) -> str:
    if actor is None:
        return ""
    return f"{actor.kind}:{actor.id}" if actor.id else actor.kind
