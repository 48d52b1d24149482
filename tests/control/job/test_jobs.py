"""Jobs: work in batches, whose items stand apart from their job and from each other."""

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
from tests.control.rigs.examples import SESSION, interrupt, model_answer, submit, text_part
from tests.control.rigs.jobs import JOB, create_job, retry_item, session_with_job
from tests.control.rigs.tasks import board, cancel, link, pause, retry, start
from tests.control.rigs.team import EDITOR, LEAD, WORKER, Team, agent_definition, fact_types, facts_of, only_fact, team


def tasks(then: StepResult, kind: type[Any]) -> list[str]:
    """The tasks that facts of that kind are about, in order."""
    return [new.scope.task for new in then.decision.facts if isinstance(new.fact, kind)]


def test_a_job_is_a_task_and_each_item_a_part_of_it_with_attempts_of_its_own() -> None:
    session = board()
    then = session.when(create_job("alpha", "beta\nand more", "gamma", parallel=2))

    whole, *items = tasks(then, TaskCreated)
    assert then.answer == JobChanged(
        session_id=SESSION,
        job_id=JOB,
        task_id=whole,
        status="running",
        items=tuple(items),
        sequence=then.before + len(then.facts) - 1,
    )
    made = facts_of(then, TaskCreated)
    assert [(one.title, one.entity, one.parent_task) for one in made] == [
        ("Look at all", "automation_job", ""),
        ("alpha", "work_item", whole),
        ("beta", "work_item", whole),
        ("gamma", "work_item", whole),
    ]
    assert only_fact(then, JobCreated) == JobCreated(agent="worker", items=3, parallel=2, permission_mode="ask")
    assert {new.scope.job for new in then.decision.facts if new.fact.type.startswith("task.")} == {JOB}
    assert tasks(then, TaskStarted) == [whole, *items[:2]], "no more than two at once"
    assert [one.input.text for one in facts_of(then, TurnSubmitted)] == [
        "Look at this.\n\nalpha",
        "Look at this.\n\nbeta\nand more",
    ]
    assert session.running_agents() == ["worker-1", "worker-2"]


def test_the_next_item_begins_when_one_ends_and_the_job_ends_with_the_last() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    whole, first, second = session.state.tasks
    then = session.answers("worker-1", "Alpha is fine.")

    assert tasks(then, TaskCompleted) == [first]
    assert only_fact(then, TaskCompleted).summary == "Alpha is fine."
    assert tasks(then, TaskStarted) == [second]
    assert only_fact(then, SubagentClosed).reason == "its item is done"
    assert only_fact(then, WorkerNotification).item == "", "nobody is told: the lead is not woken"

    then = session.answers("worker-2")
    assert tasks(then, TaskCompleted) == [second, whole]
    assert facts_of(then, TaskCompleted)[-1].summary == "2 of 2 items are done"
    assert (session.state.tasks, session.state.jobs, session.running_agents()) == ({}, {}, [])


def test_cancelling_a_job_leaves_what_is_done_and_begins_nothing_more() -> None:
    """CTL-11: the intent comes first, the finished item has no fact after its end, and the job is cancelled last."""
    session = session_with_job("alpha", "beta", "gamma", parallel=1)
    whole, first, second, third = session.state.tasks
    session.answers("worker-1")
    then = session.when(CancelJob(session_id=SESSION, job_id=JOB, reason="enough"))

    assert then.answer == JobChanged(
        session_id=SESSION,
        job_id=JOB,
        task_id=whole,
        status="cancelling",
        items=(second, third),
        sequence=then.before + 4,
    )
    assert tasks(then, TaskCancelRequested) == [whole, second, third]
    assert fact_types(then).index("turn.interrupt.requested") > fact_types(then).index("task.cancel.requested")
    assert tasks(then, TaskCancelled) == [third]
    then = session.stopped("worker-2", "cancelled")
    assert tasks(then, TaskCancelled) == [second, whole]
    assert first not in {new.scope.task for new in then.decision.facts}
    assert (session.state.tasks, session.state.jobs, session.running_agents()) == ({}, {}, [])
    assert session.refuses(CancelJob(session_id=SESSION, job_id=JOB)).code == "unknown_job"


