"""A job and its items on the board and in events."""

from __future__ import annotations

from callboard.contracts.commands.job import CancelJob, PauseJob, ResumeJob
from callboard.contracts.rows.team import JobItems, TaskRow
from callboard.projection.emit.agentui.session_events import AgentUiEvents
from callboard.projection.emit.subagents import SubagentEvents
from callboard.projection.view import SessionView
from tests.control.rigs.examples import SESSION
from tests.control.rigs.jobs import JOB, retry_item, session_with_job
from tests.control.rigs.team import Team


def cards(given: Team) -> list[TaskRow]:
    """Return the newest row of each task, the job's first."""
    view, found = SessionView(), dict[str, TaskRow]()
    for record in given.records:
        for op in view.apply(record):
            row = getattr(op, "row", None)
            if isinstance(row, TaskRow):
                found[row.key] = row
    return sorted((row for row in found.values() if row.job), key=lambda row: row.order)


def counts(given: Team) -> JobItems | None:
    return cards(given)[0].items


def test_the_card_of_a_job_counts_its_items_by_state() -> None:
    given = session_with_job("alpha", "beta", "gamma", parallel=1)
    assert counts(given) == JobItems(waiting=2, running=1)
    given.answers("worker-1")
    assert counts(given) == JobItems(waiting=1, running=1, completed=1)
    given.fails("worker-2")
    assert counts(given) == JobItems(running=1, completed=1, failed=1)
    given.answers("worker-3")
    whole, _, failed, _ = cards(given)
    assert (whole.status, whole.blocker) == ("blocked", "2 of 3 items are done, 1 failed")
    assert (failed.status, [one.status for one in failed.attempts]) == ("blocked", ["failed"])

    given.when(retry_item())
    assert counts(given) == JobItems(running=1, completed=2)
    given.answers("worker-2")
    whole, *items = cards(given)
    assert (whole.status, whole.items, whole.summary) == (
        "done",
        JobItems(completed=3),
        "3 of 3 items are done",
    )
    assert [[one.status for one in item.attempts] for item in items] == [
        ["completed"],
        ["failed", "completed"],
        ["completed"],
    ]
    assert {item.parent_task for item in items} == {whole.key}


def test_an_item_that_waits_for_a_retry_is_open_on_the_board() -> None:
    given = session_with_job("alpha", "beta", parallel=1)
    given.fails("worker-1")
    given.fails("worker-2")
    given.when(retry_item())
    assert counts(given) == JobItems(waiting=1, running=1)
    assert [(row.status, row.blocker) for row in cards(given)[1:]] == [("running", ""), ("open", "")]


def test_a_failed_item_stays_failed_after_a_pause() -> None:
    given = session_with_job("alpha", "beta", parallel=1)
    given.fails("worker-1")
    failed = cards(given)[1]
    given.when(PauseJob(session_id=SESSION, job_id=JOB))
    given.stopped("worker-2")
    assert counts(given) == JobItems(waiting=1, failed=1)
    given.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert counts(given) == JobItems(running=1, failed=1)
    after = cards(given)[1]
    assert (after.status, after.blocker, after.ended) == (failed.status, failed.blocker, failed.ended)
    given.answers("worker-2")
    assert cards(given)[0].blocker == "1 of 2 items are done, 1 failed"


def test_a_paused_or_cancelled_job_keeps_its_completed_items() -> None:
    """CTL-11"""
    given = session_with_job("alpha", "beta", "gamma", parallel=1)
    given.answers("worker-1")
    given.when(PauseJob(session_id=SESSION, job_id=JOB, reason="lunch"))
    given.stopped("worker-2")
    assert [(row.status, row.paused) for row in cards(given)] == [
        ("blocked", True),
        ("done", False),
        ("blocked", True),
        ("blocked", True),
    ]
    assert counts(given) == JobItems(waiting=2, completed=1)
    given.when(ResumeJob(session_id=SESSION, job_id=JOB))
    assert counts(given) == JobItems(running=1, waiting=1, completed=1)
    given.when(CancelJob(session_id=SESSION, job_id=JOB))
    assert [row.cancelling for row in cards(given)] == [True, False, True, False]
    given.stopped("worker-2", "cancelled")
    assert [row.status for row in cards(given)] == ["cancelled", "done", "cancelled", "cancelled"]
    assert counts(given) == JobItems(completed=1, cancelled=2)


def test_a_job_is_an_automation_job_of_agent_ui() -> None:
    """Agent UI specification, Durable automation job."""
    given = session_with_job("alpha", "beta", parallel=2)
    given.answers("worker-1")
    given.fails("worker-2")
    given.when(retry_item())
    given.answers("worker-2")
    told = AgentUiEvents()
    events = [event for record in given.records for event in told.apply(record)]
    whole = cards(given)[0].key
    mine = [one for one in events if one.task_id == whole and one.type == "task.changed"]
    assert {one.surface for one in mine} == {"task_capsule"}
    assert {one.payload["jobId"] for one in mine} == {JOB}
    assert mine[-1].payload["lastRunRef"] == f"{whole}.2"
    stood = [tuple(one.payload[name] for name in ("runtimeEntity", "status", "runtimeStatus")) for one in mine]
    assert list(dict.fromkeys(stood)) == [
        ("automation_job", "scheduled", "accepted"),
        ("automation_job", "running", "streaming"),
        ("automation_job", "failed", "failed"),
        ("automation_job", "completed", "done"),
    ]


def test_events_of_a_jobs_workers_have_its_id() -> None:
    """Subagents specification, Runtime facts: the events of a worker have the id of its job."""
    given = session_with_job("alpha", parallel=1)
    given.answers("worker-1")
    told = SubagentEvents()
    events = [event for record in given.records for event in told.apply(record)]
    workers = [one for one in events if one.type.startswith("worker.")]
    assert [one.type for one in workers] == ["worker.started", "worker.completed", "worker.notification"]
    assert {one.job_id for one in workers} == {JOB}
