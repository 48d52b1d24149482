"""A team whose process ended: what it was at is told as it was, and nothing of it begins by itself."""

from __future__ import annotations

from callboard.contracts.commands.turn import ResumeThread
from callboard.contracts.facts.handoff import InboxReserved
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.subagent import WorkerNotification
from callboard.contracts.facts.task import TaskFailed
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.control.effects import ExpireAction, WakeAt, derive_pending_effects
from callboard.control.outcomes import HostTakenOver
from tests.control.rigs.decisions import Then
from tests.control.rigs.examples import ASK, NOW, SESSION, answered, approve, submit, wants
from tests.control.rigs.tasks import attempts, retry
from tests.control.rigs.team import WORKER, Team, agent, all_of, one, spawn, team, types

SECOND = 1_000_000
TAKEN = HostTakenOver(partials=())


def crashed(given: Team) -> Then:
    """Another process takes the session over."""
    given.epoch += 1
    return given.when(TAKEN)


def tree() -> Team:
    """A lead that waits for two children, of which one waits for a slot."""
    given = team(budget=1)
    given.spawns(2)
    given.uses("lead", "wait_subagents")
    return given


def test_a_tree_is_told_as_interrupted_and_nothing_of_it_begins_by_itself() -> None:
    """CTL-06, CTL-17: the wait took no effect, so its outcome is not unknown."""
    given = tree()
    then = crashed(given)

    assert types(then) == [
        "session.taken_over",
        "tool.cancelled",
        "turn.interrupted",
        "model.interrupted",
        "turn.interrupted",
        "task.failed",
        "worker.notification",
        "thread.paused",
        "task.failed",
        "snapshot.updated",
        "thread.paused",
        "team.changed",
    ]
    assert one(then, WorkerNotification).status == "interrupted"
    assert all_of(then, ThreadPaused) == [
        ThreadPaused(cause="recovered", reason="its process ended"),
        ThreadPaused(cause="recovered", reason="1 unread item: its last turn was interrupted"),
    ]
    assert given.works() == []
    assert (given.status("worker-1"), given.status("worker-2")) == ("waiting", "queued")
    crashed(given).then_nothing()


def test_one_command_resumes_the_tree() -> None:
    """CTL-06: resuming is explicit; slots hold as before."""
    given = tree()
    crashed(given)
    then = given.when(ResumeThread(session_id=SESSION, tree=True))

    assert given.works() == ["lead", "worker-1"]
    assert [(fact.source, fact.resumes) for fact in all_of(then, TurnSubmitted)] == [("person", True)] * 2
    given.says("worker-1")
    assert given.works() == ["lead", "worker-2"]
    given.says("worker-2")
    assert given.refuses(ResumeThread(session_id=SESSION, tree=True)).code == "thread_not_paused"


def test_whatever_was_worked_on_is_not_at_work_any_more_and_can_be_tried_again() -> None:
    """CTL-06, CTL-07: no task reads as running with nothing that runs or waits for it."""
    given = team()
    given.spawns()
    given.uses("lead", "wait_subagents")
    then = crashed(given)

    whole, part = given.state.tasks.values()
    assert [(fact.code, fact.message) for fact in all_of(then, TaskFailed)] == [
        ("interrupted", "its process ended")
    ] * 2
    assert (whole.work, part.work) == ("over", "over")
    given.when(retry(part.task))
    given.when(retry(whole.task))
    assert given.works() == ["lead", "worker-1"]
    given.says("worker-1")
    given.says("lead")
    assert given.state.tasks == {}


def test_what_goes_on_with_the_tree_is_another_attempt_of_each_task() -> None:
    """CTL-06, CTL-07"""
    given = team()
    given.spawns()
    given.uses("lead", "wait_subagents")
    crashed(given)
    whole, part = given.state.tasks.values()
    then = given.when(ResumeThread(session_id=SESSION, tree=True))

    begun = [(scope.task, scope.attempt, fact.assignee) for fact, scope in attempts(then)]
    assert begun == [(whole.task, 2, "lead"), (part.task, 2, "worker-1")]
    given.says("worker-1")
    given.says("lead")
    assert given.state.tasks == {}