def test_a_retried_item_gets_another_attempt_of_the_same_worker() -> None:
    """CTL-11: an item that is done is refused, and one that failed has one result."""
    session = session_with_job("alpha", "beta", parallel=2)
    whole, first, second = session.state.tasks
    session.answers("worker-1")
    then = session.fails("worker-2")
    assert tasks(then, TaskFailed) == [second, whole]
    assert facts_of(then, TaskFailed)[-1].message == "1 of 2 items are done, 1 failed"

    assert session.refuses(retry_item(first)).code == "job_item_done"
    then = session.when(retry_item(second, reason="once more"))
    assert then.answer == JobChanged(
        session_id=SESSION,
        job_id=JOB,
        task_id=whole,
        status="running",
        items=(second,),
        sequence=then.before + 10,
    )
    assert only_fact(then, JobItemRetried).reason == "once more"
    started = [(new.scope.task, new.scope.attempt) for new in then.decision.facts if isinstance(new.fact, TaskStarted)]
    assert started == [(second, 2), (whole, 2)]
    assert only_fact(then, TurnSubmitted).input.text.startswith(
        "This is attempt 2. The attempt before it ended without success."
    )
    assert session.running_agents() == ["worker-2"], "it remembers what it did"
    assert session.refuses(retry_item(second)).code == "task_running"

    then = session.answers("worker-2")
    assert tasks(then, TaskCompleted) == [second, whole]
    assert facts_of(then, TaskCompleted)[-1].summary == "2 of 2 items are done"


def test_all_that_failed_is_retried_at_once_and_waits_for_room() -> None:
    session = session_with_job("alpha", "beta", "gamma", parallel=1)
    whole, first, second, third = session.state.tasks
    session.fails("worker-1")
    session.answers("worker-2")
    session.fails("worker-3")
    then = session.when(retry_item())

    assert tasks(then, JobItemRetried) == [first, third]
    assert tasks(then, TaskStarted) == [first, whole]
    assert session.refuses(retry_item(third)).code == "task_not_ready"
    assert session.refuses(retry_item()).code == "task_not_ready"
    assert tasks(session.answers("worker-1"), TaskStarted) == [third]
    assert tasks(session.answers("worker-3"), TaskCompleted) == [third, whole]
    assert second not in session.state.tasks


def test_an_item_whose_worker_is_gone_has_another_one() -> None:
    session = session_with_job("alpha", parallel=1)
    whole, item = session.state.tasks
    session.fails("worker-1")
    session.when(CloseSubagent(session_id=SESSION, agent="worker-1"))
    then = session.when(retry_item(item))
    assert only_fact(then, SubagentSpawned).objective.text.startswith("This is attempt 2.")
    assert session.running_agents() == ["worker-2"]
    assert tasks(session.answers("worker-2"), TaskCompleted) == [item, whole]


def test_a_worker_that_a_person_gives_more_to_do_works_for_its_parent_again() -> None:
    """Its new task is none of the job's: its parent is told of it, and the item has another worker."""
    session = session_with_job("alpha", parallel=1)
    whole, item = session.state.tasks
    session.fails("worker-1")
    session.when(SendSubagentInput(session_id=SESSION, agent="worker-1", text="Look at something else."))
    session.when(retry_item(item))
    assert session.running_agents() == ["worker-1", "worker-2"]
    assert only_fact(session.answers("worker-1"), WorkerNotification).item != ""
    assert tasks(session.answers("worker-2"), TaskCompleted) == [item, whole]


def test_a_worker_that_cannot_begin_has_failed_and_the_others_go_on() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    whole, first, second = session.state.tasks
    session.definitions = (LEAD,)
    then = session.answers("worker-1")
    assert tasks(then, TaskCompleted) == [first]
    assert tasks(then, TaskStarted) == [second]
    assert [(one.code) for one in facts_of(then, TaskFailed)] == ["unknown_agent", "items_failed"]
    assert whole in session.state.tasks


