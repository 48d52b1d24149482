"""A job and its items on the board and in events."""

from __future__ import annotations

from callboard.contracts.commands.job import CancelJob, PauseJob, ResumeJob
from callboard.contracts.rows.task import JobItems, TaskRow
from callboard.projection.emit.agentui.session_events import AgentUiEvents
from callboard.projection.emit.subagents import SubagentEvents
from callboard.projection.view import SessionView
from tests.control.rigs.examples import SESSION
from tests.control.rigs.jobs import JOB, retry_item, session_with_job
from tests.control.rigs.team import Team


def cards(team: Team) -> list[TaskRow]:
    """Return the newest row of each task, the job's first."""
    view, newest = SessionView(), dict[str, TaskRow]()
    for record in team.records:
        for op in view.apply(record):
            row = getattr(op, "row", None)
            if isinstance(row, TaskRow):
                newest[row.key] = row
    return sorted((row for row in newest.values() if row.job), key=lambda row: row.order)


def counts(team: Team) -> JobItems | None:
    return cards(team)[0].items


def test_the_card_of_a_job_counts_its_items_by_state() -> None:
    team = session_with_job("alpha", "beta", "gamma", parallel=1)
    assert counts(team) == JobItems(waiting=2, running=1)
    team.responds("worker-1")
    assert counts(team) == JobItems(waiting=1, running=1, completed=1)
    team.fails("worker-2")
    assert counts(team) == JobItems(running=1, completed=1, failed=1)
    team.responds("worker-3")
    whole, _, failed, _ = cards(team)
    assert (whole.status, whole.blocker) == ("blocked", "2 of 3 items are done, 1 failed")
    assert (failed.status, [attempt.status for attempt in failed.attempts]) == ("blocked", ["failed"])

    team.when(retry_item())
    assert counts(team) == JobItems(running=1, completed=2)
    team.responds("worker-2")
    whole, *items = cards(team)
    assert (whole.status, whole.items, whole.summary) == (
        "done",
        JobItems(completed=3),
        "3 of 3 items are done",
    )
    assert [[attempt.status for attempt in item.attempts] for item in items] == [
        ["completed"],
        ["failed", "completed"],
        ["completed"],
    ]
    assert {item.parent_task for item in items} == {whole.key}


def test_an_item_that_waits_for_a_retry_is_open_on_the_board() -> None:
    team = session_with_job("alpha", "beta", parallel=1)
    team.fails("worker-1")
    team.fails("worker-2")
    team.when(retry_item())
    assert counts(team) == JobItems(waiting=1, running=1)
    assert [(row.status, row.blocker) for row in cards(team)[1:]] == [("running", ""), ("open", "")]


def test_a_failed_item_stays_failed_after_a_pause() -> None:
    team = session_with_job("alpha", "beta", parallel=1)
    team.fails("worker-1")
    failed = cards(team)[1]
    team.when(PauseJob(session_id=SESSION, job_id=JOB))
    team.stops("worker-2")
    assert counts(team) == JobItems(waiting=1, failed=1)
    team.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert counts(team) == JobItems(running=1, failed=1)
    after = cards(team)[1]
    assert (after.status, after.blocker, after.ended) == (failed.status, failed.blocker, failed.ended)
    team.responds("worker-2")
    assert cards(team)[0].blocker == "1 of 2 items are done, 1 failed"


def test_a_paused_or_cancelled_job_keeps_its_completed_items() -> None:
    """CTL-11"""
    team = session_with_job("alpha", "beta", "gamma", parallel=1)
    team.responds("worker-1")
    team.when(PauseJob(session_id=SESSION, job_id=JOB, reason="lunch"))
    team.stops("worker-2")
    assert [(row.status, row.paused) for row in cards(team)] == [
        ("blocked", True),
        ("done", False),
        ("blocked", True),
        ("blocked", True),
    ]
    assert counts(team) == JobItems(waiting=2, completed=1)
    team.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert counts(team) == JobItems(running=1, waiting=1, completed=1)
    team.when(CancelJob(session_id=SESSION, job_id=JOB))
    assert [row.cancelling for row in cards(team)] == [True, False, True, False]
    team.stops("worker-2", "cancelled")
    assert [row.status for row in cards(team)] == ["cancelled", "done", "cancelled", "cancelled"]
    assert counts(team) == JobItems(completed=1, cancelled=2)


def test_a_job_is_an_automation_job_of_agent_ui() -> None:
    """Agent UI specification, Durable automation job."""
    team = session_with_job("alpha", "beta", parallel=2)
    team.responds("worker-1")
    team.fails("worker-2")
    team.when(retry_item())
    team.responds("worker-2")
    emit = AgentUiEvents()
    events = [event for record in team.records for event in emit.apply(record)]
    whole = cards(team)[0].key
    mine = [event for event in events if event.task_id == whole and event.type == "task.changed"]
    assert {event.surface for event in mine} == {"task_capsule"}
    assert {event.payload["jobId"] for event in mine} == {JOB}
    assert mine[-1].payload["lastRunRef"] == f"{whole}.2"
    stood = [tuple(event.payload[name] for name in ("runtimeEntity", "status", "runtimeStatus")) for event in mine]
    assert list(dict.fromkeys(stood)) == [
        ("automation_job", "scheduled", "accepted"),
        ("automation_job", "running", "streaming"),
        ("automation_job", "failed", "failed"),
        ("automation_job", "completed", "done"),
    ]


def test_events_of_a_jobs_workers_have_its_id() -> None:
    """Subagents specification, Runtime facts: the events of a worker have the id of its job."""
    team = session_with_job("alpha", parallel=1)
    team.responds("worker-1")
    emit = SubagentEvents()
    events = [event for record in team.records for event in emit.apply(record)]
    workers = [event for event in events if event.type.startswith("worker.")]
    assert [worker.type for worker in workers] == ["worker.started", "worker.completed", "worker.notification"]
    assert {worker.job_id for worker in workers} == {JOB}
