"""Pausing, resuming and cancelling tasks with their subtasks and runs."""

from __future__ import annotations

import pytest

from callboard.contracts.commands.task import CompleteTask, TaskChanged
from callboard.contracts.facts.queue import QueueRemoved
from callboard.contracts.facts.subagent import SubagentCancelled, SubagentStarted, WorkerNotification
from callboard.contracts.facts.task import TaskCancelled, TaskCancelRequested, TaskCompleted, TaskPaused, TaskResumed
from callboard.contracts.facts.turn import TurnInterruptRequested, TurnSubmitted
from callboard.control.decide.task.control import RESUME_INPUT
from callboard.control.effects import StopRun
from tests.control.rigs.examples import SESSION, interrupt, submit
from tests.control.rigs.tasks import board, cancel, create, open_task, pause, resume, retry, start, started_attempts
from tests.control.rigs.team import Team, fact_types, facts_of, only_fact, team


def session_with_tree() -> Team:
    """Return a session whose lead works on a task and two children on its subtasks."""
    session = board("tsk_a")
    session.when(start("tsk_a"))
    session.spawns(2)
    return session


# Pause and resume.


def test_a_pause_is_recorded_before_its_interrupt_with_its_reason() -> None:
    """SUB-06: pause and resume record the reason."""
    session = board("tsk_a")
    session.when(start("tsk_a"))
    result = session.when(pause("tsk_a", reason="lunch"))

    assert fact_types(result) == ["task.paused", "turn.interrupt.requested"]
    assert only_fact(result, TaskPaused).reason == "lunch"
    assert only_fact(result, TurnInterruptRequested).reason == "the task was paused: lunch"
    assert [type(effect) for effect in result.effects] == [StopRun]
    assert result.answer == TaskChanged(
        session_id=SESSION, task_id="tsk_a", status="blocked", sequence=result.before + 2
    )


def test_a_paused_task_is_neither_done_nor_failed_and_continues_its_attempt() -> None:
    session = board("tsk_a")
    session.when(start("tsk_a"))
    session.when(pause("tsk_a"))
    assert [name for name in fact_types(session.stops("lead")) if name.startswith("task")] == []
    assert session.refuses(start("tsk_a")).code == "task_paused"

    result = session.when(resume("tsk_a", reason="back"))
    assert only_fact(result, TaskResumed).reason == "back"
    assert started_attempts(result) == [], "the attempt continues in another turn"
    (scope,) = [new.scope for new in result.decision.facts if isinstance(new.fact, TurnSubmitted)]
    assert (scope.task, scope.turn, scope.attempt) == ("tsk_a", "trn_3", 1)
    assert (only_fact(result, TurnSubmitted).input.text, only_fact(result, TurnSubmitted).resumes) == (
        RESUME_INPUT,
        True,
    )
    assert only_fact(session.responds("lead"), TaskCompleted).summary == "Done."


def test_a_task_resumed_before_its_run_has_stopped_continues_after_it() -> None:
    session = board("tsk_a")
    session.when(start("tsk_a"))
    session.when(pause("tsk_a"))
    result = session.when(resume("tsk_a"))
    assert fact_types(result) == ["task.resumed", "turn.submitted", "queue.added"]

    result = session.stops("lead")
    assert "turn.started" in fact_types(result)
    assert [name for name in fact_types(result) if name.startswith("task")] == []
    session.responds("lead")
    assert session.state.tasks == {}


def test_turns_of_a_paused_task_wait_in_the_queue_and_others_overtake_them() -> None:
    """CTL-08"""
    session = board("tsk_a", "tsk_b", "tsk_c")
    for name in ("tsk_a", "tsk_b", "tsk_c"):
        session.when(start(name))
    session.when(pause("tsk_b"))
    session.responds("lead")
    assert session.run_of("lead").turn == open_task(session, "tsk_c").turn
    session.responds("lead")
    assert session.thread_of("lead").run is None
    assert [queued.task for queued in session.thread_of("lead").queue] == ["tsk_b"]

    session.when(submit("and you?", session_id=SESSION))
    assert session.thread_of("lead").run is not None, "a person's input does not wait behind a paused task"
    session.responds("lead")
    result = session.when(resume("tsk_b"))
    assert fact_types(result)[:2] == ["task.resumed", "turn.started"]
    session.responds("lead")
    assert session.state.tasks == {}


