"""Requests that wait for an answer. What came of one stays in the conversation (`parts.action`)."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import (
    ActionExpired,
    ActionRequired,
    ActionResolved,
    ActionWithdrawn,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
)
from callboard.contracts.record import Record
from callboard.contracts.rows import ActionRow, Op

from .ops import remove, upsert


class ActionsPanel(msgspec.Struct):
    """`pending` are the turns of the actions that have no answer."""

    pending: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to. An action whose turn ended without a word about it is pending no longer."""
        scope = record.scope
        match record.fact:
            case ActionRequired() as fact:
                self.pending[scope.action] = scope.turn
                return upsert(_row(record, fact))
            case ActionResolved() | ActionExpired() | ActionWithdrawn():
                return [] if self.pending.pop(scope.action, None) is None else remove(ActionRow, scope.action)
            case TurnCompleted() | TurnFailed() | TurnInterrupted() if self.pending:
                left = [action for action, turn in self.pending.items() if turn == scope.turn]
                for action in left:
                    del self.pending[action]
                return [op for action in left for op in remove(ActionRow, action)]
            case _:
                return []


def _row(record: Record, fact: ActionRequired) -> ActionRow:
    scope = record.scope
    return ActionRow(
        key=scope.action,
        order=record.sequence,
        sequence=record.sequence,
        action_id=scope.action,
        action_type=fact.action_type,
        turn_id=scope.turn,
        thread_id=scope.thread,
        agent_id=scope.agent,
        tool_call_id=scope.tool_call,
        tool=fact.tool,
        prompt=fact.prompt,
        arguments=fact.arguments,
        preview=fact.preview,
        risk=fact.risk,
        decisions=fact.decisions,
        scopes=fact.scopes,
        matchers=fact.matchers,
        policy=fact.policy,
        required_at=record.header.at,
        expires_at=fact.expires_at,
    )
