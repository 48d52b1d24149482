"""Effects: what the runtime does follows from facts, and from nothing else."""

from __future__ import annotations

from callboard.contracts.facts import FACTS
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.permission import Rule
from callboard.control.effects import AskModel, ExpireAction, ListSession, RunTool, ShareRule, StopRun, derive_effects
from tests.control.rigs.decisions import Given, given
from tests.control.rigs.examples import (
    ASK,
    DENY,
    SESSION,
    WORKSPACE,
    answered,
    approve,
    at,
    ended,
    interrupt,
    says,
    stopped,
    submit,
    wants,
)

MINUTE = 60_000_000


def _request(iteration: int, through: int) -> ModelRequested:
    return ModelRequested(provider="local", model="small", iteration=iteration, context_through=through)


def test_a_new_session_is_listed_and_its_model_is_asked():
    assert given().when(submit("tidy")).effects == [
        ListSession(workspace=WORKSPACE, title="tidy", cause=f"{SESSION}/1"),
        AskModel(at(turn=1, run=1, step=1), _request(1, 5)),
    ]


def test_an_imported_session_is_listed_and_nothing_of_it_is_carried_out():
    session = given().after(submit("tidy"), says("Done."))

    assert derive_effects(session.records, imported=True) == [
        ListSession(workspace=WORKSPACE, title="tidy", cause=f"{SESSION}/1")
    ]


def test_a_call_that_passed_the_gate_is_run_and_its_end_asks_the_model():
    session = given(submit())
    assert session.when(answered(wants(1, 2))).effects == [RunTool(at(turn=1, run=1, step=2, call=1))]
    assert session.when(ended(1)).effects == [AskModel(at(turn=1, run=1, step=3), _request(2, 13))]


def test_a_denied_call_runs_nothing():
    """CTL-05"""
    effects = given(submit()).when(answered(wants(1, 2, DENY))).effects
    assert effects == [AskModel(at(turn=1, run=1, step=3), _request(2, 11))]


def test_a_pending_action_runs_nothing_until_it_is_approved():
    """CTL-04"""
    session = given(submit())
    assert session.when(answered(wants(1, 2, ASK))).effects == []
    assert session.when(approve()).effects == [RunTool(at(turn=1, run=1, step=2, call=1))]


def test_an_action_that_expires_is_watched():
    """CTL-04"""
    session = given(submit(), expiry=MINUTE)
    assert session.when(answered(wants(1, 2, ASK))).effects == [
        ExpireAction(at(turn=1, run=1, step=3, call=1, action=1), session.now + MINUTE)
    ]


def test_a_rule_for_the_workspace_is_shared_and_one_for_the_session_is_not():
    rule = Rule(rule_id="rul_1", matcher="Write(*)", verdict="allow", scope="workspace")
    run = RunTool(at(turn=1, run=1, step=2, call=1))
    assert _asked().when(approve(scope="workspace")).effects == [ShareRule(rule, f"{SESSION}/13"), run]
    assert _asked().when(approve(scope="session")).effects == [run]


def test_an_interrupt_stops_the_run_once():
    """CTL-08"""
    session = given(submit())
    assert session.when(interrupt(reason="enough")).effects == [StopRun(at(turn=1, run=1), "person", "enough")]
    assert session.when(interrupt()).effects == []


def test_what_is_queued_is_asked_when_the_thread_is_free():
    session = given(submit(), submit())
    assert session.when(says("done")).effects == [AskModel(at(turn=2, run=2, step=1), _request(1, 15))]


def test_a_turn_that_was_stopped_does_nothing_more():
    """CTL-08"""
    assert given(submit(), answered(wants(1, 2)), interrupt()).when(stopped()).effects == []


def test_six_facts_make_the_runtime_act_and_no_other():
    acting = {
        "session.created",
        "model.requested",
        "tool.started",
        "turn.interrupt.requested",
        "action.required",
        "permission.rule.added",
    }
    assert acting < set(FACTS)
    session = given(submit(), answered(wants(1, 2, ASK)))
    for step in (approve(scope="session"), ended(1), says("done", step=4), submit(), interrupt(), stopped(run=2)):
        then = session.when(step)
        kinds = [fact.type for fact in then.facts if fact.type in acting - {"permission.rule.added"}]
        assert len(then.effects) == len(kinds)


def _asked() -> Given:
    return given(submit(), answered(wants(1, 2, ASK)))
