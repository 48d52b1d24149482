"""What keeps an agent from waking: failures, a paused or ended task, an open approval, a closed session."""

from __future__ import annotations

from callboard.contracts.commands.handoff import SendMessage
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
from tests.control.rigs.examples import ASK, SESSION, THREAD, answered, reject, wants
from tests.control.rigs.sleepers import MINUTE, sleepers, told, watcher
from tests.control.rigs.team import all_of, one, types

MINE = Scope(agent="watcher", thread="thr_2", task="tsk_1")


def test_three_failures_in_a_row_pause_it() -> None:
    """A failing agent does not spend without an end."""
    given = sleepers(every=60)
    for attempt in (1, 2, 3):
        assert given.passes(60).decision.facts[2].scope.attempt == attempt
        then = given.fails("watcher")
        assert types(then)[-1] == ("agent.slept" if attempt < 3 else "thread.paused")
    assert one(then, ThreadPaused) == ThreadPaused(
        cause="failed", reason="3 consecutive runs failed, the last with model_unavailable"
    )
    given.passes(3600).then_nothing()

    resumed = given.when(ResumeThread(session_id=SESSION, thread_id="thr_2"))
    assert [tag for tag in types(resumed) if tag.startswith(("thread.", "agent."))] == ["thread.resumed", "agent.woke"]
    assert types(given.fails("watcher"))[-1] == "agent.slept", "the count began anew"


def test_a_success_ends_the_row_of_failures() -> None:
    given = sleepers(every=60)
    for _ in range(4):
        given.passes(60)
        given.fails("watcher")
        given.passes(60)
        given.says("watcher")
    assert given.of("watcher").paused is None


def test_one_that_is_interrupted_wakes_at_its_next_time() -> None:
    given = sleepers(every=60)
    given.passes(60)
    given.when(InterruptTurn(session_id=SESSION, thread_id="thr_2"))
    assert types(given.stopped("watcher"))[-2:] == ["turn.interrupted", "agent.slept"]
    assert one(given.passes(60), AgentWoke).reason == "schedule"


def test_a_paused_task_is_woken_by_nothing_until_it_is_resumed() -> None:
    """UI-22"""
    given = sleepers(every=60, wake_on=("warning.raised",))
    given.on_task(TaskPaused(reason="not now")).then_nothing()
    given.passes(3600).then_nothing()
    given.happens(WarningRaised(code="disk", message="full"), Scope(agent="lead", thread=THREAD)).then_nothing()
    assert "agent.woke" not in types(
        given.when(SendMessage(session_id=SESSION, to=("watcher",), text="Are you there?"))
    )

    then = given.on_task(TaskResumed())
    assert one(then, AgentSlept) == AgentSlept(
        reason="resumed",
        wake_at=given.now + MINUTE,
        wake_on=("warning.raised",),
        schedule="every 60 s",
        permission_mode="edits",
    )
    assert one(then, AgentWoke).reason == "inbox", "what was said to it is not lost"


def test_a_task_that_is_cancelled_puts_it_to_sleep_for_good() -> None:
    """UI-22"""
    given = sleepers(every=60)
    then = given.on_task(TaskCancelRequested(reason="enough"))
    then.then(
        (TaskCancelled(reason="enough"), MINE),
        (SnapshotUpdated(through=then.before + 1), MINE),
        (AgentSlept(reason="ended", permission_mode="edits"), MINE),
    )
    assert then.effects == [ScheduleSession(f"{SESSION}/{then.before + 3}")]
    assert not has_sleeping_agents(given.state)
    given.passes(3600).then_nothing()
    given.when(SubmitTurn(session_id=SESSION, thread_id="thr_2", text="One more question."))
    assert types(given.says("watcher"))[-1] == "turn.completed"


def test_while_an_approval_of_it_is_open_it_does_not_wake_again() -> None:
    """What asks waits for a person, however many of its times pass."""
    given = sleepers(every=60)
    given.passes(60)
    given.when(answered(wants(9, 2, ASK), run=2, thread="thr_2"))
    given.passes(3600).then_nothing()
    given.when(reject())
    assert one(given.says("watcher"), AgentSlept).wake_at == given.now + MINUTE


