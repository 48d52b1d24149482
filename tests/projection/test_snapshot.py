"""The snapshot of a task, and the team built from snapshots alone."""

from __future__ import annotations

import json

import msgspec
from hypothesis import given, settings

from callboard.contracts.content import make_blob
from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.rows.action import ActionRow
from callboard.contracts.rows.agent import AgentRow
from callboard.contracts.rows.session import SessionCard
from callboard.projection.snapshot import (
    COMPARED,
    SubagentSnapshot,
    build_board,
    build_graph,
    build_roster,
    build_task_snapshots,
    from_rows,
    mark_stale,
)
from tests.contracts import spec_lists
from tests.projection.histories import History
from tests.projection.runs import with_ids
from tests.projection.team.worker_team import child_run, conformance_session, team_histories, team_session
from tests.projection.test_view import fold_records

SECTION = json.loads((spec_lists.SPEC / "vocabulary.json").read_text(encoding="utf-8"))["subagents"]


@given(history=team_histories())
@settings(max_examples=40, deadline=None)
def test_the_team_from_snapshots_equals_the_team_from_events(history: History):
    """SUB-02: in the fields of `COMPARED`."""
    snapshots = build_task_snapshots(history.records)
    panels = {"roster": build_roster(snapshots), "graph": build_graph(snapshots), "board": build_board(snapshots)}
    assert panels == from_rows(fold_records(history.records))
    assert all(tuple(row) == COMPARED[name] for name, rows in panels.items() for row in rows)


def test_a_snapshot_has_every_field_of_the_specification():
    """SUB-04: refs and ids are those of the child."""
    (task,) = [
        task_snapshot
        for task_snapshot in build_task_snapshots(conformance_session().records())
        if task_snapshot.subagents
    ]
    (subagent,) = task.subagents
    assert {field.encode_name for field in msgspec.structs.fields(SubagentSnapshot)} >= set(SECTION["snapshot_fields"])
    assert subagent == SubagentSnapshot(
        subagent_id="writer-1",
        task_id="tsk_w1",
        role="writer",
        status="completed",
        parent_task_id="tsk_lead",
        parent_run_id="run_1",
        parent_agent_id="solo",
        channel_ids=("cha_1",),
        artifact_refs=(Ref(type="file", ref="docs/a.md"),),
        last_event_cursor=subagent.last_event_cursor,
    )


def test_the_evidence_of_a_child_s_task_is_the_child_s():
    """SUB-04"""
    session = team_session()
    scope = msgspec.structs.replace(child_run(1), turn="", run="", step=0, task="tsk_w1", evidence="evd_1")
    session.add(EvidenceExported(through=1, facts=1, link="", pack=make_blob(b"").ref, task="tsk_w1"), scope)
    refs = {
        subagent.subagent_id: subagent.evidence_refs
        for task in build_task_snapshots(session.records())
        for subagent in task.subagents
    }
    assert {agent: references for agent, references in refs.items() if references} == {
        "writer-1": (Ref(type="evidence", ref="evd_1"),)
    }


def test_a_child_that_waits_for_an_answer_is_blocked():
    """SUB-05, UI-10: the roster shows permission_blocked, which ranks above working."""
    session = team_session()
    request = ActionRequired(
        action_type="delegated_permission", prompt="May it?", decisions=("approve",), scopes=("once",), risk="low"
    )
    session.add(request, with_ids(child_run(1), action="act_1"))
    row = session.table.get_row(AgentRow, "writer-1")
    assert row is not None
    assert (row.state, row.blocked_on, row.degraded) == ("needs_input", "act_1", ("permission_blocked",))
    (card,) = session.table.list_rows(ActionRow)
    assert (card.action_type, card.agent_id, card.agent_name, card.parent_agent_id) == (
        "delegated_permission",
        "writer-1",
        "Writer 1",
        "solo",
    )
    (listed,) = session.table.list_rows(SessionCard)
    assert (listed.attention, listed.pending_actions) == ("needs_input", 1)
    (snapshot,) = [subagent for task in build_task_snapshots(session.records()) for subagent in task.subagents]
    assert (snapshot.status, snapshot.blocked) == ("waiting", True)


def test_an_old_snapshot_is_marked_as_stale():
    """SUB-05: snapshot_stale"""
    snapshots = build_task_snapshots(conformance_session().records())
    head = snapshots[0].through
    assert mark_stale(snapshots, head) == snapshots
    assert {snapshot.state for snapshot in mark_stale(snapshots, head + 1)} == {"stale"}
    assert build_board(mark_stale(snapshots, head + 1)) == build_board(snapshots)
