"""Effects: the work of the runtime, derived from facts alone."""

from __future__ import annotations

from callboard.contracts.facts import FACTS
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.permission import Rule
from callboard.control.effects import AskModel, ExpireAction, ListSession, RunTool, ShareRule, StopRun, derive_effects
from tests.control.rigs.decisions import Scenario, session_after
from tests.control.rigs.examples import (
    ASK,
    DENY,
    SESSION,
    WORKSPACE,
    approve,
    at,
    interrupt,
    model_response,
    requested_call,
    run_stop,
    submit,
    text_response,
    tool_end,
)

MINUTE = 60_000_000


def _model_request(iteration: int, through: int) -> ModelRequested:
    return ModelRequested(provider="local", model="small", iteration=iteration, context_through=through)


def test_a_new_session_is_listed_and_its_model_is_called():
    assert session_after().when(submit("tidy")).effects == [
        ListSession(workspace=WORKSPACE, title="tidy", cause=f"{SESSION}/1"),
        AskModel(at(turn=1, run=1, step=1), _model_request(1, 5)),
    ]


def test_an_imported_session_is_listed_and_causes_no_other_effect():
    session = session_after().after(submit("tidy"), text_response("Done."))

    assert derive_effects(session.records, imported=True) == [
        ListSession(workspace=WORKSPACE, title="tidy", cause=f"{SESSION}/1")
    ]


def test_an_allowed_call_runs_and_its_end_calls_the_model():
    session = session_after(submit())
    assert session.when(model_response(requested_call(1, 2))).effects == [RunTool(at(turn=1, run=1, step=2, call=1))]
    assert session.when(tool_end(1)).effects == [AskModel(at(turn=1, run=1, step=3), _model_request(2, 13))]


def test_a_denied_call_runs_nothing():
    """CTL-05"""
    effects = session_after(submit()).when(model_response(requested_call(1, 2, DENY))).effects
    assert effects == [AskModel(at(turn=1, run=1, step=3), _model_request(2, 11))]


def test_a_pending_action_runs_nothing_until_it_is_approved():
    """CTL-04"""
    session = session_after(submit())
    assert session.when(model_response(requested_call(1, 2, ASK))).effects == []
    assert session.when(approve()).effects == [RunTool(at(turn=1, run=1, step=2, call=1))]


def test_an_action_with_an_expiry_gets_a_timer():
    """CTL-04"""
    session = session_after(submit(), expiry=MINUTE)
    assert session.when(model_response(requested_call(1, 2, ASK))).effects == [
        ExpireAction(at(turn=1, run=1, step=3, call=1, action=1), session.now + MINUTE)
    ]


def test_a_rule_for_the_workspace_is_shared_and_one_for_the_session_is_not():
    rule = Rule(rule_id="rul_1", matcher="Write(*)", verdict="allow", scope="workspace")
    run = RunTool(at(turn=1, run=1, step=2, call=1))
    assert _session_awaiting_approval().when(approve(scope="workspace")).effects == [
        ShareRule(rule, f"{SESSION}/13"),
        run,
    ]
    assert _session_awaiting_approval().when(approve(scope="session")).effects == [run]


def test_an_interrupt_stops_the_run_once():
    """CTL-08"""
    session = session_after(submit())
    assert session.when(interrupt(reason="enough")).effects == [StopRun(at(turn=1, run=1), "person", "enough")]
    assert session.when(interrupt()).effects == []


def test_a_queued_turn_calls_the_model_when_the_thread_is_idle():
    session = session_after(submit(), submit())
    assert session.when(text_response("done")).effects == [AskModel(at(turn=2, run=2, step=1), _model_request(1, 15))]


def test_a_stopped_turn_has_no_further_effects():
    """CTL-08"""
    assert session_after(submit(), model_response(requested_call(1, 2)), interrupt()).when(run_stop()).effects == []


def test_only_six_types_of_facts_have_effects():
    types = {
        "session.created",
        "model.requested",
        "tool.started",
        "turn.interrupt.requested",
        "action.required",
        "permission.rule.added",
    }
    assert types < set(FACTS)
    session = session_after(submit(), model_response(requested_call(1, 2, ASK)))
    for step in (
        approve(scope="session"),
        tool_end(1),
        text_response("done", step=4),
        submit(),
        interrupt(),
        run_stop(run=2),
    ):
        result = session.when(step)
        kinds = [fact.type for fact in result.facts if fact.type in types - {"permission.rule.added"}]
        assert len(result.effects) == len(kinds)


def _session_awaiting_approval() -> Scenario:
    return session_after(submit(), model_response(requested_call(1, 2, ASK)))
