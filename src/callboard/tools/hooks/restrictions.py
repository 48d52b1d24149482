"""What hooks say of a call that the gate's stations do not pass: one with the own tools of an agent that is not of our loop."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.permission import Check
from callboard.contracts.ports.tools import Evaluation, HookResult
from callboard.contracts.text.sentences import punctuated, sentence

from ..reasons import StationResult, reason, to_check, to_english


def deny_rewrite(hooked: HookResult) -> HookResult:
    """What they say where nobody here runs the call: it cannot be made with other arguments, so it is not made."""
    if hooked.arguments is None or hooked.verdict == "deny":
        return msgspec.structs.replace(hooked, arguments=None, rewritten_by="")
    why = (reason("hook_rewrites_own", hook=hooked.rewritten_by),)
    return HookResult(verdict="deny", detail=punctuated(to_english(why)), code="hook_failed", reasons=why)


def apply_hooks(evaluation: Evaluation, hooked: HookResult | None) -> Evaluation:
    """The verdict on the call with what hooks said of it."""
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
