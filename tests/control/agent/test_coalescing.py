"""Whatever happens to an agent that sleeps: it wakes once for each time that it slept until, and for no other."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.contracts.facts.agent import AgentSlept, AgentWoke
from callboard.contracts.facts.task import TaskPaused, TaskResumed, TaskStarted
from callboard.control.outcomes import HostTakenOver, WakeTimeReached
from tests.control.rigs.examples import SESSION, submit
from tests.control.rigs.sleepers import Sleepers, sleepers

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
    made = sleepers(**schedule)
    for name, seconds in steps:
        _take(made, name, seconds)
        made.when(WakeTimeReached(at=made.now))
        _holds(made)
    facts = [(record.fact, record.header.at, record.scope) for record in made.records]
    until, begun = 0, 0
    for fact, at, scope in facts:
        match fact:
            case AgentSlept():
                assert fact.wake_at > at, "it never sleeps until a time that has passed"
                until = fact.wake_at
            case AgentWoke(reason="schedule"):
                assert fact.due == until <= at, "what wakes it is the time that it was told of"
                until = 0
            case AgentWoke() | TaskPaused():
                until = 0
            case TaskStarted():
                begun += 1
                assert scope.attempt == begun, "its runs are attempts, one after the other"
            case _:
                pass


def _holds(made: Sleepers) -> None:
    """Where its time has come it is at work, unless somebody said that it is not to be."""
    thread, background = made.of("watcher"), made.of_watcher()
    if thread.run is None and thread.paused is None and not background.is_held:
        assert background.asleep
        assert background.wake_at > made.now
    assert not (background.asleep and thread.run is not None)


def _take(made: Sleepers, name: str, seconds: float) -> None:
    works, held = "watcher" in made.works(), made.of_watcher().is_held
    match name:
        case "passes":
            made.now += int(seconds * 1_000_000)
        case "says" if works:
            made.says("watcher")
        case "fails" if works:
            made.fails("watcher")
        case "dies":
            made.epoch += 1
            made.when(HostTakenOver(partials=()))
        case "pauses" if not held and not works:
            made.on_task(TaskPaused())
        case "resumes" if held:
            made.on_task(TaskResumed())
        case "person":
            made.when(submit("Look.", session_id=SESSION, thread_id=made.of("watcher").thread))
        case "lead":
            if "lead" not in made.works():
                made.when(submit("More.", session_id=SESSION, thread_id=made.state.lead))
        case _:
            pass