def test_children_of_a_paused_task_pause_with_it_and_resume_within_the_budget() -> None:
    session = board("tsk_a", budget=1)
    session.when(start("tsk_a"))
    session.spawns(2)
    result = session.when(pause("tsk_a", reason="wait"))

    assert [fact.reason for fact in facts_of(result, TaskPaused)] == ["wait"] * 3
    assert len(facts_of(result, TurnInterruptRequested)) == 2
    session.stops("lead")
    session.stops("worker-1")
    assert session.running_agents() == [], "a paused task takes no slot"
    assert (session.child_status("worker-1"), session.child_status("worker-2")) == ("waiting", "queued")

    result = session.when(resume("tsk_a"))
    assert len(facts_of(result, TaskResumed)) == 3
    assert session.running_agents() == ["lead", "worker-1"]
    session.responds("worker-1")
    assert session.running_agents() == ["lead", "worker-2"]
    session.responds("worker-2")
    session.responds("lead")
    assert facts_of(session.when(submit("more", session_id=SESSION)), TaskCompleted) == []
    session.responds("lead")
    assert session.state.tasks == {}


def test_input_to_a_child_of_a_paused_task_starts_when_the_task_resumes() -> None:
    session = team()
    session.spawns(review=True)
    session.responds("worker-1", "Look at it.")
    subtask = next(task.task for task in session.state.tasks.values() if task.parent_task)
    session.when(pause(subtask))
    session.uses("lead", "submit_verdict", agent="worker-1", verdict="changes_requested", summary="Shorter.")
    assert session.running_agents() == ["lead"], "no agent continues a paused task"
    assert len(session.thread_of("worker-1").queue) == 1

    session.when(resume(subtask))
    assert session.running_agents() == ["lead", "worker-1"]


def test_a_paused_task_wakes_no_agent() -> None:
    session = team(mode="auto")
    session.spawns()
    session.uses("lead", "Finalize")
    parent = next(iter(session.state.tasks))
    session.when(pause(parent))
    result = session.stops("worker-1")

    assert only_fact(result, WorkerNotification).status == "interrupted"
    assert "turn.started" not in fact_types(result)


def test_a_task_that_never_started_can_be_paused_and_resumed_without_a_start() -> None:
    session = board("tsk_a")
    assert fact_types(session.when(pause("tsk_a"))) == ["task.paused"]
    assert session.refuses(pause("tsk_a")).code == "task_paused"
    assert fact_types(session.when(resume("tsk_a"))) == ["task.resumed"]
    assert session.refuses(resume("tsk_a")).code == "task_not_paused"


# Cancel.


def test_a_cancel_records_its_intent_first_and_stops_every_run_of_the_tree() -> None:
    """CTL-08"""
    session = session_with_tree()
    session.responds("worker-1", "A part is there.")
    result = session.when(cancel("tsk_a", reason="enough"))

    requested = [new.scope.task for new in result.decision.facts if isinstance(new.fact, TaskCancelRequested)]
    assert requested == ["tsk_a", "tsk_2"]
    assert fact_types(result)[:2] == ["task.cancel.requested", "task.cancel.requested"]
    assert {fact.reason for fact in facts_of(result, TurnInterruptRequested)} == {"enough"}
    assert len(facts_of(result, TurnInterruptRequested)) == 2
    session.stops("lead", "cancelled")
    result = session.stops("worker-2", "cancelled")
    assert only_fact(result, SubagentCancelled).reason == "enough"
    cancelled = [new.scope.task for new in result.decision.facts if isinstance(new.fact, TaskCancelled)]
    assert cancelled == ["tsk_2", "tsk_a"]
    assert (session.child_status("worker-1"), session.child_status("worker-2")) == ("completed", "cancelled")
    assert session.state.tasks == {}
    assert session.refuses(retry("tsk_a")).code == "unknown_task"


def test_cancelling_a_task_removes_its_queued_turn_with_the_reason() -> None:
    """CTL-08: a fact names each dropped turn."""
    session = board("tsk_a", "tsk_b")
    session.when(start("tsk_a"))
    session.when(start("tsk_b"))
    result = session.when(cancel("tsk_b", reason="not needed"))

    assert fact_types(result) == ["task.cancel.requested", "queue.removed", "task.cancelled", "snapshot.updated"]
    assert only_fact(result, QueueRemoved).reason == "not needed"
    assert only_fact(result, TaskCancelled).reason == "not needed"
    assert session.run_of("lead").turn == open_task(session, "tsk_a").turn


def test_a_cancel_keeps_the_queued_turns_of_other_tasks() -> None:
    session = board("tsk_a", "tsk_b")
    session.when(start("tsk_a"))
    session.when(start("tsk_b"))
    session.when(cancel("tsk_a"))
    session.stops("lead", "cancelled")

    assert list(session.state.tasks) == ["tsk_b"]
    assert session.run_of("lead").turn == open_task(session, "tsk_b").turn


