"""Tasks that are paused, resumed and cancelled, with their parts and what works on them."""

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
from tests.control.rigs.tasks import attempts, board, cancel, create, pause, resume, retry, start, task
from tests.control.rigs.team import Team, all_of, one, team, types


def tree() -> Team:
    """The lead works on a task and two children on parts of it."""
    given = board("tsk_a")
    given.when(start("tsk_a"))
    given.spawns(2)
    return given


# Paused and resumed.


def test_a_pause_is_told_before_its_effect_and_keeps_its_reason() -> None:
    """SUB-06: pause and resume keep the reason."""
    given = board("tsk_a")
    given.when(start("tsk_a"))
    then = given.when(pause("tsk_a", reason="lunch"))

    assert types(then) == ["task.paused", "turn.interrupt.requested"]
    assert one(then, TaskPaused).reason == "lunch"
    assert one(then, TurnInterruptRequested).reason == "the task was paused: lunch"
    assert [type(effect) for effect in then.effects] == [StopRun]
    assert then.answer == TaskChanged(session_id=SESSION, task_id="tsk_a", status="blocked", sequence=then.before + 2)


def test_a_paused_task_is_neither_done_nor_failed_and_goes_on_where_it_was() -> None:
    given = board("tsk_a")
    given.when(start("tsk_a"))
    given.when(pause("tsk_a"))
    assert [name for name in types(given.stopped("lead")) if name.startswith("task")] == []
    assert given.refuses(start("tsk_a")).code == "task_paused"

    then = given.when(resume("tsk_a", reason="back"))
    assert one(then, TaskResumed).reason == "back"
    assert attempts(then) == [], "the attempt goes on, in another turn"
    (scope,) = [new.scope for new in then.decision.facts if isinstance(new.fact, TurnSubmitted)]
    assert (scope.task, scope.turn, scope.attempt) == ("tsk_a", "trn_3", 1)
    assert (one(then, TurnSubmitted).input.text, one(then, TurnSubmitted).resumes) == (RESUME_INPUT, True)
    assert one(given.says("lead"), TaskCompleted).summary == "Done."


def test_a_task_that_is_resumed_before_its_run_has_stopped_goes_on_behind_it() -> None:
    given = board("tsk_a")
    given.when(start("tsk_a"))
    given.when(pause("tsk_a"))
    then = given.when(resume("tsk_a"))
    assert types(then) == ["task.resumed", "turn.submitted", "queue.added"]

    then = given.stopped("lead")
    assert "turn.started" in types(then)
    assert [name for name in types(then) if name.startswith("task")] == []
    given.says("lead")
    assert given.state.tasks == {}


def test_turns_of_a_paused_task_wait_in_the_queue_and_others_go_past_them() -> None:
    """CTL-08"""
    given = board("tsk_a", "tsk_b", "tsk_c")
    for name in ("tsk_a", "tsk_b", "tsk_c"):
        given.when(start(name))
    given.when(pause("tsk_b"))
    given.says("lead")
    assert given.run_of("lead").turn == task(given, "tsk_c").turn
    given.says("lead")
    assert given.of("lead").run is None
    assert [queued.task for queued in given.of("lead").queue] == ["tsk_b"]

    given.when(submit("and you?", session_id=SESSION))
    assert given.of("lead").run is not None, "a person's words do not wait behind a paused task"
    given.says("lead")
    then = given.when(resume("tsk_b"))
    assert types(then)[:2] == ["task.resumed", "turn.started"]
    given.says("lead")
    assert given.state.tasks == {}


def test_children_of_a_paused_task_pause_with_it_and_resume_within_the_budget() -> None:
    given = board("tsk_a", budget=1)
    given.when(start("tsk_a"))
    given.spawns(2)
    then = given.when(pause("tsk_a", reason="wait"))

    assert [fact.reason for fact in all_of(then, TaskPaused)] == ["wait"] * 3
    assert len(all_of(then, TurnInterruptRequested)) == 2
    given.stopped("lead")
    given.stopped("worker-1")
    assert given.works() == [], "nobody takes a slot for a paused task"
    assert (given.status("worker-1"), given.status("worker-2")) == ("waiting", "queued")

    then = given.when(resume("tsk_a"))
    assert len(all_of(then, TaskResumed)) == 3
    assert given.works() == ["lead", "worker-1"]
    given.says("worker-1")
    assert given.works() == ["lead", "worker-2"]
    given.says("worker-2")
    given.says("lead")
    assert all_of(given.when(submit("more", session_id=SESSION)), TaskCompleted) == []
    given.says("lead")
    assert given.state.tasks == {}


