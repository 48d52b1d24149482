"""Recovery of a team after its process ended: truthful ends, and no automatic start."""

from __future__ import annotations

from callboard.contracts.commands.turn import ResumeThread
from callboard.contracts.facts.exchange.inbox import InboxReserved
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.subagent import WorkerNotification
from callboard.contracts.facts.task import TaskFailed
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.control.effects import ExpireAction, WakeAt, derive_pending_effects
from callboard.control.outcomes import HostTakenOver
from tests.control.rigs.decisions import StepResult
from tests.control.rigs.examples import ASK, NOW, SESSION, approve, model_response, requested_call, submit
from tests.control.rigs.tasks import retry, started_attempts
from tests.control.rigs.team import WORKER, Team, agent_definition, fact_types, facts_of, only_fact, spawn, team

SECOND = 1_000_000
TAKEOVER = HostTakenOver(partials=())


def take_over(session: Team) -> StepResult:
    """Take the session over with another process."""
    session.epoch += 1
    return session.when(TAKEOVER)


def waiting_tree() -> Team:
    """Return a session whose lead waits for two children. One of them waits for a slot."""
    session = team(budget=1)
    session.spawns(2)
    session.uses("lead", "wait_subagents")
    return session


def test_a_takeover_records_a_tree_as_interrupted_and_starts_nothing() -> None:
    """CTL-06, CTL-17: the wait had no effect, so it is cancelled and not lost."""
    session = waiting_tree()
    result = take_over(session)

    assert fact_types(result) == [
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
    assert only_fact(result, WorkerNotification).status == "interrupted"
    assert facts_of(result, ThreadPaused) == [
        ThreadPaused(cause="recovered", reason="its process ended"),
        ThreadPaused(cause="recovered", reason="1 unread item: its last turn was interrupted"),
    ]
    assert session.running_agents() == []
    assert (session.child_status("worker-1"), session.child_status("worker-2")) == ("waiting", "queued")
    take_over(session).then_nothing()


def test_one_command_resumes_the_tree() -> None:
    """CTL-06: resuming is explicit, and the budget applies as before."""
    session = waiting_tree()
    take_over(session)
    result = session.when(ResumeThread(session_id=SESSION, tree=True))

    assert session.running_agents() == ["lead", "worker-1"]
    assert [(fact.source, fact.resumes) for fact in facts_of(result, TurnSubmitted)] == [("person", True)] * 2
    session.responds("worker-1")
    assert session.running_agents() == ["lead", "worker-2"]
    session.responds("worker-2")
    assert session.refuses(ResumeThread(session_id=SESSION, tree=True)).code == "thread_not_paused"


def test_interrupted_tasks_of_a_tree_can_be_retried() -> None:
    """CTL-06, CTL-07: no task reads as running with nothing that runs or waits for it."""
    session = team()
    session.spawns()
    session.uses("lead", "wait_subagents")
    result = take_over(session)

    parent, subtask = session.state.tasks.values()
    assert [(fact.code, fact.message) for fact in facts_of(result, TaskFailed)] == [
        ("interrupted", "its process ended")
    ] * 2
    assert (parent.work, subtask.work) == ("over", "over")
    session.when(retry(subtask.task))
    session.when(retry(parent.task))
    assert session.running_agents() == ["lead", "worker-1"]
    session.responds("worker-1")
    session.responds("lead")
    assert session.state.tasks == {}


def test_resuming_the_tree_starts_another_attempt_of_each_task() -> None:
    """CTL-06, CTL-07"""
    session = team()
    session.spawns()
    session.uses("lead", "wait_subagents")
    take_over(session)
    parent, subtask = session.state.tasks.values()
    result = session.when(ResumeThread(session_id=SESSION, tree=True))

    started = [(scope.task, scope.attempt, fact.assignee) for fact, scope in started_attempts(result)]
    assert started == [(parent.task, 2, "lead"), (subtask.task, 2, "worker-1")]
    session.responds("worker-1")
    session.responds("lead")
    assert session.state.tasks == {}


def test_an_agent_interrupted_in_a_turn_after_its_delegation_resumes_its_task() -> None:
    """CTL-06, CTL-07"""
    session = team()
    session.spawns()
    session.responds("lead", "They work on it.")
    session.when(submit("and?", session_id=SESSION))
    take_over(session)
    assert [task.work for task in session.state.tasks.values()] == ["over", "over"]
    session.when(ResumeThread(session_id=SESSION, tree=True))
    session.responds("worker-1")
    session.responds("lead")
    assert session.state.tasks == {}


def test_a_task_whose_agent_had_no_run_at_the_crash_can_be_retried() -> None:
    """CTL-06"""
    session = team()
    session.spawns()
    session.responds("lead", "They work on it.")
    take_over(session)
    parent = next(task for task in session.state.tasks.values() if task.implied)
    assert session.running_agents() == []
    session.when(retry(parent.task))
    assert session.running_agents() == ["lead"]


def test_cancelling_an_interrupted_child_ends_its_task() -> None:
    """CTL-06, CTL-08"""
    session = team()
    session.spawns()
    session.stops("worker-1", "crash")
    session.uses("lead", "cancel_subagent", agent="worker-1")
    assert [task.implied for task in session.state.tasks.values()] == [True]


def test_resuming_without_the_tree_starts_only_the_thread() -> None:
    """D1: an interrupted lead reads its new inbox items. Its children stay unchanged."""
    session = waiting_tree()
    take_over(session)
    session.when(ResumeThread(session_id=SESSION, thread_id="thr_3"))
    assert session.running_agents() == ["worker-2"]
    assert only_fact(session.when(ResumeThread(session_id=SESSION)), InboxReserved).items == ("itm_1",)
    assert session.running_agents() == ["lead", "worker-2"]


def test_a_crash_of_a_child_does_not_wake_its_idle_parent() -> None:
    """CTL-06"""
    session = team(agent_definition("lead"), agent_definition("other"), WORKER)
    session.uses("lead", "send_message", to=["other"], text="hi")
    session.uses("other", "spawn_subagent", agent="worker", objective="x")
    session.responds("other")
    take_over(session)
    assert session.running_agents() == []
    session.when(ResumeThread(session_id=SESSION, thread_id="thr_2"))
    assert session.running_agents() == ["other"]


def test_a_tree_that_waits_for_an_approval_survives_a_takeover() -> None:
    """CTL-04: the new process lost nothing."""
    session = team()
    session.spawns()
    session.uses("lead", "wait_subagents")
    session.when(model_response(requested_call(9, 2, ASK), run=2, thread="thr_2"))
    assert fact_types(take_over(session)) == ["session.taken_over"]
    session.when(approve())
    assert session.running_agents() == ["lead", "worker-1"]


def test_a_shutdown_starts_no_child_in_the_freed_slot() -> None:
    session = team(budget=1)
    session.spawns(2)
    session.responds("lead")
    result = session.stops("worker-1", "shutdown")
    assert fact_types(result)[-4:] == ["worker.notification", "thread.paused", "thread.paused", "team.changed"]
    assert [new.scope.agent for new in result.decision.facts if isinstance(new.fact, ThreadPaused)] == [
        "worker-2",
        "lead",
    ]
    assert session.running_agents() == []


def test_a_takeover_completes_the_cancellation_of_a_child() -> None:
    """CTL-08"""
    session = team()
    session.spawns()
    session.uses("lead", "cancel_subagent", agent="worker-1")
    take_over(session)
    assert session.child_status("worker-1") == "cancelled"


def test_pending_timers_are_derived_again_from_the_state() -> None:
    """COM-16, CTL-12: also after a restart."""
    session = team(expiry=SECOND)
    session.spawns()
    session.uses(
        "lead",
        "send_handoff",
        to="critic",
        message="Look.",
        response={"expectation": "required", "within_s": 60},
    )
    session.when(model_response(requested_call(9, 2, ASK), run=2, thread="thr_2"))
    session.uses("lead", "wait_subagents", timeout_s=30)
    effects = derive_pending_effects(session.state)
    assert [effect for effect in effects if isinstance(effect, WakeAt)] == [
        WakeAt(NOW + 30 * SECOND),
        WakeAt(NOW + 60 * SECOND),
    ]
    assert [effect.at for effect in effects if isinstance(effect, ExpireAction)] == [NOW + SECOND]


def test_queued_children_from_before_a_crash_do_not_block_new_ones() -> None:
    """COM-12"""
    session = waiting_tree()
    take_over(session)
    session.when(spawn())
    assert session.running_agents() == ["worker-3"]
