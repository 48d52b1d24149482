"""Tasks of the board: start, retry, and recorded results."""

from __future__ import annotations

import pytest

from callboard.contracts.commands.queue import RemoveQueuedTurn
from callboard.contracts.commands.subagent import SendSubagentInput
from callboard.contracts.commands.task import AppendTaskProgress, CompleteTask, FailTask, TaskChanged, UpdateTask
from callboard.contracts.commands.turn import ResumeThread, TurnAccepted
from callboard.contracts.content import Text
from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.queue import QueueAdded
from callboard.contracts.facts.subagent import SubagentCompleted, SubagentContinued, SubagentSpawned
from callboard.contracts.facts.task import SnapshotUpdated, TaskCompleted, TaskFailed, TaskStarted, TaskUpdated
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.scope import Scope
from tests.control.rigs.examples import SESSION, interrupt, submit
from tests.control.rigs.tasks import board, create, open_task, pause, retry, start, started_attempts
from tests.control.rigs.team import fact_types, facts_of, only_fact

LEADS = Scope(agent="lead", thread="thr_1", turn="trn_2", task="tsk_a", attempt=1)


def test_a_started_task_gives_its_agent_a_turn_with_its_title_objective_and_acceptance() -> None:
    """Control plane spec, Tasks: a run of the task is an attempt, counted from 1."""
    session = board()
    session.when(create("tsk_a", title="The report", objective="Write it down.", acceptance="It is one page."))
    result = session.when(start("tsk_a", reason="it is time"))

    assert started_attempts(result) == [(TaskStarted(assignee="lead", reason="it is time"), LEADS)]
    assert only_fact(result, TurnSubmitted) == TurnSubmitted(
        input=Text(text="The report\n\nWrite it down.\n\nIt is done when: It is one page."),
        mode="chat",
        permission_mode="ask",
    )
    assert fact_types(result) == [
        "task.started",
        "turn.submitted",
        "turn.started",
        "routing.resolved",
        "model.requested",
    ]
    assert result.answer == TaskChanged(
        session_id=SESSION, task_id="tsk_a", status="running", sequence=result.before + 5
    )


def test_a_task_completes_with_the_turn_of_its_attempt() -> None:
    session = board("tsk_a")
    session.when(start("tsk_a"))
    result = session.responds("lead", "One page.")

    scope = Scope(agent="lead", thread="thr_1", run="run_2", task="tsk_a", attempt=1)
    result.ends_with((TaskCompleted(summary="One page."), scope), (SnapshotUpdated(through=result.before + 6), scope))
    assert session.state.tasks == {}


def test_a_task_started_for_a_busy_agent_waits_in_its_queue() -> None:
    session = board("tsk_a", "tsk_b")
    session.when(start("tsk_a"))
    result = session.when(start("tsk_b"))

    assert fact_types(result) == ["task.started", "turn.submitted", "queue.added"]
    assert only_fact(result, QueueAdded).position == 1
    session.responds("lead")
    assert list(session.state.tasks) == ["tsk_b"]
    assert session.run_of("lead").turn == open_task(session, "tsk_b").turn
    session.responds("lead")
    assert session.state.tasks == {}


def test_a_task_started_for_a_subagent_spawns_a_child_without_a_second_task() -> None:
    session = board("tsk_a")
    result = session.when(start("tsk_a", assignee="worker"))

    assert "task.created" not in fact_types(result)
    assert [name for name in fact_types(result) if name.startswith(("thread", "subagent", "task"))] == [
        "thread.opened",
        "subagent.spawned",
        "task.started",
        "subagent.started",
    ]
    assert only_fact(result, SubagentSpawned).objective == Text(text="The tsk_a")
    ((fact, scope),) = started_attempts(result)
    assert fact == TaskStarted(assignee="worker-1")
    assert (scope.thread, scope.turn, scope.parent_thread, scope.attempt) == ("thr_2", "trn_2", "thr_1", 1)
    result = session.responds("worker-1", "Written.")
    assert only_fact(result, SubagentCompleted).result == Text(text="Written.")
    assert only_fact(result, TaskCompleted) == TaskCompleted(summary="Written.")
    assert session.state.tasks == {}


