"""Actions: one answer for each pending action, bound to its request, and denial on expiry."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.commands.action import ActionAnswered, RespondAction
from callboard.contracts.content import Text
from callboard.contracts.errors import Problem
from callboard.contracts.facts.action import ActionExpired, ActionResolved
from callboard.contracts.facts.permission import PermissionRuleAdded, Rule, select_unexpired
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused
from callboard.contracts.facts.turn import TurnCompleted
from callboard.contracts.scope import Actor
from callboard.control.outcomes import ActionTimedOut
from tests.control.rigs.decisions import Scenario, session_after
from tests.control.rigs.examples import (
    ALLOW,
    ASK,
    BINDING,
    DENY,
    SESSION,
    THREAD,
    approve,
    at,
    gate_evaluation,
    interrupt,
    model_response,
    reject,
    requested_call,
    run_stop,
    submit,
    text_response,
    tool_end,
)
from tests.control.rigs.expected_facts import model_request, tool_start

CALL = at(turn=1, run=1, step=2, call=1)
ACTION = at(turn=1, run=1, step=3, call=1, action=1)
NEXT_MODEL_REQUEST = model_request(2, at(turn=1, run=1, step=4))
MINUTE = 60_000_000
CHANGED = ToolRefused(
    code="file_changed",
    message="The file, the arguments or the definition changed after the approval was requested. The call did not run.",
)


def session_awaiting_approval(expiry: int = 0) -> Scenario:
    """Return a session whose chat turn waits for an approval."""
    return session_after(submit(), model_response(requested_call(1, 2, ASK)), expiry=expiry)


def action_timeout(action: int = 1) -> ActionTimedOut:
    return ActionTimedOut(thread=THREAD, action=f"act_{action}")


def test_an_approval_starts_the_call():
    result = session_awaiting_approval().when(approve(reason="fine"))
    result.then((ActionResolved(decision="approve", reason="fine"), ACTION), *tool_start(CALL))
    result.with_answer(
        ActionAnswered(
            session_id=SESSION, action_id="act_1", outcome="approved", first=True, sequence=result.before + 3
        )
    )
    assert result.decision.closed == ("act_1",)


def test_a_rejected_call_has_no_effect_and_no_result_and_the_model_reads_the_refusal():
    """CTL-05"""
    result = session_awaiting_approval().when(reject(reason="not now"))
    result.then(
        (ActionResolved(decision="reject", reason="not now"), ACTION),
        (ToolRefused(code="person_denied", message="The person rejected the call: not now"), CALL),
        NEXT_MODEL_REQUEST,
    )
    result.with_answer(
        ActionAnswered(
            session_id=SESSION, action_id="act_1", outcome="rejected", first=True, sequence=result.before + 3
        )
    )
    assert result.decision.closed == ("act_1", "cal_1")


def test_a_rejection_without_a_reason_has_a_message_without_one():
    """CTL-05"""
    result = session_awaiting_approval().when(reject())
    assert result.facts[1] == ToolRefused(code="person_denied", message="The person rejected the call.")


def test_a_rejection_by_a_policy_names_the_policy():
    """CTL-05"""
    policy = Actor(kind="policy", id="opa/main")
    result = session_awaiting_approval().when(reject(reason="not on a Friday"), actor=policy)
    assert result.facts[1] == ToolRefused(
        code="policy_denied", message="The policy opa/main rejected the call: not on a Friday"
    )
    result = session_awaiting_approval().when(reject(), actor=policy)
    assert result.facts[1] == ToolRefused(code="policy_denied", message="The policy opa/main rejected the call.")


def test_an_unattended_rejection_is_reported_as_no_person_available():
    """CTL-05"""
    result = session_awaiting_approval().when(reject(reason="No person was present to approve it.", unattended=True))
    result.then(
        (ActionResolved(decision="reject", reason="No person was present to approve it."), ACTION),
        (
            ToolRefused(
                code="nobody_there",
                message="No person was present to answer, so the call did not run. "
                "Continue without it, or request it again when a person is present.",
            ),
            CALL,
        ),
        NEXT_MODEL_REQUEST,
    )
    problem = session_awaiting_approval().refuses(approve(unattended=True))
    assert (problem.code, problem.field) == ("invalid_input", "unattended")


def test_an_action_is_answered_once():
    """CTL-15"""
    session = session_awaiting_approval().after(approve())
    problem = Problem(
        code="unknown_action",
        message="No action act_1 is pending in this session.",
        field="actionId",
        hint="get_thread_read lists the pending actions.",
    )
    assert session.refuses(approve()) == problem
    assert session.refuses(reject()) == problem
    session.now += MINUTE
    session.when(action_timeout()).then_nothing()


def test_an_expired_action_is_a_denial():
    """CTL-04"""
    session = session_awaiting_approval(expiry=MINUTE)
    session.now += MINUTE
    result = session.when(action_timeout())
    result.then(
        (ActionExpired(), ACTION),
        (ToolRefused(code="approval_expired", message="No person answered the approval in time."), CALL),
        NEXT_MODEL_REQUEST,
    )
    assert result.decision.closed == ("act_1", "cal_1")
    assert session.refuses(approve()).code == "unknown_action"


def test_an_action_does_not_expire_before_its_time():
    """CTL-04"""
    session = session_awaiting_approval(expiry=MINUTE)
    session.now += MINUTE - 1
    session.when(action_timeout()).then_nothing()


def test_an_action_without_expiry_waits_for_ever():
    """CTL-04"""
    session = session_awaiting_approval()
    session.now += 10**9 * MINUTE
    session.when(action_timeout()).then_nothing()
    assert session.run.calls[0].phase == "waiting"


def test_an_unknown_action_changes_nothing():
    """CTL-15"""
    session = session_awaiting_approval(expiry=MINUTE)
    session.now += MINUTE
    session.when(action_timeout(9)).then_nothing()
    assert session.refuses(approve(9)).code == "unknown_action"


@pytest.mark.parametrize(
    "changed",
    [{"file_hash": "f2"}, {"arguments_hash": "a2"}, {"definition_hash": "d2"}, {"folder": "/elsewhere"}],
    ids=["file", "arguments", "definition", "folder"],
)
def test_an_approval_applies_only_to_the_bound_file_arguments_definition_and_folder(changed):
    """SAFE-07"""
    now = msgspec.structs.replace(ASK, binding=msgspec.structs.replace(BINDING, **changed))
    session_awaiting_approval().when(approve(), evaluation=now).then(
        (ActionResolved(decision="approve"), ACTION), (CHANGED, CALL), NEXT_MODEL_REQUEST
    )


def test_an_approval_of_a_call_that_cannot_be_evaluated_again_starts_nothing():
    """SAFE-07"""
    session_awaiting_approval().when(approve(), evaluation=None).then(
        (ActionResolved(decision="approve"), ACTION), (CHANGED, CALL), NEXT_MODEL_REQUEST
    )


def test_an_approval_of_a_call_that_the_gate_now_denies_refuses_the_call_with_the_reason():
    """SAFE-07, CTL-05"""
    session_awaiting_approval().when(approve(), evaluation=DENY).then(
        (ActionResolved(decision="approve"), ACTION),
        (ToolRefused(code="path_denied", message="The path leads out of the folder."), CALL),
        NEXT_MODEL_REQUEST,
    )


def test_an_approval_of_a_call_that_the_gate_now_allows_starts_it():
    """A rule was added while the card was open."""
    session_awaiting_approval().when(approve(), evaluation=ALLOW).then(
        (ActionResolved(decision="approve"), ACTION), *tool_start(CALL)
    )


def test_an_approval_of_a_changed_file_starts_nothing_even_with_a_new_allow_rule():
    """SAFE-07"""
    changed = msgspec.structs.replace(BINDING, file_hash="f2")
    result = session_awaiting_approval().when(approve(), evaluation=msgspec.structs.replace(ALLOW, binding=changed))
    result.then((ActionResolved(decision="approve"), ACTION), (CHANGED, CALL), NEXT_MODEL_REQUEST)


@pytest.mark.parametrize("scope", ["session", "workspace"])
def test_a_wider_scope_adds_the_rule_that_the_card_showed(scope):
    session = session_awaiting_approval()
    other = msgspec.structs.replace(ASK, matchers={}, scopes=("once",))
    rule = Rule(
        rule_id="rul_1",
        matcher={"session": "Write(a.md)", "workspace": "Write(*)"}[scope],
        verdict="allow",
        scope=scope,
    )
    session.when(approve(scope=scope), evaluation=other).then(
        (ActionResolved(decision="approve", scope=scope), ACTION),
        (PermissionRuleAdded(rule=rule), ACTION),
        *tool_start(CALL),
    )
    assert session.state.rules == ((rule,) if scope == "session" else ())


def test_a_scope_that_the_card_does_not_offer_is_refused():
    narrow = gate_evaluation("ask", prompt="Write?", binding=BINDING, scopes=("once",))
    session = session_after(submit(), model_response(requested_call(1, 2, narrow)))
    assert session.refuses(approve(scope="workspace")) == Problem(
        code="scope_not_offered",
        message="This action does not offer the scope workspace for approve.",
        field="scope",
        hint="Reject with the scope once, or approve with a scope that the action offers.",
    )


def test_a_rejection_has_no_wider_scope():
    assert session_awaiting_approval().refuses(reject(scope="session")).code == "scope_not_offered"


def test_an_approval_refuses_the_decision_answer():
    question = RespondAction(session_id=SESSION, action_id="act_1", decision="answer")
    assert session_awaiting_approval().refuses(question) == Problem(
        code="decision_not_offered",
        message="This action does not offer the decision answer.",
        field="decision",
        hint="Use approve or reject.",
    )


def test_an_answer_to_an_action_of_a_stopping_turn_is_refused():
    """CTL-04, CTL-08"""
    session = session_awaiting_approval().after(interrupt())
    problem = Problem(
        code="nothing_running",
        message="The turn is stopping, and its actions with it.",
        field="actionId",
        hint="Send a new turn once it has stopped.",
    )
    assert session.refuses(approve()) == problem
    assert session.refuses(reject()) == problem


def test_an_action_that_expires_in_a_stopping_turn_is_closed_without_a_model_call():
    """CTL-04"""
    session = session_awaiting_approval(expiry=MINUTE).after(interrupt())
    session.now += MINUTE
    session.when(action_timeout()).then(
        (ActionExpired(), ACTION),
        (ToolRefused(code="approval_expired", message="No person answered the approval in time."), CALL),
    )


def test_an_answer_to_an_action_of_an_ended_turn_is_refused():
    """CTL-04, CTL-15"""
    session = session_awaiting_approval().after(interrupt(), run_stop())
    assert session.refuses(approve()).code == "unknown_action"


def test_two_actions_of_one_response_are_answered_separately():
    """CTL-04: the model continues once both calls have ended."""
    session = session_after(submit(mode="auto"), model_response(requested_call(1, 2, ASK), requested_call(2, 3, ASK)))
    second = at(turn=1, run=1, step=3, call=2)
    session.when(reject(2)).then(
        (ActionResolved(decision="reject"), msgspec.structs.replace(second, step=5, action="act_2")),
        (ToolRefused(code="person_denied", message="The person rejected the call."), second),
    )
    first = msgspec.structs.replace(ACTION, step=4)
    session.when(approve(1)).then((ActionResolved(decision="approve"), first), *tool_start(CALL))
    session.when(tool_end(1)).then(
        (ToolCompleted(output=Text(text="done"), duration_ms=4), CALL), model_request(2, at(turn=1, run=1, step=6))
    )


def test_other_threads_continue_while_one_waits():
    """CTL-04: a pending action blocks only its own thread."""
    session = session_awaiting_approval().add_thread("second", "thr_2")
    result = session.when(submit("and you", thread_id="thr_2"))
    assert {new.scope.thread for new in result.decision.facts} == {"thr_2"}
    answer = msgspec.structs.replace(text_response("hello", run=2), thread="thr_2")
    assert session.when(answer).facts[-1] == TurnCompleted(iterations=1)
    assert session.run.calls[0].phase == "waiting"


@pytest.mark.parametrize(("later", "refused"), [(-1, True), (0, True), (1, False)])
def test_an_approval_with_an_expiry_must_end_in_the_future(later: int, *, refused: bool):
    """SAFE-05: an expired rule would allow nothing."""
    session = session_awaiting_approval()
    answer = approve(scope="session", expires_at=session.now + later)

    if refused:
        assert session.refuses(answer).field == "expiresAt"
    else:
        (rule,) = [fact.rule for fact in session.when(answer).facts if isinstance(fact, PermissionRuleAdded)]
        assert rule.expires_at == session.now + later


def test_a_rule_applies_before_its_expiry_and_not_at_it():
    """SAFE-05"""
    rule = Rule(rule_id="rul_1", matcher="Edit(a)", verdict="allow", scope="session", expires_at=100)

    assert [select_unexpired((rule,), now) for now in (99, 100, 101)] == [(rule,), (), ()]
