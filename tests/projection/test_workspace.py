"""The list of sessions: cards from sessions, titles and pins from the workspace."""

from __future__ import annotations

from callboard.contracts.facts.workspace import (
    SessionArchived,
    SessionDeleted,
    SessionListed,
    SessionPinned,
    SessionTitled,
    WorkspaceOpened,
)
from callboard.contracts.rows.session import SessionCard, SessionRow, WorkspaceRow
from callboard.projection.overlay import overlay
from callboard.projection.rows import Table
from callboard.projection.workspace import WorkspaceView, apply_listing
from tests.projection.runs import Log
from tests.projection.session_builder import model_session


def workspace_view() -> tuple[Log, WorkspaceView, Table]:
    """Return a workspace with one session and its card."""
    log, view, table = Log("wks_1"), WorkspaceView(), Table()
    table.apply(view.apply(log.add(WorkspaceOpened(path="/work", name="work"))))
    table.apply(view.apply(log.add(SessionListed(session_id="ses_1", title="Tidy the prompts"))))
    table.apply(view.update_card(session_card()))
    return log, view, table


def session_card() -> SessionCard:
    row = model_session().table.get_row(SessionCard, "ses_1")
    assert row is not None
    return row


def listed_sessions(table: Table) -> list[tuple[str, bool, bool]]:
    return [(row.title, row.pinned, row.archived) for row in table.list_rows(SessionCard)]


def test_a_workspace_shows_its_folder():
    _, _, table = workspace_view()
    assert table.list_rows(WorkspaceRow) == [
        WorkspaceRow(
            key="wks_1", order=1_700_000_000_001_000, sequence=1, workspace_id="wks_1", path="/work", name="work"
        )
    ]


def test_title_pin_and_archive_come_from_facts_and_reach_the_card():
    log, view, table = workspace_view()
    for fact, expected in (
        (SessionTitled(session_id="ses_1", title="Prompts"), ("Prompts", False, False)),
        (SessionPinned(session_id="ses_1", pinned=True), ("Prompts", True, False)),
        (SessionArchived(session_id="ses_1", archived=True), ("Prompts", True, True)),
    ):
        table.apply(view.apply(log.add(fact)))
        assert listed_sessions(table) == [expected]


def test_a_changed_card_keeps_its_listing():
    log, view, table = workspace_view()
    table.apply(view.apply(log.add(SessionPinned(session_id="ses_1", pinned=True))))
    table.apply(view.update_card(session_card()))
    assert listed_sessions(table) == [("Tidy the prompts", True, False)]


def test_a_deleted_session_leaves_the_list():
    """No row refers to a deleted session."""
    log, view, table = workspace_view()
    table.apply(view.apply(log.add(SessionDeleted(session_id="ses_1", last_sequence=9, link="00"))))
    assert listed_sessions(table) == []
    assert view.find_listing("ses_1") is None
    assert view.apply(log.add(SessionTitled(session_id="ses_1", title="Again"))) == []
    assert view.apply(log.add(SessionListed(session_id="ses_1", title="Again"))) == []


def test_a_workspace_ignores_repeated_facts():
    """UI-34"""
    log, view, _ = workspace_view()
    renamed = log.add(SessionTitled(session_id="ses_1", title="Prompts"))
    view.apply(renamed)
    assert view.apply(renamed) == []
    assert view.sequence == 3


def test_the_shell_of_a_session_has_the_same_title_as_its_card():
    log, view, _ = workspace_view()
    view.apply(log.add(SessionTitled(session_id="ses_1", title="Prompts")))
    view.apply(log.add(SessionArchived(session_id="ses_1", archived=True)))
    row = model_session().table.get_row(SessionRow, "ses_1")
    assert row is not None
    shell = apply_listing(row, view.find_listing("ses_1"))
    assert (shell.title, shell.archived, shell.folder) == ("Prompts", True, "/work")
    assert apply_listing(row, view.find_listing("ses_2")) == row


def test_a_session_that_a_dead_process_runs_reads_lost():
    card = session_card()
    assert overlay(card, 1).state == "running"
    assert overlay(card, 2).state == "lost"
    assert overlay(card, None).state == "lost"
