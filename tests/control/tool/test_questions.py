"""What agents ask a person, and where the person's word goes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionRequired, ActionResolved, Decision
from callboard.contracts.facts.message import PlanUpdated
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused
from callboard.control.outcomes import ActionTimedOut, RequestedCall
from tests.control.rigs.decisions import Then
from tests.control.rigs.examples import ALLOW, SESSION, answered
from tests.control.rigs.team import Team, one, team, types

STEPS = ("look", "mend")


#: What the gate says of a call that only a person can settle.
QUESTION = msgspec.structs.replace(ALLOW, verdict="ask", prompt="Mend the parser.", scopes=("once",))


def asks(given: Team, name: str, tool: str, **arguments: Any) -> Then:
    """The agent's model asks a person."""
    run = given.run_of(name)
    call = RequestedCall(
        call="cal_asked",
        step=run.model_step + 1,
        tool=tool,
        arguments="",
        provider_call_id="call",
        evaluation=msgspec.structs.replace(QUESTION, arguments=msgspec.json.encode(arguments).decode()),
    )
    number = int(run.run.removeprefix("run_"))
    return given.when(answered(call, run=number, step=run.model_step, thread=given.of(name).thread))


def asked(name: str = "worker-1", **rest: Any) -> tuple[Team, ActionRequired, str]:
    """A team whose agent waits for a decision on its plan."""
    given = team(**rest)
    given.spawns()
    then = asks(given, name, "propose_plan", summary="Mend the parser.", steps=list(STEPS))
    action = next(call.action for call in given.run_of(name).calls)
    return given, one(then, ActionRequired), action


def said(
    given: Team, action: str, decision: Decision, *, answer: str | None = None, reason: str = ""
) -> dict[str, str]:
    """What the call comes to after the person's word."""
    then = given.when(
        RespondAction(session_id=SESSION, action_id=action, decision=decision, answer=answer, reason=reason)
    )
    return msgspec.json.decode(one(then, ToolCompleted).output.text)


def test_a_teammates_plan_is_asked_about_as_the_teammates() -> None:
    """CTX-03, UI-24: it names a plan of a teammate, what can be said to it, and offers no rule."""
    given, action, _ = asked()
    assert (action.action_type, action.decisions, action.scopes, action.matchers) == (
        "teammate_plan_decision",
        ("approve", "answer", "reject"),
        ("once",),
        {},
    )
    assert action.prompt == "Mend the parser."
    assert given.run_of("worker-1").plan is not None


def test_a_plan_of_the_lead_is_its_own_decision() -> None:
    _, action, _ = asked("lead")
    assert action.action_type == "plan_decision"


@pytest.mark.parametrize(
    ("decision", "more", "comes_to"),
    [
        ("approve", {}, {"decision": "accepted", "answer": "", "reason": ""}),
        ("reject", {"reason": "Too much."}, {"decision": "rejected", "answer": "", "reason": "Too much."}),
        ("answer", {"answer": "Look only."}, {"decision": "changes_wanted", "answer": "Look only.", "reason": ""}),
    ],
)
def test_the_decision_goes_back_to_the_teammate_that_asked(
    decision: Decision, more: dict[str, str], comes_to: dict[str, str]
) -> None:
    """CTX-03: accepted, rejected with its reason kept, or sent back with edits; nobody else is told."""
    given, _, action = asked()
    inbox = given.of("lead").inbox
    assert said(given, action, decision, **more) == comes_to
    assert given.run_of("worker-1").calls == ()
    assert given.run_of("worker-1").model_step > 0
    assert given.of("lead").inbox == inbox


def test_a_decision_is_kept_with_its_reason_and_its_edits() -> None:
    """CTX-03"""
    given, _, action = asked()
    then = given.when(
        RespondAction(session_id=SESSION, action_id=action, decision="answer", answer="Look only.", reason="Time.")
    )
    resolved = one(then, ActionResolved)
    assert (resolved.decision, resolved.answer.text, resolved.reason) == ("answer", "Look only.", "Time.")


def test_a_proposed_plan_is_the_runs_plan_and_final_once() -> None:
    """CTX-03: live while it is decided on, final when the run ends."""
    given, _, action = asked()
    said(given, action, "approve")
    ended = given.says("worker-1", "Mended.")
    plan = one(ended, PlanUpdated)
    assert plan == PlanUpdated(steps=tuple(PlanStep(step, "pending") for step in STEPS), final=True)


def test_a_question_with_options_is_structured_and_takes_an_answer() -> None:
    given = team()
    given.spawns()
    then = asks(given, "worker-1", "ask_person", question="Which?", options=["a", "b"])
    action = one(then, ActionRequired)
    assert (action.action_type, action.decisions) == ("structured_input", ("answer", "reject"))
    waiting = next(call.action for call in given.run_of("worker-1").calls)
    assert said(given, waiting, "answer", answer="b") == {"decision": "answered", "answer": "b", "reason": ""}


def test_a_question_takes_no_approval_and_no_empty_answer() -> None:
    """CTL-04: what is not offered changes nothing."""
    given = team()
    given.spawns()
    asks(given, "worker-1", "ask_person", question="Which?")
    action = next(call.action for call in given.run_of("worker-1").calls)
    with pytest.raises(Refusal) as approved:
        given.when(RespondAction(session_id=SESSION, action_id=action, decision="approve"))
    assert (approved.value.code, approved.value.problem.field) == ("decision_not_offered", "decision")
    with pytest.raises(Refusal) as empty:
        given.when(RespondAction(session_id=SESSION, action_id=action, decision="answer", answer="  "))
    assert (empty.value.code, empty.value.problem.field) == ("invalid_input", "answer")


def test_an_unanswered_plan_is_not_accepted() -> None:
    """CTL-04: a plan that nobody decides on in time is refused."""
    given, required, action = asked(expiry=60_000_000)
    given.now = required.expires_at
    then = given.when(ActionTimedOut(thread=given.of("worker-1").thread, action=action))
    assert one(then, ToolRefused).code == "approval_expired"
    assert "tool.completed" not in types(then)
