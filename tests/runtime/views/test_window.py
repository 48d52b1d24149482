"""The rows that a client of a session receives first."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.job import CancelJob
from callboard.contracts.facts.artifact import ArtifactCreated
from callboard.contracts.record import Record
from callboard.contracts.rows import SESSION_PANELS
from callboard.contracts.rows.agent import AgentRow
from callboard.contracts.rows.artifact import ArtifactRow
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.task import JobItems, TaskRow
from callboard.contracts.rows.team import TeamRow
from callboard.contracts.rows.turn import TurnRow
from callboard.projection.rows import Table
from callboard.projection.view import SessionView
from callboard.runtime.views.window import Window
from tests.control.rigs import jobs
from tests.control.rigs.examples import SESSION
from tests.projection.artifact_sessions import artifact_scope, artifact_session, version
from tests.projection.histories import random_history
from tests.projection.team.worker_team import add_facts, join_facts, start_facts, team_session, write_facts
from tests.projection.test_context import context_sessions

#: Largest size of a session's first rows, in bytes.
GOAL = 256_000


def test_a_session_with_many_children_opens_with_its_leads_turn_within_the_limit():
    """UI-18: the lead, the team's row and its newest children are included; the rest is read on
    demand."""
    story, window = team_session(), Window(20, 200_000)
    window.apply(Upsert(panel, row) for panel, rows in story.table.group_rows().items() for row in rows)
    for number in range(2, 202):
        for fact in (*join_facts(number), *start_facts(number), *write_facts(number)):
            window.apply(add_facts(story, fact).ops)
    snapshot = window.snapshot()
    rows = [op.row for op in snapshot if isinstance(op, Upsert)]
    assert len(msgspec.json.encode(snapshot)) < GOAL
    assert next(row.key for row in rows if isinstance(row, TurnRow)) == "trn_1"
    assert len([row for row in rows if isinstance(row, TurnRow)]) <= 40
    agents = [row.key for row in rows if isinstance(row, AgentRow)]
    assert (agents[0], agents[-1]) == ("solo", "writer-201")
    assert any(isinstance(row, TeamRow) for row in rows)


def test_a_job_with_many_items_opens_with_its_card_running_or_ended():
    """UI-18: its items are read on demand, and its card counts them by status."""
    history, view, window = (
        jobs.session_with_job(*(f"item {number}" for number in range(500)), parallel=1),
        SessionView(),
        Window(20, 40_000),
    )

    def card() -> JobItems | None:
        for record in history.records[len(records) :]:
            window.apply(view.apply(record))
            records.append(record)
        rows = [op.row for op in window.snapshot() if isinstance(op, Upsert) and isinstance(op.row, TaskRow)]
        assert 1 < len(rows) < 500
        return next((row.items for row in rows if row.items is not None), None)

    records: list[Record] = []
    assert card() == JobItems(waiting=499, running=1)
    history.when(CancelJob(session_id=SESSION, job_id=jobs.JOB))
    history.stops("worker-1", "cancelled")
    assert card() == JobItems(cancelled=500)


def test_a_session_with_many_artifacts_opens_with_the_newest_within_the_limit():
    """UI-13: the others are listed on demand, and memory stays bounded."""
    story, window = artifact_session(), Window(20, 200_000)
    window.apply(Upsert(panel, row) for panel, rows in story.table.group_rows().items() for row in rows)
    for number in range(2, 502):
        path, scope = f"src/{number}.py", artifact_scope(f"art_{number}")
        for fact in (ArtifactCreated(artifact_kind="code", path=path), version(1, path=path)):
            window.apply(story.add(fact, scope).ops)
    snapshot = window.snapshot()
    assert len(msgspec.json.encode(snapshot)) < GOAL
    keys = [op.row.key for op in snapshot if isinstance(op, Upsert) and isinstance(op.row, ArtifactRow)]
    assert keys[-1] == "art_501"
    assert 20 < len(keys) < 100
    assert len(window.rows(ArtifactRow)) == 300


def test_a_client_that_opens_a_session_gets_every_panel_that_has_rows():
    """UI-18: no panel is empty until its next change."""
    panels: set[str] = set()
    for source in (
        *(story.records() for story in context_sessions()),
        random_history(11, moves=300, threads=2).records,
    ):
        view, window, table = SessionView(), Window(1_000, 100_000_000), Table()
        for record in source:
            ops = view.apply(record)
            window.apply(ops)
            table.apply(ops)
        filled = {panel for panel, rows in table.group_rows().items() if rows and panel in SESSION_PANELS}
        assert {op.panel for op in window.snapshot() if isinstance(op, Upsert)} == filled
        panels |= filled
    assert len(panels) > 5