def test_input_to_a_child_of_a_paused_task_starts_when_the_task_resumes() -> None:
    given = team()
    given.spawns(review=True)
    given.says("worker-1", "Look at it.")
    part = next(one.task for one in given.state.tasks.values() if one.parent_task)
    given.when(pause(part))
    given.uses("lead", "submit_verdict", agent="worker-1", verdict="changes_requested", summary="Shorter.")
    assert given.works() == ["lead"], "nobody goes on with what is paused"
    assert len(given.of("worker-1").queue) == 1

    given.when(resume(part))
    assert given.works() == ["lead", "worker-1"]


def test_nobody_is_woken_for_a_paused_task() -> None:
    given = team(mode="auto")
    given.spawns()
    given.uses("lead", "Finalize")
    whole = next(iter(given.state.tasks))
    given.when(pause(whole))
    then = given.stopped("worker-1")

    assert one(then, WorkerNotification).status == "interrupted"
    assert "turn.started" not in types(then)


def test_a_task_that_nobody_began_can_be_paused_and_is_not_begun() -> None:
    given = board("tsk_a")
    assert types(given.when(pause("tsk_a"))) == ["task.paused"]
    assert given.refuses(pause("tsk_a")).code == "task_paused"
    assert types(given.when(resume("tsk_a"))) == ["task.resumed"]
    assert given.refuses(resume("tsk_a")).code == "task_not_paused"


# Cancelled.


def test_a_cancel_records_its_intent_first_and_reaches_everyone() -> None:
    """CTL-08"""
    given = tree()
    given.says("worker-1", "A part is there.")
    then = given.when(cancel("tsk_a", reason="enough"))

    requested = [new.scope.task for new in then.decision.facts if isinstance(new.fact, TaskCancelRequested)]
    assert requested == ["tsk_a", "tsk_2"]
    assert types(then)[:2] == ["task.cancel.requested", "task.cancel.requested"]
    assert {fact.reason for fact in all_of(then, TurnInterruptRequested)} == {"enough"}
    assert len(all_of(then, TurnInterruptRequested)) == 2
    given.stopped("lead", "cancelled")
    then = given.stopped("worker-2", "cancelled")
    assert one(then, SubagentCancelled).reason == "enough"
    over = [new.scope.task for new in then.decision.facts if isinstance(new.fact, TaskCancelled)]
    assert over == ["tsk_2", "tsk_a"]
    assert (given.status("worker-1"), given.status("worker-2")) == ("completed", "cancelled")
    assert given.state.tasks == {}
    assert given.refuses(retry("tsk_a")).code == "unknown_task"


def test_a_cancelled_task_takes_its_turn_out_of_the_queue_and_says_so() -> None:
    """CTL-08: the fact says which turns are dropped."""
    given = board("tsk_a", "tsk_b")
    given.when(start("tsk_a"))
    given.when(start("tsk_b"))
    then = given.when(cancel("tsk_b", reason="not needed"))

    assert types(then) == ["task.cancel.requested", "queue.removed", "task.cancelled", "snapshot.updated"]
    assert one(then, QueueRemoved).reason == "not needed"
    assert one(then, TaskCancelled).reason == "not needed"
    assert given.run_of("lead").turn == task(given, "tsk_a").turn


def test_a_cancel_leaves_what_is_queued_for_others() -> None:
    given = board("tsk_a", "tsk_b")
    given.when(start("tsk_a"))
    given.when(start("tsk_b"))
    given.when(cancel("tsk_a"))
    given.stopped("lead", "cancelled")

    assert list(given.state.tasks) == ["tsk_b"]
    assert given.run_of("lead").turn == task(given, "tsk_b").turn