def test_a_paused_job_keeps_what_it_was_at_and_begins_nothing() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    whole, first, second = session.state.tasks
    then = session.when(PauseJob(session_id=SESSION, job_id=JOB, reason="lunch"))
    assert tasks(then, TaskPaused) == [whole, first, second]
    assert isinstance(then.answer, JobChanged)
    assert then.answer.status == "paused"
    assert session.refuses(retry_item()).code == "task_paused"
    assert [name for name in fact_types(session.stopped("worker-1")) if name.startswith("task.")] == []

    then = session.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert only_fact(then, TurnSubmitted).input.text == RESUME_INPUT
    assert tasks(then, TaskStarted) == [], "the attempt goes on"
    then = session.answers("worker-1")
    assert (tasks(then, TaskCompleted), tasks(then, TaskStarted)) == ([first], [second])


def test_a_job_whose_process_ended_waits_until_somebody_resumes_it() -> None:
    """Nothing goes on by itself that cannot be proved safe: what ran was cut, what waits is not begun."""
    session = session_with_job("alpha", "beta", parallel=1)
    whole, first, second = session.state.tasks
    then = session.when(HostTakenOver(partials=()), epoch=2)
    assert tasks(then, TaskPaused) == [whole, first, second]
    assert tasks(then, TaskFailed) == []
    assert session.running_agents() == []
    assert tasks(session.when(submit("and you?")), TaskStarted) == []

    then = session.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert session.running_agents() == ["lead", "worker-1"]
    session.answers("worker-1")
    assert tasks(session.answers("worker-2"), TaskCompleted) == [second, whole]


def test_a_worker_that_waits_for_a_slot_goes_on_after_its_process_ended() -> None:
    session = team(budget=1)
    session.answers("lead")
    session.when(create_job("alpha", "beta", parallel=2))
    session.when(HostTakenOver(partials=()), epoch=2)
    session.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert session.running_agents() == ["worker-1"]
    session.answers("worker-1")
    assert session.running_agents() == ["worker-2"]


def test_what_a_lead_does_or_is_stopped_from_does_not_concern_a_job() -> None:
    session = session_with_job("alpha", parallel=1)
    session.when(submit("something else"))
    assert session.refusal_code("lead", "wait_subagents") == "nothing_running"
    assert session.refusal_code("lead", "cancel_subagent", agent="worker-1") == "not_your_child"
    assert session.refusal_code("lead", "send_message", to=["worker-1"], text="Say hello.") == "not_your_child"
    whole, item = (task for task in session.state.tasks if session.state.tasks[task].job)
    assert session.refusal_code("lead", "update_task", task_id=item, status="cancelled") == "not_your_child"
    assert session.refusal_code("lead", "update_task", task_id=whole, status="done") == "task_of_job"
    lead = session.thread_of("lead")
    session.when(InterruptTurn(session_id=SESSION, thread_id=lead.thread, cascade=True))
    assert session.running_agents() == ["lead", "worker-1"]
    assert session.run_of("worker-1").stopping is False


@pytest.mark.parametrize("what", ["start", "retry", "complete", "done", "link"])
def test_how_a_job_stands_is_told_by_its_items(what: str) -> None:
    session = session_with_job("alpha")
    whole, item = session.state.tasks
    session.when(CreateTask(session_id=SESSION, task_id="tsk_a", title="another"))
    asked = {
        "start": start(whole),
        "retry": retry(item),
        "complete": CompleteTask(session_id=SESSION, task_id=whole),
        "done": UpdateTask(session_id=SESSION, task_id=whole, status="done"),
        "link": link(item, parent_task="tsk_a"),
    }[what]
    assert session.refuses(asked).code == "task_of_job"


def test_an_item_may_wait_for_others_and_may_be_cancelled_alone() -> None:
    session = session_with_job("alpha", "beta", "gamma", parallel=1)
    whole, first, second, third = session.state.tasks
    session.when(link(second, depends_on=(third,)))
    then = session.when(cancel(third))
    assert tasks(then, TaskCancelled) == [third]
    then = session.answers("worker-1")
    assert tasks(then, TaskStarted) == [], "what it waits for will not be done"
    assert session.state.tasks[whole].work == "running"
    then = session.when(cancel(second))
    assert tasks(then, TaskCancelled) == [second]
    assert only_fact(then, TaskCompleted).summary == "1 of 3 items are done"
    assert first not in session.state.tasks


