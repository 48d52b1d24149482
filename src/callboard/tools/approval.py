"""The gate's station that decides whether a person is asked, and why."""

from __future__ import annotations

from callboard.contracts.facts.action import Reason
from callboard.contracts.facts.permission import Verdict
from callboard.contracts.wording import clause

from . import rules
from .bash import BashArguments
from .case import Case
from .command.spellings import destroys
from .reasons import english, of_rule, reason


def station(case: Case) -> tuple[Verdict, str]:
    """Return the verdict with what its check says, and keep the reasons of a question."""
    verdict, found = _wanted(case)
    if not isinstance(found, str):
        case.reasons = found
    if case.spends:
        # No mode and no broad rule is a word on what a person keeps to themselves.
        verdict, case.reasons = "ask", (reason("spends", secrets=", ".join(case.spends)), *case.reasons)
    if case.hook_asks:
        verdict = "ask"
    if verdict == "ask":
        return verdict, why(case) or f"the permission mode is {case.context.permission_mode}"
    return verdict, found if isinstance(found, str) else ""


def why(case: Case) -> str:
    """Return why a person is asked, in English: what hooks said, then the reasons."""
    said = english(case.reasons)
    hooked = case.call.hooked.detail if case.call.hooked is not None else ""
    return f"{clause(hooked)}; {said}" if hooked and said else hooked or said


def _wanted(case: Case) -> tuple[Verdict, str | tuple[Reason, ...]]:
    """The verdict with the reasons for a question, or with why there is none."""
    mode = case.context.permission_mode
    if case.protected:
        return "ask", (reason("protected", path=case.protected),)
    if case.makes:
        return "ask", (reason("makes_team"),)
    if case.asks:
        return "ask", (reason("for_a_person"),)
    if case.is_shell and not case.held:
        return "ask", (reason("no_sandbox", why=case.ground.why_not(case.context.folder)),)
    if case.unkept:
        return "ask", (reason("unkept", paths=", ".join(case.unkept)),)
    if case.rule is not None:
        asks = case.rule.verdict == "ask"
        return case.rule.verdict, (of_rule(case.rule),) if asks else f"a rule of {rules.whose(case.rule)} says so"
    if case.is_brought:
        return ("allow", "the permission mode is full") if mode == "full" else ("ask", (reason("server_tool"),))
    if not (case.is_shell or case.is_change or case.is_merge):
        return "allow", "it changes nothing"
    if mode == "full" or (mode == "edits" and not case.is_shell):
        return "allow", f"the permission mode is {mode}"
    return "ask", ()


def stakes(case: Case) -> tuple[Reason, ...]:
    """Return what makes the risk of a command high in the sandbox too."""
    asked = case.asked
    loses = isinstance(asked, BashArguments) and case.may_write and destroys(asked.command)
    return (reason("destroys"),) if loses else ()
