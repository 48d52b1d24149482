"""Permission rules as actions (Agent UI specification, Human-in-the-loop taxonomy).

A rule that allows calls is an action with the rule's id. It ends when the rule is revoked or expires.
"""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.permission import PermissionRuleAdded, PermissionRuleRevoked, Rule
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope

from ..agentui_emission import Emission, emit_permission
from ..entities.permission import GRANT, to_event_scope
from .events import AgentUiEvent, wrap_emissions


class Grants:
    """The grants in force, each with the event that created it."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Rule, str]] = {}

    def apply(self, record: Record, emitted: list[Emission]) -> tuple[tuple[AgentUiEvent, ...], list[Emission]]:
        """Return the ends of grants that expired before this fact, and the fact's emissions.

        A revocation ends the grant's action.
        """
        expired = self._expire(record)
        match record.fact:
            case PermissionRuleAdded(rule=rule) if rule.verdict == "allow":
                self._open[rule.rule_id] = (rule, record.event_id)
            case PermissionRuleRevoked(rule_id=rule_id) if rule_id in self._open:
                rule, _ = self._open.pop(rule_id)
                return expired, [_end(emission, rule, "revoked") for emission in emitted]
            case _:
                pass
        return expired, emitted

    def _expire(self, record: Record) -> tuple[AgentUiEvent, ...]:
        # No fact records that a rule expired. The first later fact reports it, with a reference to the rule's fact.
        expired = [rule for rule, _ in self._open.values() if 0 < rule.expires_at <= record.header.at]
        events: list[AgentUiEvent] = []
        for rule in expired:
            _, cause = self._open.pop(rule.rule_id)
            bare = msgspec.structs.replace(
                record,
                fact=PermissionRuleRevoked(rule_id=rule.rule_id),
                header=msgspec.structs.replace(record.header, scope=Scope()),
            )
            ends = [_end(emission, rule, "expired") for emission in emit_permission("session")]
            events += [
                msgspec.structs.replace(event, raw_event_ref=cause) for event in wrap_emissions(bare, ends, None)
            ]
        return tuple(events)


def _end(emission: Emission, rule: Rule, outcome: str) -> Emission:
    grant: dict[str, Any] = {"actionType": GRANT, "outcome": outcome, "rule": msgspec.to_builtins(rule)}
    adds = {**emission.adds, **grant}
    return msgspec.structs.replace(
        emission, scope=to_event_scope(rule), phase="completed", adds=adds, action=rule.rule_id
    )
