"""Agents that sleep and wake, as the roster shows them."""

from __future__ import annotations

from itertools import groupby

from callboard.contracts.facts.agent import AgentSlept
from callboard.contracts.facts.task import TaskCancelled
from callboard.contracts.facts.turn import InterruptCause, TurnInterrupted
from callboard.contracts.rows.team import AgentRow, BackgroundWork, TaskRow, TeamRow
from tests.projection.story import asked
from tests.projection.team.tales import HALF_HOUR, WATCH, WATCHER, asleep, rests, run_of, shown, wakes, watcher
from tests.projection.team.troupe import team, told


def states(rows: list[AgentRow]) -> list[str]:
    found = [row.background.state for row in rows if row.background is not None]
    return [state for state, _ in groupby(found)]


def test_each_state_of_a_background_agent_is_a_facts():
    """UI-22: asleep before its first run, awake, at work, stopped by a question, paused, failed, through."""
    assert states(shown(asleep(), AgentRow, "watcher")) == [
        "scheduled",
        "waking",
        "running",
        "blocked",
        "running",
        "sleeping",
        "paused",
        "sleeping",
        "waking",
        "running",
        "failed",
        "completed",
    ]


def test_a_sleeping_agent_says_when_and_why_it_wakes_and_what_came_of_its_last_run():
    """UI-22"""
    story = told(asked(), *watcher(), *wakes(1), *rests(1))
    row = story.table.row(AgentRow, "watcher")
    assert row is not None
    assert row.background == BackgroundWork(
        state="sleeping",
        task_id=WATCH.task,
        schedule="every 1800 s",
        wake_at=2 * HALF_HOUR,
        wake_reason="schedule",
        woke_at=shown(story, AgentRow, "watcher")[2].last_activity,
        last_run=run_of(WATCHER, 1).run,
        last_run_status="completed",
    )
    assert (row.state, row.policy, row.remote) == ("idle", ("Finalize",), None)


def test_a_run_that_a_crash_cut_is_a_failed_one_and_one_that_a_person_stopped_is_not():
    """UI-22, MAR-16"""
    ends: tuple[tuple[InterruptCause, str], ...] = (("crash", "failed"), ("person", "sleeping"))
    for cause, state in ends:
        story = told(asked(), *watcher(), *wakes(1))
        story.say(TurnInterrupted(cause=cause), run_of(WATCHER, 1))
        story.say(AgentSlept(reason="ran", wake_at=9), WATCH)
        assert states(shown(story, AgentRow, "watcher"))[-1] == state


def test_its_runs_are_of_its_task_and_the_card_rests_between_them():
    """CTL-07, UI-22"""
    story = told(asked(), *watcher(), *wakes(1), *rests(1), *wakes(2))
    rows = shown(story, TaskRow, WATCH.task)
    assert [row.status for row in rows] == ["claimed", "running", "running", "claimed", "running"]
    (last,) = rows[-1].attempts
    assert (rows[-1].entity, last.run_id, last.status) == ("automation_job", run_of(WATCHER, 2).run, "running")


def test_a_cancelled_task_wakes_no_agent():
    """UI-22"""
    story = told(asked(), *watcher(), (TaskCancelled(reason="enough"), WATCH))
    row = story.table.row(AgentRow, "watcher")
    assert row is not None
    assert row.background is not None
    assert (row.background.state, row.background.wake_at, row.background.wake_on) == ("completed", 0, ())


def test_a_team_in_which_one_merely_sleeps_is_the_team_of_those_at_work():
    """UI-18: what agents did says more than who joined."""

    def topology(*said: object) -> list[str]:
        story = team() if "team" in said else asked()
        told(story, *watcher())
        if "wakes" in said:
            told(story, *wakes(1))
        return [row.topology for row in story.table.panel(TeamRow)]

    assert topology() == ["background_teammate"]
    assert topology("team") == ["coordinator_team"]
    assert topology("team", "wakes") == ["background_teammate"]
