"""Causes that keep an agent asleep: failures, a paused or ended task, an approval, an archive."""

from __future__ import annotations

from callboard.contracts.commands.exchange.message import SendMessage
from callboard.contracts.commands.task import CancelTask, CompleteTask, PauseTask, ResumeTask, StartTask
from callboard.contracts.commands.turn import InterruptTurn, ResumeThread, SubmitTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.agent import AgentSlept, AgentWoke
from callboard.contracts.facts.session import ThreadPaused, WarningRaised
from callboard.contracts.facts.task import SnapshotUpdated, TaskCancelled, TaskCancelRequested, TaskPaused, TaskResumed
from callboard.contracts.facts.turn import TurnFailed
from callboard.contracts.scope import Scope
from callboard.control.decision_inputs import RunConfig
from callboard.control.effects import ScheduleSession, has_sleeping_agents
from callboard.control.outcomes import HostTakenOver, WakeTimeReached
from tests.control.rigs.examples import ASK, SESSION, THREAD, model_response, reject, requested_call
from tests.control.rigs.sleepers import MINUTE, sleeping_team, wake_input, watcher_definition
from tests.control.rigs.team import fact_types, facts_of, only_fact

WATCHER = Scope(agent="watcher", thread="thr_2", task="tsk_1")


def test_three_consecutive_failures_pause_a_background_agent() -> None:
    """A failing agent does not spend without limit."""
    session = sleeping_team(every=60)
    for attempt in (1, 2, 3):
        assert session.pass_time(60).decision.facts[2].scope.attempt == attempt
        result = session.fails("watcher")
        assert fact_types(result)[-1] == ("agent.slept" if attempt < 3 else "thread.paused")
    assert only_fact(result, ThreadPaused) == ThreadPaused(
        cause="failed", reason="3 consecutive runs failed, the last with model_unavailable"
    )
    session.pass_time(3600).then_nothing()

    resumed = session.when(ResumeThread(session_id=SESSION, thread_id="thr_2"))
    assert [tag for tag in fact_types(resumed) if tag.startswith(("thread.", "agent."))] == [
        "thread.resumed",
        "agent.woke",
    ]
    assert fact_types(session.fails("watcher"))[-1] == "agent.slept", "resuming resets the count"


def test_a_success_resets_the_count_of_failures() -> None:
    session = sleeping_team(every=60)
    for _ in range(4):
        session.pass_time(60)
        session.fails("watcher")
        session.pass_time(60)
        session.responds("watcher")
    assert session.thread_of("watcher").paused is None


def test_an_interrupted_background_agent_wakes_at_its_next_time() -> None:
    session = sleeping_team(every=60)
    session.pass_time(60)
    session.when(InterruptTurn(session_id=SESSION, thread_id="thr_2"))
    assert fact_types(session.stops("watcher"))[-2:] == ["turn.interrupted", "agent.slept"]
    assert only_fact(session.pass_time(60), AgentWoke).reason == "schedule"


def test_nothing_wakes_an_agent_while_its_task_is_paused() -> None:
    """UI-22"""
    session = sleeping_team(every=60, wake_on=("warning.raised",))
    session.report_task_fact(TaskPaused(reason="not now")).then_nothing()
    session.pass_time(3600).then_nothing()
    session.report_fact(WarningRaised(code="disk", message="full"), Scope(agent="lead", thread=THREAD)).then_nothing()
    assert "agent.woke" not in fact_types(
        session.when(SendMessage(session_id=SESSION, to=("watcher",), text="Are you there?"))
    )

    result = session.report_task_fact(TaskResumed())
    assert only_fact(result, AgentSlept) == AgentSlept(
        reason="resumed",
        wake_at=session.now + MINUTE,
        wake_on=("warning.raised",),
        schedule="every 60 s",
        permission_mode="edits",
    )
    assert only_fact(result, AgentWoke).reason == "inbox", "the message waits in its inbox"


def test_an_agent_never_wakes_again_after_its_task_is_cancelled() -> None:
    """UI-22"""
    session = sleeping_team(every=60)
    result = session.report_task_fact(TaskCancelRequested(reason="enough"))
    result.then(
        (TaskCancelled(reason="enough"), WATCHER),
        (SnapshotUpdated(through=result.before + 1), WATCHER),
        (AgentSlept(reason="ended", permission_mode="edits"), WATCHER),
    )
    assert result.effects == [ScheduleSession(f"{SESSION}/{result.before + 3}")]
    assert not has_sleeping_agents(session.state)
    session.pass_time(3600).then_nothing()
    session.when(SubmitTurn(session_id=SESSION, thread_id="thr_2", text="One more question."))
    assert fact_types(session.responds("watcher"))[-1] == "turn.completed"


