"""Hook results for calls of an external agent's own tools."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.permission import Check
from callboard.contracts.ports.tools import Evaluation, HookResult
from callboard.contracts.text.reasons import to_english
from callboard.contracts.text.sentences import sentence

from ..reasons import StationResult, reason, to_check


def deny_rewrite(hooked: HookResult) -> HookResult:
    """Deny a call whose arguments a hook rewrote, because the agent runs it with its own arguments."""
    if hooked.arguments is None or hooked.verdict == "deny":
        return msgspec.structs.replace(hooked, arguments=None, rewritten_by="")
    why = (reason("hook_rewrites_own", hook=hooked.rewritten_by),)
    return HookResult(verdict="deny", detail=to_english(why), code="hook_failed", reasons=why)


def apply_hooks(evaluation: Evaluation, hooked: HookResult | None) -> Evaluation:
    """Return the evaluation restricted by the hooks."""
    if hooked is None:
        return evaluation
    said = msgspec.structs.replace(evaluation, hook_result=hooked)
    if hooked.verdict == "deny":
        return msgspec.structs.replace(
            said,
            verdict="deny",
            risk="none",
            checks=(_said(hooked),),
            code=hooked.code or "hook_denied",
            message=hooked.detail,
            prompt="",
            scopes=(),
            matchers={},
        )
    checked = (_said(hooked), *evaluation.checks)
    if hooked.verdict != "ask" or evaluation.verdict == "deny":
        return msgspec.structs.replace(said, checks=checked)
    asks = evaluation.prompt or f"{evaluation.summary}?"
    return msgspec.structs.replace(
        said, verdict="ask", checks=checked, prompt=f"{asks} {sentence(hooked.detail)}", scopes=("once",), matchers={}
    )


def _said(hooked: HookResult) -> Check:
    return to_check("hooks", StationResult(hooked.verdict, hooked.detail, hooked.reasons))
