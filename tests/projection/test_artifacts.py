"""The panel of artifacts: the same rows live and rebuilt, and a small state."""

from __future__ import annotations

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from callboard.contracts.facts.artifact import (
    ArtifactCreated,
    ArtifactDeleted,
    ArtifactExportCompleted,
    ArtifactExportStarted,
    ArtifactFailed,
    ArtifactVersionCreated,
)
from callboard.contracts.facts.base import ErasedFact
from callboard.contracts.record import Record
from callboard.contracts.rows.artifact import ArtifactPart, ArtifactRow, ArtifactVersionRow, ExportEntry
from callboard.projection.artifacts import MAX_ROWS
from callboard.projection.rows import Table
from callboard.projection.view import SessionView
from tests.projection.artifact_sessions import (
    MOVES,
    PATH,
    artifact_history,
    artifact_scope,
    artifact_session,
    content,
    full_artifact_session,
    version,
)
from tests.projection.session_builder import model_session, step
from tests.projection.team.scenarios import rows_over_time


def fold_records(records: tuple[Record, ...], view: SessionView | None = None) -> Table:
    view = view or SessionView()
    return Table(op for record in records for op in view.apply(record))


@given(moves=MOVES, cut=st.integers(0, 200))
@settings(max_examples=60, deadline=None)
def test_the_panel_is_the_same_live_rebuilt_and_continued(moves: list[tuple[int, int]], cut: int):
    """UI-13: a restored view shows the same as one that received every fact."""
    records = artifact_history(moves)
    whole = fold_records(records)
    view = SessionView()
    table = fold_records(records[:cut], view)
    again = SessionView.from_state(view.encode_state())
    for record in records[cut:]:
        table.apply(again.apply(record))
    assert table.group_rows() == whole.group_rows()


@given(moves=MOVES, erased=st.sets(st.integers(0, 200)))
@example(moves=[(0, 0), (0, 0), (0, 9), (0, 0)], erased=set())
@settings(max_examples=30, deadline=None)
def test_artifacts_with_erased_facts_remain(moves: list[tuple[int, int]], erased: set[int]):
    records = tuple(
        msgspec.structs.replace(record, fact=ErasedFact())
        if record.sequence in erased and record.header.type.startswith("artifact")
        else record
        for record in artifact_history(moves)
    )
    numbers: dict[str, list[int]] = {}
    for row in fold_records(records).list_rows(ArtifactVersionRow):
        numbers.setdefault(row.artifact_id, []).append(row.entry.version)
    assert numbers == {artifact: sorted(set(versions)) for artifact, versions in numbers.items()}


def test_a_version_appears_in_the_turn_at_the_step_of_its_call():
    """UI-13: a compact card without the body."""
    (part,) = artifact_session().table.list_rows(ArtifactPart)
    assert (part.turn_id, part.artifact_id, part.title, part.version, part.path) == (
        "trn_1",
        "art_1",
        "stage.py",
        1,
        PATH,
    )


def test_a_row_has_its_newest_versions_its_state_and_the_draft_of_a_failed_save():
    """UI-13"""
    rows = rows_over_time(full_artifact_session(), ArtifactRow, "art_1")
    assert [row.status for row in rows] == [
        *("saved", "saved", "saving", "saved", "saved", "conflict", "conflict", "conflict", "conflict", "conflict"),
        *("conflict", "saved", "saved", "deleted"),
    ]
    conflict = rows[5]
    assert (conflict.version, conflict.draft, conflict.draft_base) == (3, content("mine\n"), 2)
    assert [version_row.version for version_row in rows[11].versions] == [2, 3, 4]
    assert (rows[11].draft, rows[11].code, rows[12].title) == (None, "", "The stage")
    assert rows[-1].exports == (
        ExportEntry(
            export="exp_1",
            version=3,
            form="diff",
            source=2,
            done=1,
            total=2,
            name="stage.py.diff",
            content=content("+3\n"),
        ),
        ExportEntry(export="exp_2", version=3, form="zip", everything=True, code="too_large", message="Too large."),
    )


def test_a_draft_and_a_running_export_outlive_their_artifact():
    """CTX-04, CTX-05"""
    session, draft = artifact_session(), content("mine\n")
    session.add(
        ArtifactFailed(operation="save", code="artifact_conflict", message="No.", base=1, draft=draft), artifact_scope()
    )
    session.add(ArtifactExportStarted(export="exp_1", version=1, form="zip", everything=True), artifact_scope())
    session.add(ArtifactDeleted(file=True), artifact_scope())
    row = session.table.get_row(ArtifactRow, "art_1")
    assert row is not None
    assert (row.status, row.draft, row.draft_base, row.code, row.message) == ("deleted", draft, 1, "", "")
    session.add(ArtifactExportCompleted(export="exp_1", content=content("zip"), name="artifacts.zip"), artifact_scope())
    row = session.table.get_row(ArtifactRow, "art_1")
    assert row is not None
    assert (row.status, row.exports[0].name) == ("deleted", "artifacts.zip")


def test_an_old_artifact_is_summarised_until_it_changes():
    session = model_session()
    for number in range(MAX_ROWS + 50):
        path = f"src/{number}.py"
        session.add(ArtifactCreated(artifact_kind="code", path=path), artifact_scope(f"art_{number}"))
        session.add(version(1, "found", path=path, base=0), artifact_scope(f"art_{number}"))
    session.add(version(2, path="src/0.py"), artifact_scope("art_0", step(2, tool_call="cal_1")))
    row = session.table.get_row(ArtifactRow, "art_0")
    assert row is not None
    assert (row.title, row.version, row.status, [version_row.version for version_row in row.versions]) == (
        "0.py",
        2,
        "saved",
        [2],
    )
    assert row.created_at > 0
    grown = len(session.view.encode_state())
    for number in range(MAX_ROWS + 50, MAX_ROWS + 550):
        path = f"src/{number}.py"
        session.add(ArtifactCreated(artifact_kind="code", path=path), artifact_scope(f"art_{number}"))
        session.add(version(1, "found", path=path, base=0), artifact_scope(f"art_{number}"))
    assert (len(session.view.encode_state()) - grown) / 500 < 120


def test_a_version_without_a_creation_fact_has_a_row():
    session = model_session().add(
        ArtifactVersionCreated(version=4, content=content("x"), version_origin="agent", path=PATH), artifact_scope()
    )
    (row,) = session.table.list_rows(ArtifactRow)
    assert (row.title, row.artifact_kind, row.version, row.created_at) == ("stage.py", "code", 4, 0)
