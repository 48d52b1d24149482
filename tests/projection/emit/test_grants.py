"""Permission rules as actions of the Agent UI specification: granted, revoked, expired."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.contracts.facts.permission import PermissionRuleAdded, PermissionRuleRevoked, Rule, Verdict
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope
from callboard.projection.emit.agentui.events import AgentUiEvent, build_agent_ui_events
from callboard.projection.emit.agentui.session_events import AgentUiEvents
from tests.projection.session_builder import idle_session, model_session, step


def rule(verdict: Verdict = "allow", **rest: Any) -> Rule:
    return Rule(**{"rule_id": "rul_1", "matcher": "Bash(git *)", "scope": "session", **rest}, verdict=verdict)


def grant_events(events: list[AgentUiEvent]) -> list[AgentUiEvent]:
    return [event for event in events if event.payload.get("actionType") == "permission_grant"]


def events(records: tuple[Record, ...] | list[Record]) -> list[AgentUiEvent]:
    emit = AgentUiEvents()
    return [event for record in records for event in emit.apply(record)]


def test_a_rule_from_an_answer_is_a_resolved_action():
    """UI-09, UI-31: with matcher, scope and expiry. Its id is the rule's, not the approval's."""
    session = model_session()
    record = session.log.add(
        PermissionRuleAdded(rule=rule(expires_at=5_000)), step(2, tool_call="call_1", action="act_1")
    )
    changed, resolved = build_agent_ui_events(record)

    assert (changed.type, changed.owner) == ("permission.changed", "policy")
    assert (resolved.type, resolved.owner, resolved.scope, resolved.surface) == (
        "action.resolved",
        "policy",
        "action_request",
        "hitl",
    )
    assert (resolved.action_id, resolved.raw_event_ref) == ("rul_1", record.event_id)
    assert resolved.payload == {
        "actionType": "permission_grant",
        "outcome": "granted",
        "rule": {
            "ruleId": "rul_1",
            "matcher": "Bash(git *)",
            "verdict": "allow",
            "scope": "session",
            "expiresAt": 5_000,
        },
    }


@pytest.mark.parametrize("verdict", ["ask", "deny"])
def test_a_rule_that_does_not_allow_is_not_a_grant(verdict: Verdict):
    """UI-31"""
    session = idle_session()
    session.log.add(PermissionRuleAdded(rule=rule(verdict)), Scope())
    session.log.add(PermissionRuleRevoked(rule_id="rul_1"), Scope())
    assert grant_events(events(session.records())) == []


def test_a_revoked_grant_ends_with_its_rule():
    """UI-31"""
    session = idle_session()
    session.log.add(PermissionRuleAdded(rule=rule(scope="workspace")), Scope())
    session.log.add(PermissionRuleRevoked(rule_id="rul_1", reason="enough"), Scope())
    grants = grant_events(events(session.records()))

    assert [(grant.type, grant.phase, grant.action_id, grant.payload["outcome"]) for grant in grants] == [
        ("action.resolved", "accepted", "rul_1", "granted"),
        ("permission.changed", "completed", "rul_1", "revoked"),
    ]
    assert (grants[1].scope, grants[1].payload["reason"]) == ("workspace", "enough")
    assert grants[1].payload["rule"]["matcher"] == "Bash(git *)"


def test_an_expired_grant_ends_before_the_next_fact():
    """UI-31: no fact records an expiry. The next fact after it emits the end, once, and not for a
    revoked rule.
    """
    session = idle_session()
    at = session.records()[-1].header.at
    rule_record = session.log.add(PermissionRuleAdded(rule=rule(expires_at=at + 2_500)), Scope())
    session.log.add(PermissionRuleAdded(rule=rule(rule_id="rul_2", expires_at=at + 3_500)), Scope())
    session.log.add(PermissionRuleRevoked(rule_id="rul_2"), Scope())
    session.log.add(PermissionRuleRevoked(rule_id="rul_x"), Scope())
    grants = grant_events(events(session.records()))

    assert [(grant.action_id, grant.payload["outcome"]) for grant in grants] == [
        ("rul_1", "granted"),
        ("rul_2", "granted"),
        ("rul_1", "expired"),
        ("rul_2", "revoked"),
    ]
    assert (grants[2].raw_event_ref, grants[2].thread_id, grants[2].sequence) == (
        rule_record.event_id,
        "",
        rule_record.sequence + 2,
    )
