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
from tests.control.rigs.decisions import Then
from tests.control.rigs.examples import SESSION, answered, interrupt, submit, text
from tests.control.rigs.jobs import JOB, again, begun, job
from tests.control.rigs.tasks import board, cancel, link, pause, retry, start
from tests.control.rigs.team import EDITOR, LEAD, WORKER, Team, agent, all_of, one, team, types


def tasks(then: Then, kind: type[Any]) -> list[str]:
    """The tasks that facts of that kind are about, in order."""
    return [new.scope.task for new in then.decision.facts if isinstance(new.fact, kind)]


def test_a_job_is_a_task_and_each_item_a_part_of_it_with_attempts_of_its_own() -> None:
    given = board()
    then = given.when(job("alpha", "beta\nand more", "gamma", parallel=2))

    whole, *items = tasks(then, TaskCreated)
    assert then.answer == JobChanged(
        session_id=SESSION,
        job_id=JOB,
        task_id=whole,
        status="running",
        items=tuple(items),
        sequence=then.before + len(then.facts) - 1,
    )
    made = all_of(then, TaskCreated)
    assert [(one.title, one.entity, one.parent_task) for one in made] == [
        ("Look at all", "automation_job", ""),
        ("alpha", "work_item", whole),
        ("beta", "work_item", whole),
        ("gamma", "work_item", whole),
    ]
    assert one(then, JobCreated) == JobCreated(agent="worker", items=3, parallel=2, permission_mode="ask")
    assert {new.scope.job for new in then.decision.facts if new.fact.type.startswith("task.")} == {JOB}
    assert tasks(then, TaskStarted) == [whole, *items[:2]], "no more than two at once"
    assert [one.input.text for one in all_of(then, TurnSubmitted)] == [
        "Look at this.\n\nalpha",
        "Look at this.\n\nbeta\nand more",
    ]
    assert given.works() == ["worker-1", "worker-2"]


def test_the_next_item_begins_when_one_ends_and_the_job_ends_with_the_last() -> None:
    given = begun("alpha", "beta", parallel=1)
    whole, first, second = given.state.tasks
    then = given.says("worker-1", "Alpha is fine.")

    assert tasks(then, TaskCompleted) == [first]
    assert one(then, TaskCompleted).summary == "Alpha is fine."
    assert tasks(then, TaskStarted) == [second]
    assert one(then, SubagentClosed).reason == "its item is done"
    assert one(then, WorkerNotification).item == "", "nobody is told: the lead is not woken"

    then = given.says("worker-2")
    assert tasks(then, TaskCompleted) == [second, whole]
    assert all_of(then, TaskCompleted)[-1].summary == "2 of 2 items are done"
    assert (given.state.tasks, given.state.jobs, given.works()) == ({}, {}, [])


def test_cancelling_a_job_leaves_what_is_done_and_begins_nothing_more() -> None:
    """CTL-11: the intent comes first, the finished item has no fact after its end, and the job is cancelled last."""
    given = begun("alpha", "beta", "gamma", parallel=1)
    whole, first, second, third = given.state.tasks
    given.says("worker-1")
    then = given.when(CancelJob(session_id=SESSION, job_id=JOB, reason="enough"))

    assert then.answer == JobChanged(
        session_id=SESSION,
        job_id=JOB,
        task_id=whole,
        status="cancelling",
        items=(second, third),
        sequence=then.before + 4,
    )
    assert tasks(then, TaskCancelRequested) == [whole, second, third]
    assert types(then).index("turn.interrupt.requested") > types(then).index("task.cancel.requested")
    assert tasks(then, TaskCancelled) == [third]
    then = given.stopped("worker-2", "cancelled")
    assert tasks(then, TaskCancelled) == [second, whole]
    assert first not in {new.scope.task for new in then.decision.facts}
    assert (given.state.tasks, given.state.jobs, given.works()) == ({}, {}, [])
    assert given.refuses(CancelJob(session_id=SESSION, job_id=JOB)).code == "unknown_job"