def test_an_agent_with_an_open_approval_does_not_wake_again() -> None:
    """The agent waits for a person, however many wake times pass."""
    session = sleeping_team(every=60)
    session.pass_time(60)
    session.when(model_response(requested_call(9, 2, ASK), run=2, thread="thr_2"))
    session.pass_time(3600).then_nothing()
    session.when(reject())
    assert only_fact(session.responds("watcher"), AgentSlept).wake_at == session.now + MINUTE


def test_pausing_the_task_stops_its_run_and_resuming_waits_for_the_next_wake_time() -> None:
    """UI-22"""
    session = sleeping_team(every=60)
    session.pass_time(60)
    task = session.watcher_background().task
    assert fact_types(session.when(PauseTask(session_id=SESSION, task_id=task)))[:2] == [
        "task.paused",
        "turn.interrupt.requested",
    ]
    assert "agent.slept" not in fact_types(session.stops("watcher"))
    session.pass_time(3600).then_nothing()
    result = session.when(ResumeTask(session_id=SESSION, task_id=task))
    assert fact_types(result) == ["task.resumed", "agent.slept"]
    assert only_fact(result, AgentSlept).reason == "resumed"
    assert session.pass_time(60).decision.facts[2].scope.attempt == 2


def test_cancelling_the_task_stops_its_run_and_ends_the_schedule() -> None:
    """UI-22: first the intent, then the stopped run, then the end."""
    session = sleeping_team(every=60)
    session.pass_time(60)
    task = session.watcher_background().task
    assert fact_types(session.when(CancelTask(session_id=SESSION, task_id=task))) == [
        "task.cancel.requested",
        "turn.interrupt.requested",
    ]
    result = session.stops("watcher", "cancelled")
    assert [tag for tag in fact_types(result) if not tag.startswith("model.")] == [
        "turn.interrupted",
        "task.cancelled",
        "snapshot.updated",
        "agent.slept",
    ]
    assert only_fact(result, AgentSlept).reason == "ended"
    session.pass_time(3600).then_nothing()


def test_a_person_may_start_the_next_run_before_its_time() -> None:
    """It is one attempt, recorded once."""
    session = sleeping_team(every=60)
    task = session.watcher_background().task
    result = session.when(StartTask(session_id=SESSION, task_id=task))
    assert fact_types(result).count("task.started") == 1
    assert only_fact(result, AgentWoke).reason == "person"
    session.responds("watcher")
    assert session.pass_time(60).decision.facts[2].scope.attempt == 2


def test_completing_the_task_ends_the_schedule() -> None:
    session = sleeping_team(every=60)
    result = session.when(CompleteTask(session_id=SESSION, task_id=session.watcher_background().task))
    assert fact_types(result)[-1] == "agent.slept"
    assert only_fact(result, AgentSlept).reason == "ended"
    session.pass_time(60).then_nothing()


def test_an_agent_does_not_wake_in_an_archived_session() -> None:
    session = sleeping_team(every=60)
    session.now += MINUTE
    session.when(WakeTimeReached(at=session.now), is_archived=True).then_nothing()
    assert only_fact(session.when(WakeTimeReached(at=session.now)), AgentWoke).due == session.now


def test_an_agent_that_cannot_start_is_paused_with_the_reason() -> None:
    session = sleeping_team(every=60)

    def refuse_agent(definition: str, *_: object) -> RunConfig:
        raise Refusal("unknown_agent", f"There is no agent {definition}.")

    session.configure_run = refuse_agent
    session.pass_time(60).then(
        (ThreadPaused(cause="failed", reason="unknown_agent"), Scope(agent="watcher", thread="thr_2"))
    )
    session.pass_time(3600).then_nothing()


def test_a_changed_schedule_applies_after_the_next_run() -> None:
    session = sleeping_team(every=60)
    session.definitions = (session.definitions[0], watcher_definition(every=3600))
    session.pass_time(60)
    assert only_fact(session.responds("watcher"), AgentSlept).schedule == "every 3600 s"


def test_inbox_items_of_a_background_agent_wait_for_its_next_time_after_a_restart() -> None:
    """A takeover starts no agent. A scheduled agent needs no resume."""
    session = sleeping_team(every=60)
    session.pass_time(60)
    session.when(SendMessage(session_id=SESSION, to=("watcher",), text="And the notes."))
    session.epoch = 2
    result = session.when(HostTakenOver(partials=()))
    assert not facts_of(result, ThreadPaused)
    assert not facts_of(result, AgentWoke)
    woken = session.pass_time(60)
    assert (only_fact(woken, AgentWoke).reason, fact_types(woken).count("inbox.reserved")) == ("schedule", 1)


def test_the_next_wake_reports_the_code_of_the_failure() -> None:
    session = sleeping_team(every=60)
    session.pass_time(60)
    assert only_fact(session.fails("watcher"), TurnFailed).code == "model_unavailable"
    assert "it failed (model_unavailable)" in wake_input(session.pass_time(60))