def test_a_persons_task_runs_without_a_turn() -> None:
    session = board("tsk_a")
    result = session.when(start("tsk_a", assignee="owner"))

    assert fact_types(result) == ["thread.opened", "task.started"]
    assert open_task(session, "tsk_a").work == "running"
    done = session.when(CompleteTask(session_id=SESSION, task_id="tsk_a", summary="I did it.", reason="by hand"))
    assert only_fact(done, TaskCompleted) == TaskCompleted(summary="I did it.", reason="by hand")


def test_starting_a_task_for_an_absent_main_agent_adds_it_to_the_session() -> None:
    session = board("tsk_a")
    result = session.when(start("tsk_a", assignee="critic"))

    assert fact_types(result)[:3] == ["thread.opened", "task.started", "turn.submitted"]
    assert session.running_agents() == ["critic"]


def test_a_task_cannot_start_before_its_dependencies_are_done() -> None:
    session = board("tsk_a", "tsk_b")
    session.when(create("tsk_c", depends_on=("tsk_a", "tsk_b")))
    session.when(CompleteTask(session_id=SESSION, task_id="tsk_a"))
    refused = session.refuses(start("tsk_c"))
    assert (refused.code, refused.message) == ("task_not_ready", "The task tsk_c waits for tsk_b.")

    session.when(UpdateTask(session_id=SESSION, task_id="tsk_b", status="cancelled"))
    refused = session.refuses(start("tsk_c"))
    assert "unlink_tasks" in refused.hint


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (start("tsk_a"), "task_running"),
        (retry("tsk_a"), "task_running"),
        (start("tsk_none"), "unknown_task"),
        (retry("tsk_b"), "task_not_ready"),
        (start("tsk_b", assignee="ghost"), "unknown_agent"),
        (FailTask(session_id=SESSION, task_id="tsk_b", message="no"), "task_not_running"),
        (AppendTaskProgress(session_id=SESSION, task_id="tsk_b"), "invalid_input"),
        (create("tsk_a"), "task_id_used"),
    ],
)
def test_invalid_commands_of_a_task_are_refused(command: object, code: str) -> None:
    session = board("tsk_a", "tsk_b")
    session.when(start("tsk_a"))
    assert session.refuses(command).code == code  # pyright: ignore[reportArgumentType]


def test_a_failed_task_stays_open_and_a_retry_is_a_new_attempt() -> None:
    """CTL-07"""
    session = board("tsk_a")
    session.when(start("tsk_a"))
    failed = session.fails("lead")
    assert only_fact(failed, TaskFailed) == TaskFailed(
        code="model_unavailable", message="The provider cannot be reached."
    )
    assert (open_task(session, "tsk_a").work, open_task(session, "tsk_a").attempt) == ("over", 1)
    assert session.refuses(start("tsk_a")).hint == "Begin another attempt with retry_task."

    result = session.when(retry("tsk_a", reason="it is back"))
    ((fact, scope),) = started_attempts(result)
    assert (fact, scope.attempt, scope.turn) == (TaskStarted(assignee="lead", reason="it is back"), 2, "trn_3")
    assert only_fact(result, TurnSubmitted).input.text.startswith("This is attempt 2")
    assert only_fact(session.responds("lead"), TaskCompleted).summary == "Done."


def test_a_failed_child_continues_with_the_next_attempt_of_its_task() -> None:
    """CTL-07"""
    session = board("tsk_a")
    session.when(start("tsk_a", assignee="worker"))
    session.fails("worker-1")
    assert (session.child_status("worker-1"), open_task(session, "tsk_a").work) == ("failed", "over")

    result = session.when(retry("tsk_a"))
    assert facts_of(result, SubagentContinued) == [SubagentContinued()]
    assert [scope.attempt for _, scope in started_attempts(result)] == [2]
    assert session.child_status("worker-1") == "running"
    session.responds("worker-1", "Now.")
    assert session.state.tasks == {}