def test_a_retried_item_gets_another_attempt_of_the_same_worker() -> None:
    """CTL-11: an item that is done is refused, and one that failed has one result."""
    given = begun("alpha", "beta", parallel=2)
    whole, first, second = given.state.tasks
    given.says("worker-1")
    then = given.fails("worker-2")
    assert tasks(then, TaskFailed) == [second, whole]
    assert all_of(then, TaskFailed)[-1].message == "1 of 2 items are done, 1 failed"

    assert given.refuses(again(first)).code == "job_item_done"
    then = given.when(again(second, reason="once more"))
    assert then.answer == JobChanged(
        session_id=SESSION,
        job_id=JOB,
        task_id=whole,
        status="running",
        items=(second,),
        sequence=then.before + 10,
    )
    assert one(then, JobItemRetried).reason == "once more"
    started = [(new.scope.task, new.scope.attempt) for new in then.decision.facts if isinstance(new.fact, TaskStarted)]
    assert started == [(second, 2), (whole, 2)]
    assert one(then, TurnSubmitted).input.text.startswith(
        "This is attempt 2. The attempt before it ended without success."
    )
    assert given.works() == ["worker-2"], "it remembers what it did"
    assert given.refuses(again(second)).code == "task_running"

    then = given.says("worker-2")
    assert tasks(then, TaskCompleted) == [second, whole]
    assert all_of(then, TaskCompleted)[-1].summary == "2 of 2 items are done"


def test_all_that_failed_is_retried_at_once_and_waits_for_room() -> None:
    given = begun("alpha", "beta", "gamma", parallel=1)
    whole, first, second, third = given.state.tasks
    given.fails("worker-1")
    given.says("worker-2")
    given.fails("worker-3")
    then = given.when(again())

    assert tasks(then, JobItemRetried) == [first, third]
    assert tasks(then, TaskStarted) == [first, whole]
    assert given.refuses(again(third)).code == "task_not_ready"
    assert given.refuses(again()).code == "task_not_ready"
    assert tasks(given.says("worker-1"), TaskStarted) == [third]
    assert tasks(given.says("worker-3"), TaskCompleted) == [third, whole]
    assert second not in given.state.tasks


def test_an_item_whose_worker_is_gone_has_another_one() -> None:
    given = begun("alpha", parallel=1)
    whole, item = given.state.tasks
    given.fails("worker-1")
    given.when(CloseSubagent(session_id=SESSION, agent="worker-1"))
    then = given.when(again(item))
    assert one(then, SubagentSpawned).objective.text.startswith("This is attempt 2.")
    assert given.works() == ["worker-2"]
    assert tasks(given.says("worker-2"), TaskCompleted) == [item, whole]


def test_a_worker_that_a_person_gives_more_to_do_works_for_its_parent_again() -> None:
    """Its new task is none of the job's: its parent is told of it, and the item has another worker."""
    given = begun("alpha", parallel=1)
    whole, item = given.state.tasks
    given.fails("worker-1")
    given.when(SendSubagentInput(session_id=SESSION, agent="worker-1", text="Look at something else."))
    given.when(again(item))
    assert given.works() == ["worker-1", "worker-2"]
    assert one(given.says("worker-1"), WorkerNotification).item != ""
    assert tasks(given.says("worker-2"), TaskCompleted) == [item, whole]


def test_a_worker_that_cannot_begin_has_failed_and_the_others_go_on() -> None:
    given = begun("alpha", "beta", parallel=1)
    whole, first, second = given.state.tasks
    given.definitions = (LEAD,)
    then = given.says("worker-1")
    assert tasks(then, TaskCompleted) == [first]
    assert tasks(then, TaskStarted) == [second]
    assert [(one.code) for one in all_of(then, TaskFailed)] == ["unknown_agent", "items_failed"]
    assert whole in given.state.tasks


