"""Jobs: batches of independent items."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.contracts.commands.job import CancelJob, JobChanged, PauseJob, ResumeJob
from callboard.contracts.commands.subagent import CloseSubagent, SendSubagentInput
from callboard.contracts.commands.task import CompleteTask, CreateTask, UpdateTask
from callboard.contracts.commands.turn import InterruptTurn
from callboard.contracts.facts.job import JobCreated, JobItemRetried
from callboard.contracts.facts.subagent import SubagentClosed, SubagentSpawned, WorkerNotification
from callboard.contracts.facts.task import (
    TaskCancelled,
    TaskCancelRequested,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskPaused,
    TaskStarted,
)
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.control.decide.task.control import RESUME_INPUT
from callboard.control.outcomes import HostTakenOver
from tests.control.rigs.decisions import StepResult
from tests.control.rigs.examples import SESSION, interrupt, model_response, submit, text_part
from tests.control.rigs.jobs import JOB, create_job, retry_item, session_with_job
from tests.control.rigs.tasks import board, cancel, link, pause, retry, start
from tests.control.rigs.team import EDITOR, LEAD, WORKER, Team, agent_definition, fact_types, facts_of, only_fact, team


def task_ids(result: StepResult, kind: type[Any]) -> list[str]:
    """Return the task ids of the facts of that class, in order."""
    return [new.scope.task for new in result.decision.facts if isinstance(new.fact, kind)]


def test_a_job_is_a_task_with_one_subtask_per_item_and_runs_its_items_in_parallel() -> None:
    session = board()
    result = session.when(create_job("alpha", "beta\nand more", "gamma", parallel=2))

    job_task, *items = task_ids(result, TaskCreated)
    assert result.answer == JobChanged(
        session_id=SESSION,
        job_id=JOB,
        task_id=job_task,
        status="running",
        items=tuple(items),
        sequence=result.before + len(result.facts) - 1,
    )
    created = facts_of(result, TaskCreated)
    assert [(task.title, task.entity, task.parent_task) for task in created] == [
        ("Look at all", "automation_job", ""),
        ("alpha", "work_item", job_task),
        ("beta", "work_item", job_task),
        ("gamma", "work_item", job_task),
    ]
    assert only_fact(result, JobCreated) == JobCreated(agent="worker", items=3, parallel=2, permission_mode="ask")
    assert {new.scope.job for new in result.decision.facts if new.fact.type.startswith("task.")} == {JOB}
    assert task_ids(result, TaskStarted) == [job_task, *items[:2]], "at most two items run in parallel"
    assert [turn.input.text for turn in facts_of(result, TurnSubmitted)] == [
        "Look at this.\n\nalpha",
        "Look at this.\n\nbeta\nand more",
    ]
    assert session.running_agents() == ["worker-1", "worker-2"]


def test_the_next_item_starts_when_another_ends_and_the_job_ends_with_the_last() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    job_task, first, second = session.state.tasks
    result = session.responds("worker-1", "Alpha is fine.")

    assert task_ids(result, TaskCompleted) == [first]
    assert only_fact(result, TaskCompleted).summary == "Alpha is fine."
    assert task_ids(result, TaskStarted) == [second]
    assert only_fact(result, SubagentClosed).reason == "its item is done"
    assert only_fact(result, WorkerNotification).item == "", (
        "the notification has no receiver, so the lead does not wake"
    )

    result = session.responds("worker-2")
    assert task_ids(result, TaskCompleted) == [second, job_task]
    assert facts_of(result, TaskCompleted)[-1].summary == "2 of 2 items are done"
    assert (session.state.tasks, session.state.jobs, session.running_agents()) == ({}, {}, [])


def test_cancelling_a_job_keeps_finished_items_and_starts_no_other() -> None:
    """CTL-11: intent first, no more facts of the finished item, the end of the job last."""
    session = session_with_job("alpha", "beta", "gamma", parallel=1)
    job_task, first, second, third = session.state.tasks
    session.responds("worker-1")
    result = session.when(CancelJob(session_id=SESSION, job_id=JOB, reason="enough"))

    assert result.answer == JobChanged(
        session_id=SESSION,
        job_id=JOB,
        task_id=job_task,
        status="cancelling",
        items=(second, third),
        sequence=result.before + 4,
    )
    assert task_ids(result, TaskCancelRequested) == [job_task, second, third]
    assert fact_types(result).index("turn.interrupt.requested") > fact_types(result).index("task.cancel.requested")
    assert task_ids(result, TaskCancelled) == [third]
    result = session.stops("worker-2", "cancelled")
    assert task_ids(result, TaskCancelled) == [second, job_task]
    assert first not in {new.scope.task for new in result.decision.facts}
    assert (session.state.tasks, session.state.jobs, session.running_agents()) == ({}, {}, [])
    assert session.refuses(CancelJob(session_id=SESSION, job_id=JOB)).code == "unknown_job"


def test_a_retried_item_gets_another_attempt_with_the_same_worker() -> None:
    """CTL-11: a finished item is refused, and a failed item has one result."""
    session = session_with_job("alpha", "beta", parallel=2)
    job_task, first, second = session.state.tasks
    session.responds("worker-1")
    result = session.fails("worker-2")
    assert task_ids(result, TaskFailed) == [second, job_task]
    assert facts_of(result, TaskFailed)[-1].message == "1 of 2 items are done, 1 failed"

    assert session.refuses(retry_item(first)).code == "job_item_done"
    result = session.when(retry_item(second, reason="once more"))
    assert result.answer == JobChanged(
        session_id=SESSION,
        job_id=JOB,
        task_id=job_task,
        status="running",
        items=(second,),
        sequence=result.before + 10,
    )
    assert only_fact(result, JobItemRetried).reason == "once more"
    started = [
        (new.scope.task, new.scope.attempt) for new in result.decision.facts if isinstance(new.fact, TaskStarted)
    ]
    assert started == [(second, 2), (job_task, 2)]
    assert only_fact(result, TurnSubmitted).input.text.startswith(
        "This is attempt 2. The attempt before it ended without success."
    )
    assert session.running_agents() == ["worker-2"], "the worker keeps its conversation"
    assert session.refuses(retry_item(second)).code == "task_running"

    result = session.responds("worker-2")
    assert task_ids(result, TaskCompleted) == [second, job_task]
    assert facts_of(result, TaskCompleted)[-1].summary == "2 of 2 items are done"


def test_retrying_a_job_retries_all_failed_items_within_its_parallel_limit() -> None:
    session = session_with_job("alpha", "beta", "gamma", parallel=1)
    job_task, first, second, third = session.state.tasks
    session.fails("worker-1")
    session.responds("worker-2")
    session.fails("worker-3")
    result = session.when(retry_item())

    assert task_ids(result, JobItemRetried) == [first, third]
    assert task_ids(result, TaskStarted) == [first, job_task]
    assert session.refuses(retry_item(third)).code == "task_not_ready"
    assert session.refuses(retry_item()).code == "task_not_ready"
    assert task_ids(session.responds("worker-1"), TaskStarted) == [third]
    assert task_ids(session.responds("worker-3"), TaskCompleted) == [third, job_task]
    assert second not in session.state.tasks


def test_a_retried_item_of_a_closed_worker_gets_a_new_worker() -> None:
    session = session_with_job("alpha", parallel=1)
    job_task, item = session.state.tasks
    session.fails("worker-1")
    session.when(CloseSubagent(session_id=SESSION, agent="worker-1"))
    result = session.when(retry_item(item))
    assert only_fact(result, SubagentSpawned).objective.text.startswith("This is attempt 2.")
    assert session.running_agents() == ["worker-2"]
    assert task_ids(session.responds("worker-2"), TaskCompleted) == [item, job_task]


def test_input_of_a_person_makes_a_failed_worker_a_normal_child_again() -> None:
    """Its new task is outside the job: its parent is notified, and the item gets another worker."""
    session = session_with_job("alpha", parallel=1)
    job_task, item = session.state.tasks
    session.fails("worker-1")
    session.when(SendSubagentInput(session_id=SESSION, agent="worker-1", text="Look at something else."))
    session.when(retry_item(item))
    assert session.running_agents() == ["worker-1", "worker-2"]
    assert only_fact(session.responds("worker-1"), WorkerNotification).item != ""
    assert task_ids(session.responds("worker-2"), TaskCompleted) == [item, job_task]


def test_a_worker_that_cannot_start_fails_its_item_and_the_other_results_stay() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    job_task, first, second = session.state.tasks
    session.definitions = (LEAD,)
    result = session.responds("worker-1")
    assert task_ids(result, TaskCompleted) == [first]
    assert task_ids(result, TaskStarted) == [second]
    assert [(failure.code) for failure in facts_of(result, TaskFailed)] == ["unknown_agent", "items_failed"]
    assert job_task in session.state.tasks


def test_a_paused_job_keeps_its_running_attempts_and_starts_nothing() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    job_task, first, second = session.state.tasks
    result = session.when(PauseJob(session_id=SESSION, job_id=JOB, reason="lunch"))
    assert task_ids(result, TaskPaused) == [job_task, first, second]
    assert isinstance(result.answer, JobChanged)
    assert result.answer.status == "paused"
    assert session.refuses(retry_item()).code == "task_paused"
    assert [name for name in fact_types(session.stops("worker-1")) if name.startswith("task.")] == []

    result = session.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert only_fact(result, TurnSubmitted).input.text == RESUME_INPUT
    assert task_ids(result, TaskStarted) == [], "the attempt continues"
    result = session.responds("worker-1")
    assert (task_ids(result, TaskCompleted), task_ids(result, TaskStarted)) == ([first], [second])


def test_a_job_is_paused_by_a_takeover_until_a_person_resumes_it() -> None:
    """Nothing resumes automatically: running items were interrupted, and waiting items do not start."""
    session = session_with_job("alpha", "beta", parallel=1)
    job_task, first, second = session.state.tasks
    result = session.when(HostTakenOver(partials=()), epoch=2)
    assert task_ids(result, TaskPaused) == [job_task, first, second]
    assert task_ids(result, TaskFailed) == []
    assert session.running_agents() == []
    assert task_ids(session.when(submit("and you?")), TaskStarted) == []

    result = session.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert session.running_agents() == ["lead", "worker-1"]
    session.responds("worker-1")
    assert task_ids(session.responds("worker-2"), TaskCompleted) == [second, job_task]


def test_a_worker_that_waits_for_a_slot_starts_after_a_takeover_and_a_resume() -> None:
    session = team(budget=1)
    session.responds("lead")
    session.when(create_job("alpha", "beta", parallel=2))
    session.when(HostTakenOver(partials=()), epoch=2)
    session.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert session.running_agents() == ["worker-1"]
    session.responds("worker-1")
    assert session.running_agents() == ["worker-2"]


def test_a_lead_can_neither_wait_for_nor_change_nor_stop_a_job() -> None:
    session = session_with_job("alpha", parallel=1)
    session.when(submit("something else"))
    assert session.refusal_code("lead", "wait_subagents") == "nothing_running"
    assert session.refusal_code("lead", "cancel_subagent", agent="worker-1") == "not_your_child"
    assert session.refusal_code("lead", "send_message", to=["worker-1"], text="Say hello.") == "not_your_child"
    job_task, item = (task for task in session.state.tasks if session.state.tasks[task].job)
    assert session.refusal_code("lead", "update_task", task_id=item, status="cancelled") == "not_your_child"
    assert session.refusal_code("lead", "update_task", task_id=job_task, status="done") == "task_of_job"
    lead = session.thread_of("lead")
    session.when(InterruptTurn(session_id=SESSION, thread_id=lead.thread, cascade=True))
    assert session.running_agents() == ["lead", "worker-1"]
    assert session.run_of("worker-1").stopping is False


@pytest.mark.parametrize("name", ["start", "retry", "complete", "done", "link"])
def test_commands_that_set_the_status_of_a_job_or_item_directly_are_refused(name: str) -> None:
    session = session_with_job("alpha")
    job_task, item = session.state.tasks
    session.when(CreateTask(session_id=SESSION, task_id="tsk_a", title="another"))
    command = {
        "start": start(job_task),
        "retry": retry(item),
        "complete": CompleteTask(session_id=SESSION, task_id=job_task),
        "done": UpdateTask(session_id=SESSION, task_id=job_task, status="done"),
        "link": link(item, parent_task="tsk_a"),
    }[name]
    assert session.refuses(command).code == "task_of_job"


def test_an_item_can_depend_on_others_and_can_be_cancelled_alone() -> None:
    session = session_with_job("alpha", "beta", "gamma", parallel=1)
    job_task, first, second, third = session.state.tasks
    session.when(link(second, depends_on=(third,)))
    result = session.when(cancel(third))
    assert task_ids(result, TaskCancelled) == [third]
    result = session.responds("worker-1")
    assert task_ids(result, TaskStarted) == [], "its dependency was cancelled"
    assert session.state.tasks[job_task].work == "running"
    result = session.when(cancel(second))
    assert task_ids(result, TaskCancelled) == [second]
    assert only_fact(result, TaskCompleted).summary == "1 of 3 items are done"
    assert first not in session.state.tasks


def test_a_job_without_an_agent_uses_the_only_subagent() -> None:
    session = board()
    session.when(create_job("alpha", agent=None))
    assert session.running_agents() == ["worker-1"]
    session.definitions = (*session.definitions, EDITOR)
    refused = session.refuses(create_job("beta", agent=None))
    assert (refused.code, refused.field, refused.hint) == ("unknown_agent", "agent", "There are: worker, editor.")
    session.definitions = (LEAD,)
    assert session.refuses(create_job("beta", agent=None)).code == "unknown_agent"


def test_a_job_refuses_an_agent_that_is_not_a_subagent() -> None:
    session = board()
    assert session.refuses(create_job("alpha", agent="critic")).code == "delegate_target_denied"
    assert session.refuses(create_job("alpha", agent="ghost")).code == "unknown_agent"


@pytest.mark.parametrize(
    ("requested", "worker", "mode"), [(None, {}, "edits"), ("full", {}, "full"), ("full", "ask", "ask")]
)
def test_workers_get_the_persons_mode_or_the_leads_narrowed_by_their_definition(
    requested: Any, worker: Any, mode: str
) -> None:
    session = team(
        LEAD, agent_definition("worker", kind="subagent", permission_mode=worker or None), permission_mode="edits"
    )
    session.responds("lead")
    result = session.when(create_job("alpha", "beta", parallel=1, permission_mode=requested))
    assert only_fact(result, TurnSubmitted).permission_mode == mode
    session.when(submit("and you?", permission_mode="planning"))
    session.responds("lead")
    result = session.responds("worker-1")
    assert only_fact(result, TurnSubmitted).permission_mode == mode, "the chosen mode applies to every item"


def test_a_job_without_a_session_creates_one_in_the_default_mode() -> None:
    session = Team()
    result = session.when(create_job("alpha"), default_mode="edits")
    assert fact_types(result)[:4] == ["session.created", "thread.opened", "task.created", "job.created"]
    assert (session.state.title, session.running_agents()) == ("Look at all", ["worker-1"])
    assert only_fact(result, JobCreated).permission_mode == "edits"
    session.responds("worker-1")
    assert session.running_agents() == []


@pytest.mark.parametrize("requested", [None, "full"])
def test_a_jobs_inherited_mode_narrows_when_the_folder_loses_trust(requested: Any) -> None:
    """SAFE-08: a mode that a person chose for the job stays."""
    session = team(LEAD, WORKER, permission_mode="full")
    session.responds("lead")
    session.when(create_job("alpha", "beta", "gamma", parallel=1, permission_mode=requested))
    untrusted = {"is_trust_withheld": True, "default_mode": "ask"}
    expected = requested or "ask"

    result = session.when(PauseJob(session_id=SESSION, job_id=JOB))
    session.stops("worker-1")
    result = session.when(ResumeJob(session_id=SESSION, job_id=JOB), **untrusted)
    assert only_fact(result, TurnSubmitted).permission_mode == expected, "a continued attempt"
    run = session.run_of("worker-1")
    answer = model_response(
        text_part(run.model_step + 1, "Done."),
        run=_run_number(run.run),
        step=run.model_step,
        thread=_worker_thread(session),
    )
    result = session.when(answer, **untrusted)
    assert only_fact(result, TurnSubmitted).permission_mode == expected, "a new item"
    session.fails("worker-2")
    session.fails("worker-3")
    result = session.when(retry_item(), **untrusted)
    assert only_fact(result, TurnSubmitted).permission_mode == expected, "a retried item"
    if requested is None:
        result = session.when(create_job("delta", agent="worker"), **untrusted)
        assert only_fact(result, JobCreated).permission_mode == "ask"


def _run_number(run: str) -> int:
    return int(run.removeprefix("run_"))


def _worker_thread(session: Team) -> str:
    return session.thread_of("worker-1").thread


def test_input_to_a_worker_whose_item_awaits_a_retry_is_that_attempt() -> None:
    """CTL-11: it waits for the parallel limit, and the item gets no second worker."""
    session = session_with_job("alpha", "beta", parallel=1)
    job_task, first, _ = session.state.tasks
    child = session.thread_of("worker-1")
    session.when(interrupt(thread_id=child.thread))
    session.stops("worker-1")
    session.when(retry_item(first))
    session.when(submit("go on", session_id=SESSION, thread_id=child.thread))
    assert session.running_agents() == ["worker-2"]
    result = session.responds("worker-2")
    assert [
        (new.scope.task, new.scope.attempt) for new in result.decision.facts if new.fact.type == "task.started"
    ] == [(first, 2)]
    assert session.running_agents() == ["worker-1"]
    assert task_ids(session.responds("worker-1"), TaskCompleted) == [first, job_task]


def test_a_job_in_an_archived_session_is_paused_before_it_starts_an_item() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    job_task, first, second = session.state.tasks
    run = session.run_of("worker-1")
    answer = model_response(
        text_part(run.model_step + 1, "Done."),
        run=_run_number(run.run),
        step=run.model_step,
        thread=_worker_thread(session),
    )
    result = session.when(answer, is_archived=True)
    assert (task_ids(result, TaskCompleted), task_ids(result, TaskPaused)) == ([first], [job_task])
    result = session.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert task_ids(result, TaskStarted) == [second]


def test_a_worker_paused_and_resumed_before_it_stopped_gets_one_turn_to_continue() -> None:
    session = session_with_job("alpha", parallel=1)
    for _ in range(3):
        session.when(PauseJob(session_id=SESSION, job_id=JOB))
        session.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert len(session.thread_of("worker-1").queue) == 1


def test_a_paused_item_frees_its_place_for_another() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    _, first, second = session.state.tasks
    session.when(pause(first))
    assert task_ids(session.stops("worker-1"), TaskStarted) == [second]
    assert session.refuses(retry_item(first)).code == "task_running"


def test_a_job_without_a_finished_item_ends_as_cancelled() -> None:
    session = session_with_job("alpha", parallel=1)
    job_task, item = session.state.tasks
    session.when(cancel(item))
    result = session.stops("worker-1", "cancelled")
    assert task_ids(result, TaskCancelled) == [item, job_task]
    assert task_ids(result, TaskCompleted) == []


def test_failed_workers_are_closed_with_their_job() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    session.fails("worker-1")
    session.fails("worker-2")
    result = session.when(CancelJob(session_id=SESSION, job_id=JOB))
    assert [closed.reason for closed in facts_of(result, SubagentClosed)] == ["its job has ended"] * 2
    assert list(session.state.threads) == [session.state.lead]


def test_an_input_too_long_for_an_attempt_is_refused_with_the_name_of_its_field() -> None:
    session = board()
    refused = session.refuses(create_job("alpha", "ä" * 5000))
    assert (refused.code, refused.field) == ("message_too_large", "items[1].input")
    assert session.refuses(create_job("alpha", instructions="ä" * 5000)).field == "instructions"


def test_refusals_of_job_commands_name_the_job() -> None:
    session = session_with_job("alpha", parallel=1)
    resumed = session.refuses(ResumeJob(session_id=SESSION, job_id=JOB))
    assert (resumed.code, resumed.field, resumed.hint) == ("task_not_paused", "jobId", "Read its status with get_job.")
    session.when(CancelJob(session_id=SESSION, job_id=JOB))
    for command in (PauseJob(session_id=SESSION, job_id=JOB), ResumeJob(session_id=SESSION, job_id=JOB), retry_item()):
        refused = session.refuses(command)
        assert (refused.code, refused.field) == ("unknown_job", "jobId")
        assert refused.hint


def test_workers_of_a_cancelled_job_close_when_a_crash_ends_its_last_run() -> None:
    """S3: a takeover after a crash settles jobs like any other decision."""
    session = session_with_job("alpha")
    session.when(CancelJob(session_id=SESSION, job_id=JOB))
    session.epoch += 1

    session.when(HostTakenOver(partials=()))

    assert session.state.jobs == {}
    assert [thread.agent for thread in session.state.threads.values() if thread.child is not None] == []
