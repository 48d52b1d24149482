"""Action parts: a request for a person's decision, and its outcome."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.action import ActionExpired, ActionRequired, ActionResolved, ActionWithdrawn
from callboard.contracts.record import Record
from callboard.contracts.rows.action import ActionOutcome, ActionPart
from callboard.contracts.rows.base import Op
from callboard.contracts.scope import Actor

from ..actions import get_requested_tool
from ..reducer import on, upsert
from .run import OpenRun
from .tool import change_call

_OUTCOMES: dict[str, ActionOutcome] = {"approve": "approved", "reject": "rejected", "answer": "answered"}


@on
def add_action(run: OpenRun, record: Record, fact: ActionRequired) -> list[Op]:
    """Add a pending action, and name it in its tool call."""
    row = run.actions[record.scope.action] = ActionPart(
        **run.position.build_fields(record, record.scope.action, record.scope.step or run.step),
        action_id=record.scope.action,
        action_type=fact.action_type,
        tool=get_requested_tool(fact),
        prompt=fact.prompt,
        outcome="pending",
    )
    return [*upsert(row), *change_call(run, record, action_id=record.scope.action)]


@on
def resolve(run: OpenRun, record: Record, fact: ActionResolved) -> list[Op]:
    return _end(
        run,
        record,
        outcome=_OUTCOMES.get(fact.decision, "unknown"),
        reason=fact.reason,
        answer=fact.answer,
        answered_scope=fact.scope if fact.decision == "approve" else None,
        permission_mode=fact.permission_mode,
        next_turn_id=fact.next_turn,
    )


@on
def expire(run: OpenRun, record: Record, fact: ActionExpired) -> list[Op]:
    return _end(run, record, outcome="expired", reason="")


@on
def withdraw(run: OpenRun, record: Record, fact: ActionWithdrawn) -> list[Op]:
    return _end(run, record, outcome="withdrawn", reason=fact.reason)


def _end(run: OpenRun, record: Record, **changes: Any) -> list[Op]:
    """Set the outcome of an action. Only the first outcome counts."""
    row = run.actions.pop(record.scope.action, None)
    if row is None:
        return []
    settled = {"actor": _format_actor(record.header.actor), "settled_at": record.header.at}
    return upsert(msgspec.structs.replace(row, sequence=record.sequence, **settled, **changes))


def _format_actor(actor: Actor | None) -> str:
    if actor is None:
        return ""
    return f"{actor.kind}:{actor.id}" if actor.id else actor.kind