def test_without_an_agent_the_only_subagent_works_on_it() -> None:
    session = board()
    session.when(create_job("alpha", agent=None))
    assert session.running_agents() == ["worker-1"]
    session.definitions = (*session.definitions, EDITOR)
    refused = session.refuses(create_job("beta", agent=None))
    assert (refused.code, refused.field, refused.hint) == ("unknown_agent", "agent", "There are: worker, editor.")
    session.definitions = (LEAD,)
    assert session.refuses(create_job("beta", agent=None)).code == "unknown_agent"


def test_a_job_is_for_no_agent_of_another_kind() -> None:
    session = board()
    assert session.refuses(create_job("alpha", agent="critic")).code == "delegate_target_denied"
    assert session.refuses(create_job("alpha", agent="nobody")).code == "unknown_agent"


@pytest.mark.parametrize(
    ("asked", "worker", "mode"), [(None, {}, "edits"), ("full", {}, "full"), ("full", "ask", "ask")]
)
def test_workers_get_the_persons_mode_or_the_leads_narrowed_by_their_definition(
    asked: Any, worker: Any, mode: str
) -> None:
    session = team(
        LEAD, agent_definition("worker", kind="subagent", permission_mode=worker or None), permission_mode="edits"
    )
    session.answers("lead")
    then = session.when(create_job("alpha", "beta", parallel=1, permission_mode=asked))
    assert only_fact(then, TurnSubmitted).permission_mode == mode
    session.when(submit("and you?", permission_mode="planning"))
    session.answers("lead")
    then = session.answers("worker-1")
    assert only_fact(then, TurnSubmitted).permission_mode == mode, "what was chosen holds to the end"


def test_a_job_makes_a_session_where_it_is_given_none_under_the_usual_mode() -> None:
    session = Team()
    then = session.when(create_job("alpha"), default_mode="edits")
    assert fact_types(then)[:4] == ["session.created", "thread.opened", "task.created", "job.created"]
    assert (session.state.title, session.running_agents()) == ("Look at all", ["worker-1"])
    assert only_fact(then, JobCreated).permission_mode == "edits"
    session.answers("worker-1")
    assert session.running_agents() == []


@pytest.mark.parametrize("asked", [None, "full"])
def test_no_mode_of_a_job_outlives_the_trust_that_it_came_from(asked: Any) -> None:
    """SAFE-08: but for one that a person chose for this very job."""
    session = team(LEAD, WORKER, permission_mode="full")
    session.answers("lead")
    session.when(create_job("alpha", "beta", "gamma", parallel=1, permission_mode=asked))
    untrusted = {"is_trust_withheld": True, "default_mode": "ask"}
    expected = asked or "ask"

    then = session.when(PauseJob(session_id=SESSION, job_id=JOB))
    session.stopped("worker-1")
    then = session.when(ResumeJob(session_id=SESSION, job_id=JOB), **untrusted)
    assert only_fact(then, TurnSubmitted).permission_mode == expected, "what goes on"
    run = session.run_of("worker-1")
    answer = model_answer(
        text_part(run.model_step + 1, "Done."), run=_number(run.run), step=run.model_step, thread=_at(session)
    )
    then = session.when(answer, **untrusted)
    assert only_fact(then, TurnSubmitted).permission_mode == expected, "what begins"
    session.fails("worker-2")
    session.fails("worker-3")
    then = session.when(retry_item(), **untrusted)
    assert only_fact(then, TurnSubmitted).permission_mode == expected, "what is tried again"
    if asked is None:
        then = session.when(create_job("delta", agent="worker"), **untrusted)
        assert only_fact(then, JobCreated).permission_mode == "ask"


def _number(run: str) -> int:
    return int(run.removeprefix("run_"))


def _at(session: Team) -> str:
    return session.thread_of("worker-1").thread


