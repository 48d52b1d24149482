"""Why a call is allowed, asked about or denied: codes with parameters, and the same in English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from callboard.contracts.errors import Code, Refusal
from callboard.contracts.facts.permission import Check, CheckName, Reason, ReasonCode, Rule, RuleScope, Verdict
from callboard.contracts.ports.tools import HookResult
from callboard.contracts.text.reasons import to_english

_RULES: Final[Mapping[RuleScope, ReasonCode]] = {
    "session": "rule_session",
    "workspace": "rule_workspace",
    "folder_settings": "rule_folder_settings",
    "user_settings": "rule_user_settings",
}
_DENIES: Final[Mapping[RuleScope, ReasonCode]] = {
    "session": "rule_denies_session",
    "workspace": "rule_denies_workspace",
    "folder_settings": "rule_denies_folder_settings",
    "user_settings": "rule_denies_user_settings",
}
_ALLOWS: Final[Mapping[RuleScope, ReasonCode]] = {
    "session": "rule_allows_session",
    "workspace": "rule_allows_workspace",
    "folder_settings": "rule_allows_folder_settings",
    "user_settings": "rule_allows_user_settings",
}


class StationResult(NamedTuple):
    """What a station says: `detail` in English, and the same as reasons where it has codes."""

    verdict: Verdict
    detail: str = ""
    reasons: tuple[Reason, ...] = ()


class Denial(Refusal):
    """A station denies a call, for reasons that a client can word."""

    def __init__(self, code: Code, *reasons: Reason) -> None:
        super().__init__(code, to_english(reasons))
        self.reasons = reasons


class HookDenial(Denial):
    """A hook denies a call. Its message is the hook's, which may name its own reason."""

    def __init__(self, said: HookResult) -> None:
        Refusal.__init__(self, said.code or "hook_denied", said.detail)
        self.reasons = said.reasons


def allow(*reasons: Reason) -> StationResult:
    """Return that a station lets a call pass, and why."""
    return StationResult("allow", to_english(reasons), reasons)


def to_check(name: CheckName, said: StationResult) -> Check:
    """Return what a station said, as its fact stores it. Why it allows a call is stored as reasons alone."""
    detail = "" if said.verdict == "allow" and said.reasons else said.detail
    return Check(name=name, verdict=said.verdict, detail=detail, reasons=said.reasons)


def apply_rule(rule: Rule) -> StationResult:
    """Return what a rule that allows or asks decides."""
    found = reason("rule_applied", verdict=rule.verdict, matcher=rule.matcher, scope=rule.scope)
    return StationResult(rule.verdict, to_english((found,)), (found,))


def explain_denial(rule: Rule, shown: str) -> Reason:
    """Return that a rule denies, with its matcher as it can be shown."""
    return reason(_DENIES[rule.scope], matcher=shown)


def explain_allowance(rule: Rule) -> Reason:
    """Return that a rule allows."""
    return reason(_ALLOWS[rule.scope], matcher=rule.matcher)


def reason(code: ReasonCode, **parameters: str) -> Reason:
    """Return a reason with the values that its text names."""
    return Reason(code=code, parameters=parameters)


def explain_question(rule: Rule) -> Reason:
    """Return that a rule asks."""
    return reason(_RULES[rule.scope], matcher=rule.matcher)