def test_a_failed_task_can_be_retried_with_another_agent() -> None:
    session = board("tsk_a")
    session.when(start("tsk_a", assignee="worker"))
    session.fails("worker-1")
    session.when(retry("tsk_a", assignee="critic"))

    assert session.running_agents() == ["critic"]
    assert open_task(session, "tsk_a").assignee == "critic"
    result = session.responds("critic")
    assert only_fact(result, TaskCompleted).summary == "Done."
    assert session.child_status("worker-1") == "failed"


def test_a_child_works_on_one_task_at_a_time() -> None:
    session = board("tsk_a", "tsk_b")
    session.when(start("tsk_a", assignee="worker"))
    assert session.refuses(start("tsk_b", assignee="worker-1")).code == "thread_busy"
    session.responds("worker-1")
    session.when(start("tsk_b", assignee="worker-1"))
    assert session.child_status("worker-1") == "running"
    session.responds("worker-1")
    assert session.state.tasks == {}


def test_a_started_task_whose_turn_is_interrupted_can_be_retried() -> None:
    session = board("tsk_a")
    session.when(start("tsk_a"))
    session.when(interrupt(reason="wait"))
    result = session.stops("lead")

    assert only_fact(result, TaskFailed).code == "interrupted"
    assert open_task(session, "tsk_a").work == "over"
    session.when(retry("tsk_a"))
    assert open_task(session, "tsk_a").attempt == 2


@pytest.mark.parametrize("cause", ["crash", "shutdown", "lost"])
def test_an_attempt_whose_process_ended_has_failed(cause: str) -> None:
    session = board("tsk_a")
    session.when(start("tsk_a"))
    result = session.stops("lead", cause)  # pyright: ignore[reportArgumentType]

    assert only_fact(result, TaskFailed).code == "interrupted"
    assert open_task(session, "tsk_a").work == "over"


def test_removing_the_queued_turn_of_a_task_fails_its_attempt() -> None:
    session = board("tsk_a", "tsk_b")
    session.when(start("tsk_a"))
    session.when(start("tsk_b"))
    result = session.when(RemoveQueuedTurn(session_id=SESSION, turn_id=open_task(session, "tsk_b").turn))

    assert fact_types(result) == ["queue.removed", "task.failed", "snapshot.updated"]
    assert open_task(session, "tsk_b").work == "over"


def test_a_task_completes_only_after_its_delegated_subtasks_are_done_and_read() -> None:
    session = board("tsk_a")
    session.when(start("tsk_a"))
    session.uses("lead", "spawn_subagent", agent="worker", objective="a part")
    subtask = next(task for task in session.state.tasks.values() if task.task != "tsk_a")
    assert (subtask.parent_task, open_task(session, "tsk_a").delegated) == ("tsk_a", True)

    session.responds("lead", "They work on it.")
    assert "tsk_a" in session.state.tasks, "it is not done before its subtask"
    session.responds("worker-1")
    session.when(create("tsk_c"))
    assert "tsk_a" in session.state.tasks, "the result of the subtask is unread"
    session.when(start("tsk_c"))
    session.responds("lead", "All there.")
    assert session.state.tasks == {}


def test_progress_phase_counters_and_refs_are_recorded_and_refs_accumulate() -> None:
    session = board("tsk_a")
    first, second = Ref(type="file", ref="a.md"), Ref(type="diff", ref="blob:1")
    session.when(AppendTaskProgress(session_id=SESSION, task_id="tsk_a", phase="reading", counters={"files": 3}))
    session.when(AppendTaskProgress(session_id=SESSION, task_id="tsk_a", refs=(first,)))
    result = session.when(
        AppendTaskProgress(session_id=SESSION, task_id="tsk_a", progress="half", refs=(first, second))
    )

    assert only_fact(result, TaskUpdated) == TaskUpdated(progress="half", refs=(first, second))
    done = session.when(CompleteTask(session_id=SESSION, task_id="tsk_a", summary="There."))
    assert only_fact(done, TaskCompleted) == TaskCompleted(summary="There.", refs=(first, second))


