"""Ends of children: cancelled, interrupted or closed."""

from __future__ import annotations

from callboard.contracts.commands.subagent import CancelSubagent, ChildChanged, CloseSubagent, SendSubagentInput
from callboard.contracts.commands.turn import SubmitTurn
from callboard.contracts.facts.subagent import SubagentCancelled
from callboard.contracts.facts.turn import TurnInterruptRequested
from callboard.control.effects import StopRun
from tests.control.rigs.examples import ASK, SESSION, approve, interrupt, model_response, requested_call
from tests.control.rigs.team import fact_types, facts_of, only_fact, spawn, team


def test_cancelling_a_parent_cancels_its_running_children_only() -> None:
    """MAR-10, CTL-08: the intents are first, then the ends. Hard invariant 7."""
    session = team(budget=2)
    session.spawns(3)
    session.responds("worker-1")
    session.when(spawn())
    result = session.when(interrupt(cascade=True, reason="enough"))

    assert fact_types(result) == [
        "turn.interrupt.requested",
        "turn.interrupt.requested",
        "turn.interrupt.requested",
        "queue.removed",
        "subagent.cancelled",
        "task.cancelled",
        "worker.notification",
        "team.changed",
    ]
    assert [fact.cause for fact in facts_of(result, TurnInterruptRequested)] == ["person", "cancelled", "cancelled"]
    assert [effect.scope.agent for effect in result.effects if isinstance(effect, StopRun)] == [
        "lead",
        "worker-2",
        "worker-3",
    ]
    for name in ("worker-2", "lead", "worker-3"):
        session.stops(name, "cancelled")
    assert [session.child_status(f"worker-{number}") for number in (1, 2, 3, 4)] == ["completed", *["cancelled"] * 3]
    assert session.running_agents() == []
    assert session.state.tasks == {}


def test_an_interrupt_without_cascade_leaves_the_children_running() -> None:
    """Control plane spec, interrupt_turn: children keep running without cascade."""
    session = team()
    session.spawns()
    session.when(interrupt())
    session.stops("lead")
    assert session.running_agents() == ["worker-1"]


def test_cancelling_a_child_that_is_already_stopping_cancels_it() -> None:
    """MAR-10: otherwise it would wait for a resume."""
    session = team()
    session.spawns()
    session.when(interrupt(thread_id="thr_2"))
    session.uses("lead", "cancel_subagent", agent="worker-1", reason="not needed")
    result = session.stops("worker-1")

    assert only_fact(result, SubagentCancelled).reason == "not needed"
    assert session.child_status("worker-1") == "cancelled"


def test_a_child_cancelled_while_its_approval_waits_withdraws_it() -> None:
    """CTL-16, CTL-04"""
    session = team()
    session.spawns()
    session.when(model_response(requested_call(9, 2, ASK), run=2, thread="thr_2"))
    session.when(CancelSubagent(session_id=SESSION, agent="worker-1"))
    assert session.refuses(approve()).code == "nothing_running"
    result = session.stops("worker-1", "cancelled")

    assert fact_types(result) == [
        "action.withdrawn",
        "tool.cancelled",
        "turn.interrupted",
        "subagent.cancelled",
        "task.cancelled",
        "worker.notification",
        "team.changed",
    ]


def test_closing_a_child_that_waits_for_a_slot_ends_it_at_once() -> None:
    session = team(budget=1)
    session.spawns(2)
    result = session.when(CloseSubagent(session_id=SESSION, agent="worker-2", reason="too many"))

    assert fact_types(result) == [
        "queue.removed",
        "subagent.cancelled",
        "task.cancelled",
        "worker.notification",
        "channel.closed",
        "subagent.closed",
        "team.changed",
    ]
    result.with_answer(
        ChildChanged(session_id=SESSION, agent_id="worker-2", status="closed", sequence=session.state.sequence - 1)
    )
    assert session.state.waiting == ()
    assert session.refuses(SendSubagentInput(session_id=SESSION, agent="worker-2", text="x")).code == "unknown_agent"


def test_closing_a_running_child_stops_it_first() -> None:
    session = team()
    session.spawns()
    closing = session.when(CloseSubagent(session_id=SESSION, agent="worker-1"))
    assert fact_types(closing) == ["turn.interrupt.requested"]
    assert session.refuses(SendSubagentInput(session_id=SESSION, agent="worker-1", text="x")).code == "nothing_running"
    assert session.refuses(SubmitTurn(session_id=SESSION, thread_id="thr_2", text="x")).code == "thread_busy"
    result = session.stops("worker-1", "closed")
    assert fact_types(result)[-6:] == [
        "subagent.cancelled",
        "task.cancelled",
        "worker.notification",
        "channel.closed",
        "subagent.closed",
        "team.changed",
    ]


def test_an_ended_child_is_not_cancelled() -> None:
    """CTL-08: finished children stay finished."""
    session = team()
    session.spawns()
    session.responds("worker-1")
    assert session.refusal_code("lead", "cancel_subagent", agent="worker-1") == "nothing_running"


def test_closed_children_leave_the_state() -> None:
    """The state does not grow with the number of closed children."""
    session = team()
    sizes: list[int] = []
    for _ in range(4):
        (name,) = session.spawns()
        session.responds(name)
        session.when(CloseSubagent(session_id=SESSION, agent=name))
        sizes.append(
            len(session.state.threads)
            + len(session.state.channels)
            + len(session.state.tasks)
            + len(session.state.reviews)
        )
    assert sizes == [2, 2, 2, 2]
    assert session.spawns() == ["worker-5"]
