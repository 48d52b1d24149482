"""Facts of permission rules."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.facts.permission import (
    PermissionEvaluated,
    PermissionFact,
    PermissionRuleAdded,
    PermissionRuleRevoked,
)

from ..state.session import ForwardedRule, Session
from .fact_context import FactContext


def apply(state: Session, fact: PermissionFact, context: FactContext) -> Session:
    match fact:
        case PermissionRuleAdded():
            if fact.rule.scope == "session":
                return replace(state, rules=(*state.rules, fact.rule))
            # A workspace rule applies here until the workspace has it, so it is revoked in one place.
            forwarded = ForwardedRule(rule=fact.rule, cause=f"{state.session}/{context.sequence}")
            return replace(state, forwarded_rules=(*state.forwarded_rules, forwarded))
        case PermissionRuleRevoked():
            return replace(state, rules=tuple(rule for rule in state.rules if rule.rule_id != fact.rule_id))
        case PermissionEvaluated():
            return state
        case _:
            assert_never(fact)
