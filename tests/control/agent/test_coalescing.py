"""Random steps of a sleeping agent: one wake for each wake time, and no other."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.contracts.facts.agent import AgentSlept, AgentWoke
from callboard.contracts.facts.task import TaskPaused, TaskResumed, TaskStarted
from callboard.control.outcomes import HostTakenOver, WakeTimeReached
from tests.control.rigs.examples import SESSION, submit
from tests.control.rigs.sleepers import SleepingTeam, sleeping_team

SCHEDULES = st.one_of(
    st.integers(1, 7200).map(lambda every: {"every": every}),
    st.sampled_from(["* * * * *", "*/5 * * * *", "0 * * * *", "0 9 * * *", "0 0 1 1 *"]).map(
        lambda line: {"cron": line}
    ),
)
STEPS = st.lists(
    st.one_of(
        st.floats(0.5, 200_000).map(lambda seconds: ("passes", seconds)),
        st.sampled_from(["says", "fails", "dies", "pauses", "resumes", "person", "lead"]).map(lambda name: (name, 0.0)),
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(SCHEDULES, STEPS)
def test_each_wake_time_wakes_the_agent_at_most_once_and_none_is_missed(
    schedule: dict[str, Any], steps: list[tuple[str, float]]
) -> None:
    """UI-22"""
    session = sleeping_team(**schedule)
    for name, seconds in steps:
        _apply(session, name, seconds)
        session.when(WakeTimeReached(at=session.now))
        _check_wakefulness(session)
    facts = [(record.fact, record.header.at, record.scope) for record in session.records]
    wake_at, attempt = 0, 0
    for fact, at, scope in facts:
        match fact:
            case AgentSlept():
                assert fact.wake_at > at, "the wake time is in the future"
                wake_at = fact.wake_at
            case AgentWoke(reason="schedule"):
                assert fact.due == wake_at <= at, "it wakes at its recorded wake time"
                wake_at = 0
            case AgentWoke() | TaskPaused():
                wake_at = 0
            case TaskStarted():
                attempt += 1
                assert scope.attempt == attempt, "its runs are consecutive attempts"
            case _:
                pass


def _check_wakefulness(session: SleepingTeam) -> None:
    """Check that the watcher runs from its wake time on, unless it is paused or held."""
    thread, background = session.thread_of("watcher"), session.watcher_background()
    if thread.run is None and thread.paused is None and not background.is_held:
        assert background.asleep
        assert background.wake_at > session.now
    assert not (background.asleep and thread.run is not None)


def _apply(session: SleepingTeam, name: str, seconds: float) -> None:
    is_running, is_held = "watcher" in session.running_agents(), session.watcher_background().is_held
    match name:
        case "passes":
            session.now += int(seconds * 1_000_000)
        case "says" if is_running:
            session.responds("watcher")
        case "fails" if is_running:
            session.fails("watcher")
        case "dies":
            session.epoch += 1
            session.when(HostTakenOver(partials=()))
        case "pauses" if not is_held and not is_running:
            session.report_task_fact(TaskPaused())
        case "resumes" if is_held:
            session.report_task_fact(TaskResumed())
        case "person":
            session.when(submit("Look.", session_id=SESSION, thread_id=session.thread_of("watcher").thread))
        case "lead":
            if "lead" not in session.running_agents():
                session.when(submit("More.", session_id=SESSION, thread_id=session.state.lead))
        case _:
            pass
