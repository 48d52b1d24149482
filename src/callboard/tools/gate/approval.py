"""The station of the gate that decides whether a call requires approval."""

from __future__ import annotations

from callboard.contracts.facts.permission import Reason, Verdict
from callboard.contracts.text.reasons import to_english

from ..builtin.bash import BashArguments
from ..reasons import StationResult, explain_allowance, explain_question, reason
from ..shell_grammar.spellings import is_destructive_text
from .call_context import CallContext


def decide(case: CallContext) -> StationResult:
    """Decide whether the call requires approval, and store the reasons."""
    verdict, all_reasons = _apply_mode_and_rules(case)
    if verdict == "ask":
        case.reasons = all_reasons
    if case.unapproved_secrets:
        # Only a rule for this exact call allows the use of a stored secret. No mode or broader rule does.
        verdict, case.reasons = "ask", (reason("spends", secrets=", ".join(case.unapproved_secrets)), *case.reasons)
    if case.hook_asks:
        verdict = "ask"
    if verdict == "ask":
        reasons = (*(case.call.hook_result.reasons if case.call.hook_result is not None else ()), *case.reasons)
        if explain(case):
            return StationResult(verdict, explain(case), reasons)
        mode = reason("mode_applies", mode=case.context.permission_mode)
        return StationResult(verdict, to_english((mode,)), (mode,))
    return StationResult(verdict, to_english(all_reasons), all_reasons)


def explain(case: CallContext) -> str:
    """Return why the call requires approval, in English: details of hooks, then the reasons."""
    hook_detail = case.call.hook_result.detail if case.call.hook_result is not None else ""
    return " ".join(part for part in (hook_detail, to_english(case.reasons)) if part)


def _apply_mode_and_rules(case: CallContext) -> tuple[Verdict, tuple[Reason, ...]]:
    """Return the verdict of modes, rules and protection, with its reasons."""
    mode = case.context.permission_mode
    if case.protected:
        return "ask", (reason("protected", path=case.protected),)
    if case.creates_team:
        return "ask", (reason("makes_team"),)
    if case.asks_person:
        return "ask", (reason("for_a_person"),)
    if case.is_shell and not case.is_sandboxed:
        return "ask", (reason("no_sandbox", why=case.environment.explain_no_sandbox(case.context.folder)),)
    if case.unprotected:
        return "ask", (reason("unkept", paths=", ".join(case.unprotected)),)
    if case.rule is not None:
        asks = case.rule.verdict == "ask"
        return case.rule.verdict, (explain_question(case.rule) if asks else explain_allowance(case.rule),)
    if case.is_server_tool:
        return ("allow", (reason("mode_applies", mode=mode),)) if mode == "full" else ("ask", (reason("server_tool"),))
    if not (case.is_shell or case.is_change or case.is_merge):
        return "allow", (reason("changes_nothing"),)
    if mode == "full" or (mode == "edits" and not case.is_shell):
        return "allow", (reason("mode_applies", mode=mode),)
    return "ask", ()


def list_stakes(case: CallContext) -> tuple[Reason, ...]:
    """Return the reasons why a command is a high risk even in the sandbox."""
    arguments = case.arguments
    loses = isinstance(arguments, BashArguments) and case.may_write and is_destructive_text(arguments.command)
    return (reason("destroys"),) if loses else ()