def test_a_paused_job_keeps_what_it_was_at_and_begins_nothing() -> None:
    given = begun("alpha", "beta", parallel=1)
    whole, first, second = given.state.tasks
    then = given.when(PauseJob(session_id=SESSION, job_id=JOB, reason="lunch"))
    assert tasks(then, TaskPaused) == [whole, first, second]
    assert isinstance(then.answer, JobChanged)
    assert then.answer.status == "paused"
    assert given.refuses(again()).code == "task_paused"
    assert [name for name in types(given.stopped("worker-1")) if name.startswith("task.")] == []

    then = given.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert one(then, TurnSubmitted).input.text == RESUME_INPUT
    assert tasks(then, TaskStarted) == [], "the attempt goes on"
    then = given.says("worker-1")
    assert (tasks(then, TaskCompleted), tasks(then, TaskStarted)) == ([first], [second])


def test_a_job_whose_process_ended_waits_until_somebody_resumes_it() -> None:
    """Nothing goes on by itself that cannot be proved safe: what ran was cut, what waits is not begun."""
    given = begun("alpha", "beta", parallel=1)
    whole, first, second = given.state.tasks
    then = given.when(HostTakenOver(partials=()), epoch=2)
    assert tasks(then, TaskPaused) == [whole, first, second]
    assert tasks(then, TaskFailed) == []
    assert given.works() == []
    assert tasks(given.when(submit("and you?")), TaskStarted) == []

    then = given.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert given.works() == ["lead", "worker-1"]
    given.says("worker-1")
    assert tasks(given.says("worker-2"), TaskCompleted) == [second, whole]


def test_a_worker_that_waits_for_a_slot_goes_on_after_its_process_ended() -> None:
    given = team(budget=1)
    given.says("lead")
    given.when(job("alpha", "beta", parallel=2))
    given.when(HostTakenOver(partials=()), epoch=2)
    given.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert given.works() == ["worker-1"]
    given.says("worker-1")
    assert given.works() == ["worker-2"]


def test_what_a_lead_does_or_is_stopped_from_does_not_concern_a_job() -> None:
    given = begun("alpha", parallel=1)
    given.when(submit("something else"))
    assert given.denied("lead", "wait_subagents") == "nothing_running"
    assert given.denied("lead", "cancel_subagent", agent="worker-1") == "not_your_child"
    assert given.denied("lead", "send_message", to=["worker-1"], text="Say hello.") == "not_your_child"
    whole, item = (one for one in given.state.tasks if given.state.tasks[one].job)
    assert given.denied("lead", "update_task", task_id=item, status="cancelled") == "not_your_child"
    assert given.denied("lead", "update_task", task_id=whole, status="done") == "task_of_job"
    lead = given.of("lead")
    given.when(InterruptTurn(session_id=SESSION, thread_id=lead.thread, cascade=True))
    assert given.works() == ["lead", "worker-1"]
    assert given.run_of("worker-1").stopping is False


@pytest.mark.parametrize("what", ["start", "retry", "complete", "done", "link"])
def test_how_a_job_stands_is_told_by_its_items(what: str) -> None:
    given = begun("alpha")
    whole, item = given.state.tasks
    given.when(CreateTask(session_id=SESSION, task_id="tsk_a", title="another"))
    asked = {
        "start": start(whole),
        "retry": retry(item),
        "complete": CompleteTask(session_id=SESSION, task_id=whole),
        "done": UpdateTask(session_id=SESSION, task_id=whole, status="done"),
        "link": link(item, parent_task="tsk_a"),
    }[what]
    assert given.refuses(asked).code == "task_of_job"


def test_an_item_may_wait_for_others_and_may_be_cancelled_alone() -> None:
    given = begun("alpha", "beta", "gamma", parallel=1)
    whole, first, second, third = given.state.tasks
    given.when(link(second, depends_on=(third,)))
    then = given.when(cancel(third))
    assert tasks(then, TaskCancelled) == [third]
    then = given.says("worker-1")
    assert tasks(then, TaskStarted) == [], "what it waits for will not be done"
    assert given.state.tasks[whole].work == "running"
    then = given.when(cancel(second))
    assert tasks(then, TaskCancelled) == [second]
    assert one(then, TaskCompleted).summary == "1 of 3 items are done"
    assert first not in given.state.tasks


