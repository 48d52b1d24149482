"""Children that are cancelled, interrupted or closed."""

from __future__ import annotations

from callboard.contracts.commands.subagent import CancelSubagent, ChildChanged, CloseSubagent, SendSubagentInput
from callboard.contracts.commands.turn import SubmitTurn
from callboard.contracts.facts.subagent import SubagentCancelled
from callboard.contracts.facts.turn import TurnInterruptRequested
from callboard.control.effects import StopRun
from tests.control.rigs.examples import ASK, SESSION, answered, approve, interrupt, wants
from tests.control.rigs.team import all_of, one, spawn, team, types


def test_cancelling_a_parent_cancels_its_running_children_only() -> None:
    """MAR-10, CTL-08: the intent first, then what it stops. Hard invariant 7."""
    given = team(budget=2)
    given.spawns(3)
    given.says("worker-1")
    given.when(spawn())
    then = given.when(interrupt(cascade=True, reason="enough"))

    assert types(then) == [
        "turn.interrupt.requested",
        "turn.interrupt.requested",
        "turn.interrupt.requested",
        "queue.removed",
        "subagent.cancelled",
        "task.cancelled",
        "worker.notification",
        "team.changed",
    ]
    assert [fact.cause for fact in all_of(then, TurnInterruptRequested)] == ["person", "cancelled", "cancelled"]
    assert [effect.scope.agent for effect in then.effects if isinstance(effect, StopRun)] == [
        "lead",
        "worker-2",
        "worker-3",
    ]
    for name in ("worker-2", "lead", "worker-3"):
        given.stopped(name, "cancelled")
    assert [given.status(f"worker-{number}") for number in (1, 2, 3, 4)] == ["completed", *["cancelled"] * 3]
    assert given.works() == []
    assert given.state.tasks == {}


def test_an_interrupt_without_cascade_leaves_the_children_at_work() -> None:
    """Control plane spec, interrupt_turn: children run on unless asked to cascade."""
    given = team()
    given.spawns()
    given.when(interrupt())
    given.stopped("lead")
    assert given.works() == ["worker-1"]


def test_a_cancel_counts_also_where_the_child_is_being_stopped_already() -> None:
    """MAR-10: it would otherwise only wait to be resumed."""
    given = team()
    given.spawns()
    given.when(interrupt(thread_id="thr_2"))
    given.uses("lead", "cancel_subagent", agent="worker-1", reason="not needed")
    then = given.stopped("worker-1")

    assert one(then, SubagentCancelled).reason == "not needed"
    assert given.status("worker-1") == "cancelled"


def test_a_child_cancelled_while_its_approval_waits_withdraws_it() -> None:
    """CTL-16, CTL-04"""
    given = team()
    given.spawns()
    given.when(answered(wants(9, 2, ASK), run=2, thread="thr_2"))
    given.when(CancelSubagent(session_id=SESSION, agent="worker-1"))
    assert given.refuses(approve()).code == "nothing_running"
    then = given.stopped("worker-1", "cancelled")

    assert types(then) == [
        "action.withdrawn",
        "tool.cancelled",
        "turn.interrupted",
        "subagent.cancelled",
        "task.cancelled",
        "worker.notification",
        "team.changed",
    ]


def test_closing_a_child_that_waits_for_a_slot_ends_it_at_once() -> None:
    given = team(budget=1)
    given.spawns(2)
    then = given.when(CloseSubagent(session_id=SESSION, agent="worker-2", reason="too many"))

    assert types(then) == [
        "queue.removed",
        "subagent.cancelled",
        "task.cancelled",
        "worker.notification",
        "channel.closed",
        "subagent.closed",
        "team.changed",
    ]
    then.answered(
        ChildChanged(session_id=SESSION, agent_id="worker-2", status="closed", sequence=given.state.sequence - 1)
    )
    assert given.state.waiting == ()
    assert given.refuses(SendSubagentInput(session_id=SESSION, agent="worker-2", text="x")).code == "unknown_agent"


def test_closing_a_child_at_work_stops_it_first() -> None:
    given = team()
    given.spawns()
    asked = given.when(CloseSubagent(session_id=SESSION, agent="worker-1"))
    assert types(asked) == ["turn.interrupt.requested"]
    assert given.refuses(SendSubagentInput(session_id=SESSION, agent="worker-1", text="x")).code == "nothing_running"
    assert given.refuses(SubmitTurn(session_id=SESSION, thread_id="thr_2", text="x")).code == "thread_busy"
    then = given.stopped("worker-1", "closed")
    assert types(then)[-6:] == [
        "subagent.cancelled",
        "task.cancelled",
        "worker.notification",
        "channel.closed",
        "subagent.closed",
        "team.changed",
    ]


def test_a_child_that_has_ended_is_not_cancelled() -> None:
    """CTL-08: finished children stay finished."""
    given = team()
    given.spawns()
    given.says("worker-1")
    assert given.denied("lead", "cancel_subagent", agent="worker-1") == "nothing_running"


def test_closed_children_are_forgotten() -> None:
    """The deciders' state does not grow with what is over, however many children there were."""
    given = team()
    sizes: list[int] = []
    for _ in range(4):
        (name,) = given.spawns()
        given.says(name)
        given.when(CloseSubagent(session_id=SESSION, agent=name))
        sizes.append(
            len(given.state.threads) + len(given.state.channels) + len(given.state.tasks) + len(given.state.reviews)
        )
    assert sizes == [2, 2, 2, 2]
    assert given.spawns() == ["worker-5"]
