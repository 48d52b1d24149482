"""A standing permission as an action of its own (Agent UI specification, Human-in-the-loop taxonomy): it is resolved by the
fact that the runtime wrote of it, and ends when it is taken back or its time is over. Its id is the rule's."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts import PermissionRuleAdded, PermissionRuleRevoked, Rule
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope

from .emission import GRANT, Emission, permission, reach
from .events import AgentUiEvent, events_of


class Grants:
    """Remembers what is granted until that is over."""

    def __init__(self) -> None:
        self._given: dict[str, tuple[Rule, str]] = {}

    def apply(self, record: Record, told: list[Emission]) -> tuple[tuple[AgentUiEvent, ...], list[Emission]]:
        """The ends of those whose time is over at this fact, and what the fact is told as. The end of one is a change of what
        is permitted, which the action stands for."""
        ended = self._expired(record)
        match record.fact:
            case PermissionRuleAdded(rule=rule) if rule.verdict == "allow":
                self._given[rule.rule_id] = (rule, record.event_id)
            case PermissionRuleRevoked(rule_id=rule_id) if rule_id in self._given:
                rule, _ = self._given.pop(rule_id)
                return ended, [_ends(one, rule, "revoked") for one in told]
            case _:
                pass
        return ended, told

    def _expired(self, record: Record) -> tuple[AgentUiEvent, ...]:
        """Nobody says that a time is over: it is told before the first fact that comes after it, as of the fact that set it."""
        over = [one for one, _ in self._given.values() if 0 < one.expires_at <= record.header.at]
        events: list[AgentUiEvent] = []
        for rule in over:
            _, cause = self._given.pop(rule.rule_id)
            bare = msgspec.structs.replace(
                record,
                fact=PermissionRuleRevoked(rule_id=rule.rule_id),
                header=msgspec.structs.replace(record.header, scope=Scope()),
            )
            told = events_of(bare, [_ends(one, rule, "expired") for one in permission("session")], None)
            events += [msgspec.structs.replace(one, raw_event_ref=cause) for one in told]
        return tuple(events)


def _ends(told: Emission, rule: Rule, outcome: str) -> Emission:
    said: dict[str, Any] = {"actionType": GRANT, "outcome": outcome, "rule": msgspec.to_builtins(rule)}
    adds = {**told.adds, **said}
    return msgspec.structs.replace(told, scope=reach(rule), phase="completed", adds=adds, action=rule.rule_id)