def test_pausing_its_task_stops_its_run_and_resuming_it_waits_for_the_next_time() -> None:
    """UI-22"""
    given = sleepers(every=60)
    given.passes(60)
    task = given.of_watcher().task
    assert types(given.when(PauseTask(session_id=SESSION, task_id=task)))[:2] == [
        "task.paused",
        "turn.interrupt.requested",
    ]
    assert "agent.slept" not in types(given.stopped("watcher"))
    given.passes(3600).then_nothing()
    then = given.when(ResumeTask(session_id=SESSION, task_id=task))
    assert types(then) == ["task.resumed", "agent.slept"]
    assert one(then, AgentSlept).reason == "resumed"
    assert given.passes(60).decision.facts[2].scope.attempt == 2


def test_cancelling_its_task_stops_its_run_and_ends_it() -> None:
    """UI-22: the intent first, then what it stopped, then the end."""
    given = sleepers(every=60)
    given.passes(60)
    task = given.of_watcher().task
    assert types(given.when(CancelTask(session_id=SESSION, task_id=task))) == [
        "task.cancel.requested",
        "turn.interrupt.requested",
    ]
    then = given.stopped("watcher", "cancelled")
    assert [tag for tag in types(then) if not tag.startswith("model.")] == [
        "turn.interrupted",
        "task.cancelled",
        "snapshot.updated",
        "agent.slept",
    ]
    assert one(then, AgentSlept).reason == "ended"
    given.passes(3600).then_nothing()


def test_somebody_may_begin_its_next_run_before_its_time() -> None:
    """It is one attempt, told once."""
    given = sleepers(every=60)
    task = given.of_watcher().task
    then = given.when(StartTask(session_id=SESSION, task_id=task))
    assert types(then).count("task.started") == 1
    assert one(then, AgentWoke).reason == "person"
    given.says("watcher")
    assert given.passes(60).decision.facts[2].scope.attempt == 2


def test_completing_its_task_is_its_end_as_well() -> None:
    given = sleepers(every=60)
    then = given.when(CompleteTask(session_id=SESSION, task_id=given.of_watcher().task))
    assert types(then)[-1] == "agent.slept"
    assert one(then, AgentSlept).reason == "ended"
    given.passes(60).then_nothing()


def test_an_agent_does_not_wake_in_an_archived_session() -> None:
    given = sleepers(every=60)
    given.now += MINUTE
    given.when(WakeTimeReached(at=given.now), is_archived=True).then_nothing()
    assert one(given.when(WakeTimeReached(at=given.now)), AgentWoke).due == given.now


def test_an_agent_that_cannot_start_is_paused_with_the_reason() -> None:
    given = sleepers(every=60)

    def gone(definition: str, *_: object) -> RunConfig:
        raise Refusal("unknown_agent", f"There is no agent {definition}.")

    given.setup = gone
    given.passes(60).then(
        (ThreadPaused(cause="failed", reason="unknown_agent"), Scope(agent="watcher", thread="thr_2"))
    )
    given.passes(3600).then_nothing()


def test_what_it_is_to_do_next_is_what_its_file_says_then() -> None:
    given = sleepers(every=60)
    given.definitions = (given.definitions[0], watcher(every=3600))
    given.passes(60)
    assert one(given.says("watcher"), AgentSlept).schedule == "every 3600 s"


def test_the_end_of_a_process_leaves_what_waits_for_it_for_its_next_time() -> None:
    """Nothing of a team begins by itself when its process ends, and nobody has to resume what wakes by itself."""
    given = sleepers(every=60)
    given.passes(60)
    given.when(SendMessage(session_id=SESSION, to=("watcher",), text="And the notes."))
    given.epoch = 2
    then = given.when(HostTakenOver(partials=()))
    assert not all_of(then, ThreadPaused)
    assert not all_of(then, AgentWoke)
    woken = given.passes(60)
    assert (one(woken, AgentWoke).reason, types(woken).count("inbox.reserved")) == ("schedule", 1)


def test_a_failure_says_which() -> None:
    given = sleepers(every=60)
    given.passes(60)
    assert one(given.fails("watcher"), TurnFailed).code == "model_unavailable"
    assert "it failed (model_unavailable)" in told(given.passes(60))
