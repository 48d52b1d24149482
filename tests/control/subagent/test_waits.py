"""Calls of wait_subagents."""

from __future__ import annotations

from callboard.contracts import casing
from callboard.contracts.commands.subagent import ChildResults, CloseSubagent
from callboard.contracts.facts.exchange.inbox import InboxConsumed, InboxReserved
from callboard.contracts.facts.tool import ToolCompleted
from callboard.control.effects import WakeAt
from callboard.control.outcomes import WakeTimeReached
from tests.control.rigs.decisions import StepResult
from tests.control.rigs.examples import NOW, SESSION, interrupt, submit
from tests.control.rigs.team import fact_types, only_fact, team

SECOND = 1_000_000


def wait_results(result: StepResult) -> ChildResults:
    return casing.decode(only_fact(result, ToolCompleted).output.text, ChildResults)


def wait_summary(answer: ChildResults) -> tuple[list[tuple[str, str]], list[tuple[str, str]], bool]:
    return (
        [(child.agent_id, child.status) for child in answer.ended],
        [(child.agent_id, child.status) for child in answer.pending],
        answer.timed_out,
    )


def test_a_wait_for_all_ends_with_the_last_child_and_has_every_result() -> None:
    """CTL-12"""
    session = team()
    session.spawns(2)
    assert fact_types(session.uses("lead", "wait_subagents"))[-2:] == ["tool.started", "subagent.awaited"]
    session.responds("worker-1", "One.")
    result = session.responds("worker-2", "Two.")

    answer = wait_results(result)
    assert wait_summary(answer) == ([("worker-1", "completed"), ("worker-2", "completed")], [], False)
    assert [child.result for child in answer.ended] == ["One.", "Two."]
    assert only_fact(result, InboxConsumed) == InboxConsumed(items=("itm_1", "itm_2"))
    assert session.thread_of("lead").inbox == ()


def test_a_wait_for_any_ends_with_the_first_child() -> None:
    """CTL-12"""
    session = team()
    session.spawns(2)
    session.uses("lead", "wait_subagents", mode="any")
    assert wait_summary(wait_results(session.responds("worker-2"))) == (
        [("worker-2", "completed")],
        [("worker-1", "running")],
        False,
    )


def test_a_wait_returns_the_current_results_when_a_child_fails() -> None:
    """CTL-12"""
    session = team()
    session.spawns(3)
    session.uses("lead", "wait_subagents")
    session.responds("worker-3", "Three.")
    result = session.fails("worker-1")

    assert wait_summary(wait_results(result)) == (
        [("worker-1", "failed"), ("worker-3", "completed")],
        [("worker-2", "running")],
        False,
    )


def test_an_already_returned_failure_does_not_end_the_next_wait() -> None:
    session = team()
    session.spawns(2)
    session.uses("lead", "wait_subagents", agents=["worker-1", "worker-2"])
    session.fails("worker-1")
    second_wait = session.uses("lead", "wait_subagents", agents=["worker-1", "worker-2"])
    assert fact_types(second_wait)[-1] == "subagent.awaited"
    assert wait_summary(wait_results(session.responds("worker-2")))[0] == [
        ("worker-1", "failed"),
        ("worker-2", "completed"),
    ]


def test_a_wait_returns_the_current_results_at_its_timeout() -> None:
    """CTL-12"""
    session = team()
    session.spawns(2)
    begun = session.uses("lead", "wait_subagents", timeout_s=30)
    assert [effect for effect in begun.effects if isinstance(effect, WakeAt)] == [WakeAt(NOW + 30 * SECOND)]
    session.responds("worker-1")
    session.now = NOW + 29 * SECOND
    session.when(WakeTimeReached(at=session.now)).then_nothing()
    session.now = NOW + 30 * SECOND
    assert wait_summary(wait_results(session.when(WakeTimeReached(at=session.now)))) == (
        [("worker-1", "completed")],
        [("worker-2", "running")],
        True,
    )


def test_a_child_that_waits_for_a_person_ends_the_wait() -> None:
    """CTL-12: the time when it continues is unknown."""
    session = team()
    session.spawns()
    session.uses("lead", "wait_subagents")
    session.when(interrupt(thread_id="thr_2"))
    assert wait_summary(wait_results(session.stops("worker-1"))) == ([("worker-1", "waiting")], [], False)


def test_closing_a_child_ends_the_wait_for_it() -> None:
    session = team(budget=1)
    session.spawns(2)
    session.responds("worker-1")
    session.uses("lead", "wait_subagents", agents=["worker-1", "worker-2"])
    session.when(CloseSubagent(session_id=SESSION, agent="worker-1"))
    result = session.when(CloseSubagent(session_id=SESSION, agent="worker-2"))
    assert fact_types(result) == ["turn.interrupt.requested"]
    assert wait_summary(wait_results(session.stops("worker-2", "closed")))[0] == [
        ("worker-1", "closed"),
        ("worker-2", "closed"),
    ]


def test_a_wait_for_ended_children_returns_at_once() -> None:
    session = team()
    session.spawns()
    session.responds("worker-1")
    assert wait_summary(wait_results(session.uses("lead", "wait_subagents")))[0] == [("worker-1", "completed")]


def test_a_wait_for_all_includes_results_from_before_the_call() -> None:
    """CTL-12: a result that the agent has not read yet is returned with the others."""
    session = team()
    session.spawns(2)
    session.responds("worker-1", "One.")
    assert fact_types(session.uses("lead", "wait_subagents"))[-1] == "subagent.awaited"
    answer = wait_results(session.responds("worker-2", "Two."))
    assert [child.result for child in answer.ended] == ["One.", "Two."]
    session.spawns()
    session.uses("lead", "wait_subagents")
    assert wait_summary(wait_results(session.responds("worker-3")))[0] == [("worker-3", "completed")]


def test_interrupting_a_waiting_agent_ends_the_wait_and_loses_no_result() -> None:
    """COM-10: its next turn reads the result."""
    session = team()
    session.spawns(2)
    session.uses("lead", "wait_subagents")
    session.responds("worker-1", "One.")
    session.when(interrupt())
    result = session.stops("lead")
    assert fact_types(result) == ["tool.cancelled", "turn.interrupted", "thread.paused"]
    assert only_fact(session.when(submit("go on", session_id=SESSION)), InboxReserved).items == ("itm_1",)