def test_an_agent_interrupted_in_a_turn_after_its_delegation_resumes_its_task() -> None:
    """CTL-06, CTL-07"""
    given = team()
    given.spawns()
    given.says("lead", "They work on it.")
    given.when(submit("and?", session_id=SESSION))
    crashed(given)
    assert [one.work for one in given.state.tasks.values()] == ["over", "over"]
    given.when(ResumeThread(session_id=SESSION, tree=True))
    given.says("worker-1")
    given.says("lead")
    assert given.state.tasks == {}


def test_a_task_whose_agent_was_only_not_told_yet_is_tried_again() -> None:
    """CTL-06"""
    given = team()
    given.spawns()
    given.says("lead", "They work on it.")
    crashed(given)
    whole = next(one for one in given.state.tasks.values() if one.implied)
    assert given.works() == []
    given.when(retry(whole.task))
    assert given.works() == ["lead"]


def test_a_child_that_was_stopped_and_is_cancelled_takes_its_task_with_it() -> None:
    """CTL-06, CTL-08"""
    given = team()
    given.spawns()
    given.stopped("worker-1", "crash")
    given.uses("lead", "cancel_subagent", agent="worker-1")
    assert [one.implied for one in given.state.tasks.values()] == [True]


def test_without_the_tree_only_the_thread_goes_on() -> None:
    """D1: a lead that a crash cut off reads what it was sent since, its children stay as they are."""
    given = tree()
    crashed(given)
    given.when(ResumeThread(session_id=SESSION, thread_id="thr_3"))
    assert given.works() == ["worker-2"]
    assert one(given.when(ResumeThread(session_id=SESSION)), InboxReserved).items == ("itm_1",)
    assert given.works() == ["lead", "worker-2"]


def test_an_idle_parent_is_not_woken_by_what_a_crash_did_to_its_child() -> None:
    """CTL-06"""
    given = team(agent("lead"), agent("other"), WORKER)
    given.uses("lead", "send_message", to=["other"], text="hi")
    given.uses("other", "spawn_subagent", agent="worker", objective="x")
    given.says("other")
    crashed(given)
    assert given.works() == []
    given.when(ResumeThread(session_id=SESSION, thread_id="thr_2"))
    assert given.works() == ["other"]


def test_a_tree_that_only_waits_for_a_person_goes_on_waiting() -> None:
    """CTL-04: a new process lost nothing of it."""
    given = team()
    given.spawns()
    given.uses("lead", "wait_subagents")
    given.when(answered(wants(9, 2, ASK), run=2, thread="thr_2"))
    assert types(crashed(given)) == ["session.taken_over"]
    given.when(approve())
    assert given.works() == ["lead", "worker-1"]


def test_a_shutdown_starts_nobody_in_the_freed_slot() -> None:
    given = team(budget=1)
    given.spawns(2)
    given.says("lead")
    then = given.stopped("worker-1", "shutdown")
    assert types(then)[-4:] == ["worker.notification", "thread.paused", "thread.paused", "team.changed"]
    assert [new.scope.agent for new in then.decision.facts if isinstance(new.fact, ThreadPaused)] == [
        "worker-2",
        "lead",
    ]
    assert given.works() == []


def test_a_child_that_was_being_cancelled_is_cancelled_whoever_finds_it() -> None:
    """CTL-08"""
    given = team()
    given.spawns()
    given.uses("lead", "cancel_subagent", agent="worker-1")
    crashed(given)
    assert given.status("worker-1") == "cancelled"


def test_times_that_were_waited_for_are_waited_for_again() -> None:
    """COM-16, CTL-12: also after a restart."""
    given = team(expiry=SECOND)
    given.spawns()
    given.uses(
        "lead",
        "send_handoff",
        to="critic",
        message="Look.",
        response={"expectation": "required", "within_s": 60},
    )
    given.when(answered(wants(9, 2, ASK), run=2, thread="thr_2"))
    given.uses("lead", "wait_subagents", timeout_s=30)
    found = derive_pending_effects(given.state)
    assert [one for one in found if isinstance(one, WakeAt)] == [WakeAt(NOW + 30 * SECOND), WakeAt(NOW + 60 * SECOND)]
    assert [one.at for one in found if isinstance(one, ExpireAction)] == [NOW + SECOND]


def test_queued_children_of_before_do_not_hold_up_new_ones() -> None:
    """COM-12"""
    given = tree()
    crashed(given)
    given.when(spawn())
    assert given.works() == ["worker-3"]
