"""Standing answers of a session."""

from __future__ import annotations

from typing import assert_never

import msgspec

from callboard.contracts.facts.permission import (
    PermissionEvaluated,
    PermissionFact,
    PermissionRuleAdded,
    PermissionRuleRevoked,
)

from ..state.session import ForwardedRule, Session
from .fact_context import FactContext


def apply(state: Session, fact: PermissionFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case PermissionRuleAdded():
            return added(state, fact)
        case PermissionRuleRevoked():
            return revoked(state, fact)
        case PermissionEvaluated():
            return state
        case _:
            assert_never(fact)


def added(state: Session, fact: PermissionRuleAdded) -> Session:
    """A rule for the whole workspace holds from there, so that it is revoked in one place; until it is there, it holds here."""
    if fact.rule.scope != "session":
        given = ForwardedRule(rule=fact.rule, cause=f"{state.session}/{state.sequence + 1}")
        return msgspec.structs.replace(state, forwarded_rules=(*state.forwarded_rules, given))
    return msgspec.structs.replace(state, rules=(*state.rules, fact.rule))


def revoked(state: Session, fact: PermissionRuleRevoked) -> Session:
    return msgspec.structs.replace(state, rules=tuple(rule for rule in state.rules if rule.rule_id != fact.rule_id))