def test_without_an_agent_the_only_subagent_works_on_it() -> None:
    given = board()
    given.when(job("alpha", agent=None))
    assert given.works() == ["worker-1"]
    given.definitions = (*given.definitions, EDITOR)
    refused = given.refuses(job("beta", agent=None))
    assert (refused.code, refused.field, refused.hint) == ("unknown_agent", "agent", "There are: worker, editor.")
    given.definitions = (LEAD,)
    assert given.refuses(job("beta", agent=None)).code == "unknown_agent"


def test_a_job_is_for_no_agent_of_another_kind() -> None:
    given = board()
    assert given.refuses(job("alpha", agent="critic")).code == "delegate_target_denied"
    assert given.refuses(job("alpha", agent="nobody")).code == "unknown_agent"


@pytest.mark.parametrize(
    ("asked", "worker", "mode"), [(None, {}, "edits"), ("full", {}, "full"), ("full", "ask", "ask")]
)
def test_workers_get_the_persons_mode_or_the_leads_narrowed_by_their_definition(
    asked: Any, worker: Any, mode: str
) -> None:
    given = team(LEAD, agent("worker", kind="subagent", permission_mode=worker or None), permission_mode="edits")
    given.says("lead")
    then = given.when(job("alpha", "beta", parallel=1, permission_mode=asked))
    assert one(then, TurnSubmitted).permission_mode == mode
    given.when(submit("and you?", permission_mode="planning"))
    given.says("lead")
    then = given.says("worker-1")
    assert one(then, TurnSubmitted).permission_mode == mode, "what was chosen holds to the end"


def test_a_job_makes_a_session_where_it_is_given_none_under_the_usual_mode() -> None:
    given = Team()
    then = given.when(job("alpha"), default_mode="edits")
    assert types(then)[:4] == ["session.created", "thread.opened", "task.created", "job.created"]
    assert (given.state.title, given.works()) == ("Look at all", ["worker-1"])
    assert one(then, JobCreated).permission_mode == "edits"
    given.says("worker-1")
    assert given.works() == []


@pytest.mark.parametrize("asked", [None, "full"])
def test_no_mode_of_a_job_outlives_the_trust_that_it_came_from(asked: Any) -> None:
    """SAFE-08: but for one that a person chose for this very job."""
    given = team(LEAD, WORKER, permission_mode="full")
    given.says("lead")
    given.when(job("alpha", "beta", "gamma", parallel=1, permission_mode=asked))
    untrusted = {"is_trust_withheld": True, "default_mode": "ask"}
    expected = asked or "ask"

    then = given.when(PauseJob(session_id=SESSION, job_id=JOB))
    given.stopped("worker-1")
    then = given.when(ResumeJob(session_id=SESSION, job_id=JOB), **untrusted)
    assert one(then, TurnSubmitted).permission_mode == expected, "what goes on"
    run = given.run_of("worker-1")
    answer = answered(text(run.model_step + 1, "Done."), run=_number(run.run), step=run.model_step, thread=_at(given))
    then = given.when(answer, **untrusted)
    assert one(then, TurnSubmitted).permission_mode == expected, "what begins"
    given.fails("worker-2")
    given.fails("worker-3")
    then = given.when(again(), **untrusted)
    assert one(then, TurnSubmitted).permission_mode == expected, "what is tried again"
    if asked is None:
        then = given.when(job("delta", agent="worker"), **untrusted)
        assert one(then, JobCreated).permission_mode == "ask"


def _number(run: str) -> int:
    return int(run.removeprefix("run_"))


def _at(given: Team) -> str:
    return given.of("worker-1").thread


