"""The station of the gate that decides whether a call requires approval."""

from __future__ import annotations

from callboard.contracts.facts.permission import Reason, Verdict
from callboard.contracts.text.reasons import to_english

from ..builtin.bash import BashArguments
from ..reasons import StationResult, explain_allowance, explain_question, reason
from ..shell_grammar.spellings import is_destructive_text
from .call_context import CallContext


def decide(call_context: CallContext) -> StationResult:
    """Decide whether the call requires approval, and store the reasons."""
    verdict, all_reasons = _apply_mode_and_rules(call_context)
    if verdict == "ask":
        call_context.reasons = all_reasons
    if call_context.unapproved_secrets:
        # Only a rule for this exact call allows the use of a stored secret. No mode or broader rule does.
        verdict, call_context.reasons = (
            "ask",
            (reason("spends", secrets=", ".join(call_context.unapproved_secrets)), *call_context.reasons),
        )
    if call_context.hook_asks:
        verdict = "ask"
    if verdict == "ask":
        reasons = (
            *(call_context.call.hook_result.reasons if call_context.call.hook_result is not None else ()),
            *call_context.reasons,
        )
        if explain(call_context):
            return StationResult(verdict, explain(call_context), reasons)
        mode = reason("mode_applies", mode=call_context.context.permission_mode)
        return StationResult(verdict, to_english((mode,)), (mode,))
    return StationResult(verdict, to_english(all_reasons), all_reasons)


def explain(call_context: CallContext) -> str:
    """Return why the call requires approval, in English: details of hooks, then the reasons."""
    hook_detail = call_context.call.hook_result.detail if call_context.call.hook_result is not None else ""
    return " ".join(part for part in (hook_detail, to_english(call_context.reasons)) if part)


def _apply_mode_and_rules(call_context: CallContext) -> tuple[Verdict, tuple[Reason, ...]]:
    """Return the verdict of modes, rules and protection, with its reasons."""
    mode = call_context.context.permission_mode
    if call_context.protected:
        return "ask", (reason("protected", path=call_context.protected),)
    if call_context.creates_team:
        return "ask", (reason("makes_team"),)
    if call_context.asks_person:
        return "ask", (reason("for_a_person"),)
    if call_context.is_shell and not call_context.is_sandboxed:
        return "ask", (
            reason("no_sandbox", why=call_context.environment.explain_no_sandbox(call_context.context.folder)),
        )
    if call_context.unprotected:
        return "ask", (reason("unkept", paths=", ".join(call_context.unprotected)),)
    if call_context.rule is not None:
        asks = call_context.rule.verdict == "ask"
        return call_context.rule.verdict, (
            explain_question(call_context.rule) if asks else explain_allowance(call_context.rule),
        )
    if call_context.is_server_tool:
        return ("allow", (reason("mode_applies", mode=mode),)) if mode == "full" else ("ask", (reason("server_tool"),))
    if not (call_context.is_shell or call_context.is_change or call_context.is_merge):
        return "allow", (reason("changes_nothing"),)
    if mode == "full" or (mode == "edits" and not call_context.is_shell):
        return "allow", (reason("mode_applies", mode=mode),)
    return "ask", ()


def list_stakes(call_context: CallContext) -> tuple[Reason, ...]:
    """Return the reasons why a command is a high risk even in the sandbox."""
    arguments = call_context.arguments
    loses = isinstance(arguments, BashArguments) and call_context.may_write and is_destructive_text(arguments.command)
    return (reason("destroys"),) if loses else ()
