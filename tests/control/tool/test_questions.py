"""Questions and plans of agents for a person, and the person's decision."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionRequired, ActionResolved, Decision
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused
from callboard.control.outcomes import ActionTimedOut, RequestedCall
from tests.control.rigs.decisions import StepResult
from tests.control.rigs.examples import ALLOW, SESSION, model_response
from tests.control.rigs.team import Team, fact_types, only_fact, team

STEPS = ("look", "fix")


#: The gate's evaluation of a call that only a person can answer.
QUESTION = msgspec.structs.replace(ALLOW, verdict="ask", prompt="Fix the parser.", scopes=("once",))


def ask_person(session: Team, name: str, tool: str, **arguments: Any) -> StepResult:
    """Apply a response of the agent's model with a question for a person."""
    run = session.run_of(name)
    call = RequestedCall(
        call="cal_asked",
        step=run.model_step + 1,
        tool=tool,
        arguments="",
        provider_call_id="call",
        evaluation=msgspec.structs.replace(QUESTION, arguments=msgspec.json.encode(arguments).decode()),
    )
    number = int(run.run.removeprefix("run_"))
    return session.when(model_response(call, run=number, step=run.model_step, thread=session.thread_of(name).thread))


def session_with_plan(name: str = "worker-1", **fields: Any) -> tuple[Team, ActionRequired, str]:
    """Return a session whose agent waits for a decision on its plan, its action and the action's id."""
    session = team(**fields)
    session.spawns()
    result = ask_person(session, name, "propose_plan", summary="Fix the parser.", steps=list(STEPS))
    action = next(call.action for call in session.run_of(name).calls)
    return session, only_fact(result, ActionRequired), action


def decide(
    session: Team, action: str, decision: Decision, *, answer: str | None = None, reason: str = ""
) -> dict[str, str]:
    """Apply a person's decision, and return the result of the call."""
    result = session.when(
        RespondAction(session_id=SESSION, action_id=action, decision=decision, answer=answer, reason=reason)
    )
    return msgspec.json.decode(only_fact(result, ToolCompleted).output.text)


def test_a_teammates_plan_is_a_teammate_plan_decision() -> None:
    """CTX-03, UI-24: the action has a type and decisions, and offers no rule."""
    session, action, _ = session_with_plan()
    assert (action.action_type, action.decisions, action.scopes, action.matchers) == (
        "teammate_plan_decision",
        ("approve", "answer", "reject"),
        ("once",),
        {},
    )
    assert action.prompt == "Fix the parser."
    assert session.run_of("worker-1").plan is not None


def test_a_plan_of_the_lead_is_a_plan_decision() -> None:
    _, action, _ = session_with_plan("lead")
    assert action.action_type == "plan_decision"


@pytest.mark.parametrize(
    ("decision", "fields", "expected"),
    [
        ("approve", {}, {"decision": "accepted", "answer": "", "reason": ""}),
        ("reject", {"reason": "Too much."}, {"decision": "rejected", "answer": "", "reason": "Too much."}),
        ("answer", {"answer": "Look only."}, {"decision": "changes_wanted", "answer": "Look only.", "reason": ""}),
    ],
)
def test_the_decision_goes_back_to_the_teammate_that_asked(
    decision: Decision, fields: dict[str, str], expected: dict[str, str]
) -> None:
    """CTX-03: accepted, rejected with a reason, or sent back with edits. No other agent is notified."""
    session, _, action = session_with_plan()
    inbox = session.thread_of("lead").inbox
    assert decide(session, action, decision, **fields) == expected
    assert session.run_of("worker-1").calls == ()
    assert session.run_of("worker-1").model_step > 0
    assert session.thread_of("lead").inbox == inbox


def test_a_decision_is_recorded_with_its_reason_and_its_edits() -> None:
    """CTX-03"""
    session, _, action = session_with_plan()
    result = session.when(
        RespondAction(session_id=SESSION, action_id=action, decision="answer", answer="Look only.", reason="Time.")
    )
    resolved = only_fact(result, ActionResolved)
    assert (resolved.decision, resolved.answer.text, resolved.reason) == ("answer", "Look only.", "Time.")


def test_a_proposed_plan_is_the_runs_plan_and_becomes_final_once() -> None:
    """CTX-03: live while it waits for a decision, final when the run ends."""
    session, _, action = session_with_plan()
    decide(session, action, "approve")
    ended = session.responds("worker-1", "Fixed.")
    plan = only_fact(ended, PlanUpdated)
    assert plan == PlanUpdated(steps=tuple(PlanStep(step, "pending") for step in STEPS), final=True)


def test_a_question_with_options_is_structured_input_and_accepts_an_answer() -> None:
    session = team()
    session.spawns()
    result = ask_person(session, "worker-1", "ask_person", question="Which?", options=["a", "b"])
    action = only_fact(result, ActionRequired)
    assert (action.action_type, action.decisions) == ("structured_input", ("answer", "reject"))
    waiting = next(call.action for call in session.run_of("worker-1").calls)
    assert decide(session, waiting, "answer", answer="b") == {"decision": "answered", "answer": "b", "reason": ""}


def test_a_question_refuses_an_approval_and_an_empty_answer() -> None:
    """CTL-04: a decision that is not offered changes nothing."""
    session = team()
    session.spawns()
    ask_person(session, "worker-1", "ask_person", question="Which?")
    action = next(call.action for call in session.run_of("worker-1").calls)
    with pytest.raises(Refusal) as approved:
        session.when(RespondAction(session_id=SESSION, action_id=action, decision="approve"))
    assert (approved.value.code, approved.value.problem.field) == ("decision_not_offered", "decision")
    with pytest.raises(Refusal) as empty:
        session.when(RespondAction(session_id=SESSION, action_id=action, decision="answer", answer="  "))
    assert (empty.value.code, empty.value.problem.field) == ("invalid_input", "answer")


def test_an_unanswered_plan_is_refused_when_it_expires() -> None:
    """CTL-04: a missing decision is a denial."""
    session, required, action = session_with_plan(expiry=60_000_000)
    session.now = required.expires_at
    result = session.when(ActionTimedOut(thread=session.thread_of("worker-1").thread, action=action))
    assert only_fact(result, ToolRefused).code == "approval_expired"
    assert "tool.completed" not in fact_types(result)
