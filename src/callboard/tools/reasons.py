"""Reasons of a verdict, as codes with parameters and in English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from callboard.contracts.errors import Code, Refusal
from callboard.contracts.facts.permission import Check, CheckName, Reason, ReasonCode, Rule, RuleScope, Verdict
from callboard.contracts.ports.tools import HookResult
from callboard.contracts.text.reasons import to_english

_ASKS: Final[Mapping[RuleScope, ReasonCode]] = {
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
    """Verdict of a station. `detail` states the reasons in English."""

    verdict: Verdict
    detail: str = ""
    reasons: tuple[Reason, ...] = ()


class Denial(Refusal):
    """A denial by a station, with reasons for clients."""

    def __init__(self, code: Code, *reasons: Reason) -> None:
        super().__init__(code, to_english(reasons))
        self.reasons = reasons


class HookDenial(Denial):
    """A denial by a hook, with the hook's message."""

    def __init__(self, result: HookResult) -> None:
        Refusal.__init__(self, result.code or "hook_denied", result.detail)
        self.reasons = result.reasons


def allow(*reasons: Reason) -> StationResult:
    """Allow the call for these reasons."""
    return StationResult("allow", to_english(reasons), reasons)


def to_check(name: CheckName, result: StationResult) -> Check:
    """Convert a result to its fact, which stores the reasons of an allowed call only as codes."""
    detail = "" if result.verdict == "allow" and result.reasons else result.detail
    return Check(name=name, verdict=result.verdict, detail=detail, reasons=result.reasons)


def apply_rule(rule: Rule) -> StationResult:
    """Return the result of a rule that allows or asks."""
    applied = reason("rule_applied", verdict=rule.verdict, matcher=rule.matcher, scope=rule.scope)
    return StationResult(rule.verdict, to_english((applied,)), (applied,))


def explain_denial(rule: Rule, matcher: str) -> Reason:
    """Return the reason of a rule that denies. `matcher` is the displayed text."""
    return reason(_DENIES[rule.scope], matcher=matcher)


def explain_allowance(rule: Rule) -> Reason:
    """Return the reason of a rule that allows."""
    return reason(_ALLOWS[rule.scope], matcher=rule.matcher)


def reason(code: ReasonCode, **parameters: str) -> Reason:
    """Return a reason with the parameters of its text."""
    return Reason(code=code, parameters=parameters)


def explain_question(rule: Rule) -> Reason:
    """Return the reason of a rule that asks."""
    return reason(_ASKS[rule.scope], matcher=rule.matcher)
