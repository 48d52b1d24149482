"""Hook results for calls of an external agent's own tools."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.permission import Check
from callboard.contracts.ports.tools import Evaluation, HookResult
from callboard.contracts.text.reasons import to_english
from callboard.contracts.text.sentences import to_sentence

from ..reasons import StationResult, reason, to_check


def deny_rewrite(hook_result: HookResult) -> HookResult:
    """Deny a call whose arguments a hook rewrote: the external agent would run it with the original ones."""
    if hook_result.arguments is None or hook_result.verdict == "deny":
        return msgspec.structs.replace(hook_result, arguments=None, rewritten_by="")
    reasons = (reason("hook_rewrites_own", hook=hook_result.rewritten_by),)
    return HookResult(verdict="deny", detail=to_english(reasons), code="hook_failed", reasons=reasons)


def apply_hooks(evaluation: Evaluation, hook_result: HookResult | None) -> Evaluation:
    """Restrict the evaluation by the hooks' decision."""
    if hook_result is None:
        return evaluation
    result = msgspec.structs.replace(evaluation, hook_result=hook_result)
    if hook_result.verdict == "deny":
        return msgspec.structs.replace(
            result,
            verdict="deny",
            risk="none",
            checks=(_to_check(hook_result),),
            code=hook_result.code or "hook_denied",
            message=hook_result.detail,
            prompt="",
            scopes=(),
            matchers={},
        )
    checks = (_to_check(hook_result), *evaluation.checks)
    if hook_result.verdict != "ask" or evaluation.verdict == "deny":
        return msgspec.structs.replace(result, checks=checks)
    question = evaluation.prompt or f"{evaluation.summary}?"
    return msgspec.structs.replace(
        result,
        verdict="ask",
        checks=checks,
        prompt=f"{question} {to_sentence(hook_result.detail)}",
        scopes=("once",),
        matchers={},
    )


def _to_check(hook_result: HookResult) -> Check:
    return to_check("hooks", StationResult(hook_result.verdict, hook_result.detail, hook_result.reasons))
