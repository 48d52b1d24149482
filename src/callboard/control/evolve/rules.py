"""Standing answers of a session."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import PermissionRuleAdded, PermissionRuleRevoked

from ..state import Session


def added(state: Session, fact: PermissionRuleAdded) -> Session:
    """A rule for the whole workspace holds from there, so that it is revoked in one place."""
    if fact.rule.scope != "session":
        return state
    return msgspec.structs.replace(state, rules=(*state.rules, fact.rule))


def revoked(state: Session, fact: PermissionRuleRevoked) -> Session:
    return msgspec.structs.replace(state, rules=tuple(rule for rule in state.rules if rule.rule_id != fact.rule_id))