def test_subtasks_that_never_started_are_cancelled_with_their_parent() -> None:
    session = board("tsk_a")
    session.when(create("tsk_b", parent_task="tsk_a"))
    session.when(create("tsk_c", parent_task="tsk_b"))
    session.when(create("tsk_d", parent_task="tsk_a"))
    session.when(CompleteTask(session_id=SESSION, task_id="tsk_d"))
    result = session.when(cancel("tsk_a"))

    cancelled = [new.scope.task for new in result.decision.facts if isinstance(new.fact, TaskCancelled)]
    assert cancelled == ["tsk_c", "tsk_b", "tsk_a"]
    assert session.state.tasks == {}


def test_a_second_cancel_changes_nothing() -> None:
    session = board("tsk_a")
    session.when(start("tsk_a"))
    session.when(cancel("tsk_a"))
    session.when(cancel("tsk_a")).then_nothing()
    assert session.refuses(pause("tsk_a")).code == "unknown_task"
    assert session.refuses(retry("tsk_a")).code == "task_running"


def test_a_parent_that_waits_for_a_cancelled_child_continues() -> None:
    """CTL-08: the wait ends."""
    session = team()
    session.spawns()
    session.uses("lead", "wait_subagents")
    subtask = next(task.task for task in session.state.tasks.values() if task.parent_task)
    session.when(cancel(subtask))
    result = session.stops("worker-1", "cancelled")

    assert "tool.completed" in fact_types(result)
    assert "model.requested" in fact_types(result)


def test_an_interrupted_turns_task_is_cancelled_before_the_next_turn_starts() -> None:
    session = team()
    session.spawns()
    session.when(submit("next", session_id=SESSION))
    session.when(interrupt(cascade=True))
    session.stops("worker-1", "cancelled")
    result = session.stops("lead")

    assert only_fact(result, TaskCancelled).reason == "the turn was interrupted"
    assert "turn.started" in fact_types(result)
    assert session.state.tasks == {}


def test_the_task_of_a_turn_does_not_wait_for_a_failed_subtask() -> None:
    """CTL-07: the failed subtask stays on the board."""
    session = team()
    session.spawns()
    session.uses("lead", "wait_subagents")
    session.fails("worker-1")
    result = session.responds("lead", "It did not work.")

    assert only_fact(result, TaskCompleted).summary == "It did not work."
    assert [(task.title, task.work) for task in session.state.tasks.values()] == [("part 1", "over")]


def test_an_agent_stops_only_its_own_work_and_its_childrens() -> None:
    session = session_with_tree()
    assert session.refusal_code("worker-1", "update_task", task_id="tsk_a", status="cancelled") == "not_your_child"
    other = next(task.task for task in session.state.tasks.values() if task.assignee == "worker-2")
    assert session.refusal_code("worker-1", "update_task", task_id=other, status="cancelled") == "not_your_child"

    result = session.uses("lead", "update_task", task_id=other, status="cancelled", reason="not needed")
    assert only_fact(result, TurnInterruptRequested).reason == "not needed"
    session.stops("worker-2", "cancelled")
    assert session.child_status("worker-2") == "cancelled"


@pytest.mark.parametrize("paused", [True, False])
def test_a_child_that_waits_for_a_slot_is_cancelled_at_once(paused: bool) -> None:
    session = board("tsk_a", "tsk_b", budget=1)
    session.when(start("tsk_a", assignee="worker"))
    session.when(start("tsk_b", assignee="worker"))
    if paused:
        session.when(pause("tsk_b"))
    result = session.when(cancel("tsk_b"))

    assert facts_of(result, SubagentStarted) == []
    assert only_fact(result, TaskCancelled).reason == "its task was cancelled"
    assert session.child_status("worker-2") == "cancelled"


def test_an_agent_can_cancel_a_task_at_which_another_agent_failed() -> None:
    """Its newest attempt has ended, so no agent works on it."""
    session = board()
    session.when(submit("look after it", session_id=SESSION))
    session.when(create("tsk_b", assignee="critic"))
    session.when(start("tsk_b", assignee="critic"))
    assert session.refusal_code("lead", "update_task", task_id="tsk_b", status="cancelled") == "not_your_child"

    session.fails("critic")
    session.uses("lead", "update_task", task_id="tsk_b", status="cancelled")

    assert "tsk_b" not in session.state.tasks