def test_input_to_a_worker_whose_item_awaits_a_retry_is_that_attempt() -> None:
    """CTL-11: it waits for room like the item, and no second worker takes the item up."""
    session = session_with_job("alpha", "beta", parallel=1)
    whole, first, _ = session.state.tasks
    child = session.thread_of("worker-1")
    session.when(interrupt(thread_id=child.thread))
    session.stopped("worker-1")
    session.when(retry_item(first))
    session.when(submit("go on", session_id=SESSION, thread_id=child.thread))
    assert session.running_agents() == ["worker-2"]
    then = session.answers("worker-2")
    assert [(new.scope.task, new.scope.attempt) for new in then.decision.facts if new.fact.type == "task.started"] == [
        (first, 2)
    ]
    assert session.running_agents() == ["worker-1"]
    assert tasks(session.answers("worker-1"), TaskCompleted) == [first, whole]


def test_a_job_in_an_archived_session_is_paused_before_it_begins_an_item() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    whole, first, second = session.state.tasks
    run = session.run_of("worker-1")
    answer = model_answer(
        text_part(run.model_step + 1, "Done."), run=_number(run.run), step=run.model_step, thread=_at(session)
    )
    then = session.when(answer, is_archived=True)
    assert (tasks(then, TaskCompleted), tasks(then, TaskPaused)) == ([first], [whole])
    then = session.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert tasks(then, TaskStarted) == [second]


def test_a_worker_paused_and_resumed_before_it_stopped_gets_one_turn_to_continue() -> None:
    session = session_with_job("alpha", parallel=1)
    for _ in range(3):
        session.when(PauseJob(session_id=SESSION, job_id=JOB))
        session.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert len(session.thread_of("worker-1").queue) == 1


def test_an_item_that_is_paused_leaves_its_room_to_others() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    _, first, second = session.state.tasks
    session.when(pause(first))
    assert tasks(session.stopped("worker-1"), TaskStarted) == [second]
    assert session.refuses(retry_item(first)).code == "task_running"


def test_a_job_none_of_whose_items_is_done_was_cancelled() -> None:
    session = session_with_job("alpha", parallel=1)
    whole, item = session.state.tasks
    session.when(cancel(item))
    then = session.stopped("worker-1", "cancelled")
    assert tasks(then, TaskCancelled) == [item, whole]
    assert tasks(then, TaskCompleted) == []


def test_workers_that_failed_are_closed_with_their_job() -> None:
    session = session_with_job("alpha", "beta", parallel=1)
    session.fails("worker-1")
    session.fails("worker-2")
    then = session.when(CancelJob(session_id=SESSION, job_id=JOB))
    assert [one.reason for one in facts_of(then, SubagentClosed)] == ["its job has ended"] * 2
    assert list(session.state.threads) == [session.state.lead]


def test_what_is_too_long_for_every_attempt_to_be_told_is_refused_by_its_place() -> None:
    session = board()
    refused = session.refuses(create_job("alpha", "ä" * 5000))
    assert (refused.code, refused.field) == ("message_too_large", "items[1].input")
    assert session.refuses(create_job("alpha", instructions="ä" * 5000)).field == "instructions"


def test_refusals_of_job_commands_name_the_job() -> None:
    session = session_with_job("alpha", parallel=1)
    resumed = session.refuses(ResumeJob(session_id=SESSION, job_id=JOB))
    assert (resumed.code, resumed.field, resumed.hint) == ("task_not_paused", "jobId", "Read its status with get_job.")
    session.when(CancelJob(session_id=SESSION, job_id=JOB))
    for asked in (PauseJob(session_id=SESSION, job_id=JOB), ResumeJob(session_id=SESSION, job_id=JOB), retry_item()):
        refused = session.refuses(asked)
        assert (refused.code, refused.field) == ("unknown_job", "jobId")
        assert refused.hint


def test_workers_of_a_cancelled_job_close_when_a_crash_ends_its_last_run() -> None:
    """S3: taking over after a crash settles jobs like any other decision."""
    session = session_with_job("alpha")
    session.when(CancelJob(session_id=SESSION, job_id=JOB))
    session.epoch += 1

    session.when(HostTakenOver(partials=()))

    assert session.state.jobs == {}
    assert [thread.agent for thread in session.state.threads.values() if thread.child is not None] == []