def test_parts_that_nobody_began_are_cancelled_with_the_whole() -> None:
    given = board("tsk_a")
    given.when(create("tsk_b", parent_task="tsk_a"))
    given.when(create("tsk_c", parent_task="tsk_b"))
    given.when(create("tsk_d", parent_task="tsk_a"))
    given.when(CompleteTask(session_id=SESSION, task_id="tsk_d"))
    then = given.when(cancel("tsk_a"))

    over = [new.scope.task for new in then.decision.facts if isinstance(new.fact, TaskCancelled)]
    assert over == ["tsk_c", "tsk_b", "tsk_a"]
    assert given.state.tasks == {}


def test_a_second_cancel_changes_nothing() -> None:
    given = board("tsk_a")
    given.when(start("tsk_a"))
    given.when(cancel("tsk_a"))
    given.when(cancel("tsk_a")).then_nothing()
    assert given.refuses(pause("tsk_a")).code == "unknown_task"
    assert given.refuses(retry("tsk_a")).code == "task_running"


def test_a_parent_that_waits_for_a_cancelled_child_goes_on() -> None:
    """CTL-08: nobody is left waiting."""
    given = team()
    given.spawns()
    given.uses("lead", "wait_subagents")
    part = next(one.task for one in given.state.tasks.values() if one.parent_task)
    given.when(cancel(part))
    then = given.stopped("worker-1", "cancelled")

    assert "tool.completed" in types(then)
    assert "model.requested" in types(then)


def test_the_task_of_a_cancelled_turn_is_over_whatever_waits_behind_it() -> None:
    given = team()
    given.spawns()
    given.when(submit("next", session_id=SESSION))
    given.when(interrupt(cascade=True))
    given.stopped("worker-1", "cancelled")
    then = given.stopped("lead")

    assert one(then, TaskCancelled).reason == "the turn was interrupted"
    assert "turn.started" in types(then)
    assert given.state.tasks == {}


def test_the_task_of_a_turn_does_not_wait_for_a_part_that_failed() -> None:
    """CTL-07: what failed stays on the board."""
    given = team()
    given.spawns()
    given.uses("lead", "wait_subagents")
    given.fails("worker-1")
    then = given.says("lead", "It did not work.")

    assert one(then, TaskCompleted).summary == "It did not work."
    assert [(one.title, one.work) for one in given.state.tasks.values()] == [("part 1", "over")]


def test_an_agent_stops_its_own_work_and_its_childrens_only() -> None:
    given = tree()
    assert given.denied("worker-1", "update_task", task_id="tsk_a", status="cancelled") == "not_your_child"
    other = next(one.task for one in given.state.tasks.values() if one.assignee == "worker-2")
    assert given.denied("worker-1", "update_task", task_id=other, status="cancelled") == "not_your_child"

    then = given.uses("lead", "update_task", task_id=other, status="cancelled", reason="not needed")
    assert one(then, TurnInterruptRequested).reason == "not needed"
    given.stopped("worker-2", "cancelled")
    assert given.status("worker-2") == "cancelled"


@pytest.mark.parametrize("paused", [True, False])
def test_a_child_that_waits_for_a_slot_is_cancelled_at_once(paused: bool) -> None:
    given = board("tsk_a", "tsk_b", budget=1)
    given.when(start("tsk_a", assignee="worker"))
    given.when(start("tsk_b", assignee="worker"))
    if paused:
        given.when(pause("tsk_b"))
    then = given.when(cancel("tsk_b"))

    assert all_of(then, SubagentStarted) == []
    assert one(then, TaskCancelled).reason == "its task was cancelled"
    assert given.status("worker-2") == "cancelled"


def test_an_agent_ends_what_another_one_worked_on_and_failed_at() -> None:
    """Nobody has it in hand any more: its newest attempt is over."""
    given = board()
    given.when(submit("look after it", session_id=SESSION))
    given.when(create("tsk_b", assignee="critic"))
    given.when(start("tsk_b", assignee="critic"))
    assert given.denied("lead", "update_task", task_id="tsk_b", status="cancelled") == "not_your_child"

    given.fails("critic")
    given.uses("lead", "update_task", task_id="tsk_b", status="cancelled")

    assert "tsk_b" not in given.state.tasks