def test_a_task_recorded_as_done_gets_no_fact_at_the_end_of_its_turn() -> None:
    session = board("tsk_a")
    session.when(start("tsk_a", assignee="worker"))
    session.uses("worker-1", "update_task", task_id="tsk_a", status="done", progress="It is there.")
    assert session.state.tasks == {}
    result = session.responds("worker-1")

    assert [name for name in fact_types(result) if name.startswith("task")] == []
    assert session.child_status("worker-1") == "completed"


def test_an_attempt_reported_as_failed_can_be_retried_once_its_run_has_ended() -> None:
    """CTL-07"""
    session = board("tsk_a")
    session.when(start("tsk_a"))
    result = session.when(FailTask(session_id=SESSION, task_id="tsk_a", code="wrong", message="Not what I meant."))
    assert only_fact(result, TaskFailed) == TaskFailed(code="wrong", message="Not what I meant.")
    assert session.refuses(retry("tsk_a")).code == "task_running"
    session.responds("lead")
    assert open_task(session, "tsk_a").work == "over"
    session.when(retry("tsk_a"))
    assert open_task(session, "tsk_a").attempt == 2


def test_a_retry_after_a_crash_of_a_child_continues_the_child() -> None:
    session = board("tsk_a")
    session.when(start("tsk_a", assignee="worker"))
    session.stops("worker-1", "crash")
    assert session.child_status("worker-1") == "waiting"
    result = session.when(retry("tsk_a"))

    assert [scope.attempt for _, scope in started_attempts(result)] == [2]
    assert session.child_status("worker-1") == "running"
    session.responds("worker-1")
    assert session.state.tasks == {}


def test_resuming_an_agent_after_a_crash_starts_the_next_attempt_of_its_task() -> None:
    """CTL-07"""
    session = board("tsk_a")
    session.when(start("tsk_a"))
    session.stops("lead", "crash")
    result = session.when(ResumeThread(session_id=SESSION, tree=True, reason="go on"))

    ((fact, scope),) = started_attempts(result)
    assert (fact, scope.attempt) == (TaskStarted(assignee="lead", reason="go on"), 2)
    session.responds("lead")
    assert session.state.tasks == {}


def test_more_input_for_a_child_starts_no_new_attempt() -> None:
    """CTL-07: a run is not a retry."""
    session = board("tsk_a")
    session.when(start("tsk_a", assignee="worker"))
    session.uses("worker-1", "list_subagents")
    session.when(SendSubagentInput(session_id=SESSION, agent="worker-1", text="and this"))
    session.responds("worker-1")
    session.fails("worker-1")
    assert (open_task(session, "tsk_a").attempt, open_task(session, "tsk_a").work) == (1, "over")
    session.when(retry("tsk_a"))
    assert open_task(session, "tsk_a").attempt == 2


def test_new_input_to_a_paused_agent_waits_behind_the_turn_of_a_paused_task() -> None:
    """D1, MAR-13: the earlier turn may not start, so the new one waits until a person resumes."""
    session = board("tsk_a")
    session.when(submit("work", session_id=SESSION))
    session.when(start("tsk_a"))
    session.when(pause("tsk_a"))
    session.fails("lead")

    result = session.when(submit("and you?", session_id=SESSION))

    assert fact_types(result) == ["turn.submitted", "queue.added"]
    assert isinstance(result.answer, TurnAccepted)
    assert result.answer.status == "queued"
    refused = session.refuses(submit("and you?", session_id=SESSION, when_busy="refuse"))
    assert refused.code == "thread_busy"
    resumed = session.when(ResumeThread(session_id=SESSION))
    assert fact_types(resumed)[:2] == ["thread.resumed", "turn.started"]
