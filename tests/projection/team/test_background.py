"""Rows of agents that sleep and wake."""

from __future__ import annotations

from itertools import groupby

from callboard.contracts.facts.agent import AgentSlept
from callboard.contracts.facts.task import TaskCancelled
from callboard.contracts.facts.turn import InterruptCause, TurnInterrupted
from callboard.contracts.rows.agent import AgentRow, BackgroundWork
from callboard.contracts.rows.task import TaskRow
from callboard.contracts.rows.team import TeamRow
from tests.projection.session_builder import model_session
from tests.projection.team.scenarios import (
    HALF_HOUR,
    WATCH,
    WATCHER,
    background_session,
    rows_over_time,
    run_scope,
    sleep_facts,
    wake_facts,
    watcher_facts,
)
from tests.projection.team.worker_team import add_facts, team_session


def states(rows: list[AgentRow]) -> list[str]:
    states = [row.background.state for row in rows if row.background is not None]
    return [state for state, _ in groupby(states)]


def test_each_state_of_a_background_agent_comes_from_a_fact():
    """UI-22: asleep, woken, working, waiting for an answer, paused, failed, ended."""
    assert states(rows_over_time(background_session(), AgentRow, "watcher")) == [
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


def test_a_sleeping_agent_shows_its_schedule_and_its_last_run():
    """UI-22"""
    session = add_facts(model_session(), *watcher_facts(), *wake_facts(1), *sleep_facts(1))
    row = session.table.get_row(AgentRow, "watcher")
    assert row is not None
    assert row.background == BackgroundWork(
        state="sleeping",
        task_id=WATCH.task,
        schedule="every 1800 s",
        wake_at=2 * HALF_HOUR,
        wake_reason="schedule",
        woke_at=rows_over_time(session, AgentRow, "watcher")[2].last_activity,
        last_run=run_scope(WATCHER, 1).run,
        last_run_status="completed",
    )
    assert (row.state, row.policy, row.remote) == ("idle", ("Finalize",), None)


def test_a_run_fails_by_a_crash_and_not_by_a_persons_interrupt():
    """UI-22, MAR-16"""
    ends: tuple[tuple[InterruptCause, str], ...] = (("crash", "failed"), ("person", "sleeping"))
    for cause, state in ends:
        session = add_facts(model_session(), *watcher_facts(), *wake_facts(1))
        session.add(TurnInterrupted(cause=cause), run_scope(WATCHER, 1))
        session.add(AgentSlept(reason="ran", wake_at=9), WATCH)
        assert states(rows_over_time(session, AgentRow, "watcher"))[-1] == state


def test_the_task_of_a_background_agent_rests_between_its_runs():
    """CTL-07, UI-22"""
    session = add_facts(model_session(), *watcher_facts(), *wake_facts(1), *sleep_facts(1), *wake_facts(2))
    rows = rows_over_time(session, TaskRow, WATCH.task)
    assert [row.status for row in rows] == ["claimed", "running", "running", "claimed", "running"]
    (last,) = rows[-1].attempts
    assert (rows[-1].entity, last.run_id, last.status) == ("automation_job", run_scope(WATCHER, 2).run, "running")


def test_a_cancelled_task_wakes_no_agent():
    """UI-22"""
    session = add_facts(model_session(), *watcher_facts(), (TaskCancelled(reason="enough"), WATCH))
    row = session.table.get_row(AgentRow, "watcher")
    assert row is not None
    assert row.background is not None
    assert (row.background.state, row.background.wake_at, row.background.wake_on) == ("completed", 0, ())


def test_a_sleeping_agent_does_not_change_the_topology():
    """UI-18: the topology follows from the work, not from membership."""

    def topology(*features: object) -> list[str]:
        session = team_session() if "team" in features else model_session()
        add_facts(session, *watcher_facts())
        if "wakes" in features:
            add_facts(session, *wake_facts(1))
        return [row.topology for row in session.table.list_rows(TeamRow)]

    assert topology() == ["background_teammate"]
    assert topology("team") == ["coordinator_team"]
    assert topology("team", "wakes") == ["background_teammate"]
