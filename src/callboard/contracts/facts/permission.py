"""Facts of the gate: what was checked for a tool call, and the rules that answers left behind."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..scope import ScopeKey
from .base import Fact

Verdict = Literal["allow", "ask", "deny"]
Risk = Literal["none", "low", "medium", "high"]
#: The stations of the gate, in the order in which a call passes them.
CheckName = Literal["hooks", "tools", "policy", "mode", "paths", "rules", "approval", "sandbox"]
RuleScope = Literal["session", "workspace"]


class Check(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What one station of the gate said."""

    name: CheckName
    verdict: Verdict
    detail: str = ""


class Rule(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A standing answer. `matcher` reads `Tool` or `Tool(pattern)`: a glob over the path for file tools, a command prefix
    ending in `*` or an exact command for the shell."""

    rule_id: str
    matcher: str
    verdict: Verdict
    scope: RuleScope


class PermissionEvaluated(Fact, frozen=True, kw_only=True):
    """The gate's verdict on one call with its final arguments (`arguments_hash`: SHA-256 of the canonical JSON, hex)."""

    type: ClassVar[str] = "permission.evaluated"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step", "tool_call")
    tool: str
    verdict: Verdict
    risk: Risk
    arguments_hash: str
    checks: tuple[Check, ...]


class PermissionRuleAdded(Fact, frozen=True, kw_only=True):
    """An answer with a wider scope than once became a rule."""

    type: ClassVar[str] = "permission.rule.added"
    rule: Rule


class PermissionRuleRevoked(Fact, frozen=True, kw_only=True):
    """A rule holds no longer."""

    type: ClassVar[str] = "permission.rule.revoked"
    rule_id: str
    reason: str = ""


PermissionFact = PermissionEvaluated | PermissionRuleAdded | PermissionRuleRevoked