def test_input_to_a_worker_whose_item_awaits_a_retry_is_that_attempt() -> None:
    """CTL-11: it waits for room like the item, and no second worker takes the item up."""
    given = begun("alpha", "beta", parallel=1)
    whole, first, _ = given.state.tasks
    child = given.of("worker-1")
    given.when(interrupt(thread_id=child.thread))
    given.stopped("worker-1")
    given.when(again(first))
    given.when(submit("go on", session_id=SESSION, thread_id=child.thread))
    assert given.works() == ["worker-2"]
    then = given.says("worker-2")
    assert [(new.scope.task, new.scope.attempt) for new in then.decision.facts if new.fact.type == "task.started"] == [
        (first, 2)
    ]
    assert given.works() == ["worker-1"]
    assert tasks(given.says("worker-1"), TaskCompleted) == [first, whole]


def test_a_job_in_an_archived_session_is_paused_before_it_begins_an_item() -> None:
    given = begun("alpha", "beta", parallel=1)
    whole, first, second = given.state.tasks
    run = given.run_of("worker-1")
    answer = answered(text(run.model_step + 1, "Done."), run=_number(run.run), step=run.model_step, thread=_at(given))
    then = given.when(answer, is_archived=True)
    assert (tasks(then, TaskCompleted), tasks(then, TaskPaused)) == ([first], [whole])
    then = given.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert tasks(then, TaskStarted) == [second]


def test_a_worker_paused_and_resumed_before_it_stopped_gets_one_turn_to_continue() -> None:
    given = begun("alpha", parallel=1)
    for _ in range(3):
        given.when(PauseJob(session_id=SESSION, job_id=JOB))
        given.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert len(given.of("worker-1").queue) == 1


def test_an_item_that_is_paused_leaves_its_room_to_others() -> None:
    given = begun("alpha", "beta", parallel=1)
    _, first, second = given.state.tasks
    given.when(pause(first))
    assert tasks(given.stopped("worker-1"), TaskStarted) == [second]
    assert given.refuses(again(first)).code == "task_running"


def test_a_job_none_of_whose_items_is_done_was_cancelled() -> None:
    given = begun("alpha", parallel=1)
    whole, item = given.state.tasks
    given.when(cancel(item))
    then = given.stopped("worker-1", "cancelled")
    assert tasks(then, TaskCancelled) == [item, whole]
    assert tasks(then, TaskCompleted) == []


def test_workers_that_failed_are_closed_with_their_job() -> None:
    given = begun("alpha", "beta", parallel=1)
    given.fails("worker-1")
    given.fails("worker-2")
    then = given.when(CancelJob(session_id=SESSION, job_id=JOB))
    assert [one.reason for one in all_of(then, SubagentClosed)] == ["its job has ended"] * 2
    assert list(given.state.threads) == [given.state.lead]


def test_what_is_too_long_for_every_attempt_to_be_told_is_refused_by_its_place() -> None:
    given = board()
    refused = given.refuses(job("alpha", "ä" * 5000))
    assert (refused.code, refused.field) == ("message_too_large", "items[1].input")
    assert given.refuses(job("alpha", instructions="ä" * 5000)).field == "instructions"


def test_refusals_of_job_commands_name_the_job() -> None:
    given = begun("alpha", parallel=1)
    resumed = given.refuses(ResumeJob(session_id=SESSION, job_id=JOB))
    assert (resumed.code, resumed.field, resumed.hint) == ("task_not_paused", "jobId", "Read its status with get_job.")
    given.when(CancelJob(session_id=SESSION, job_id=JOB))
    for asked in (PauseJob(session_id=SESSION, job_id=JOB), ResumeJob(session_id=SESSION, job_id=JOB), again()):
        refused = given.refuses(asked)
        assert (refused.code, refused.field) == ("unknown_job", "jobId")
        assert refused.hint


def test_workers_of_a_cancelled_job_close_when_a_crash_ends_its_last_run() -> None:
    """S3: taking over after a crash settles jobs like any other decision."""
    given = begun("alpha")
    given.when(CancelJob(session_id=SESSION, job_id=JOB))
    given.epoch += 1

    given.when(HostTakenOver(partials=()))

    assert given.state.jobs == {}
    assert [one.agent for one in given.state.threads.values() if one.child is not None] == []
