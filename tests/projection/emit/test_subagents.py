"""Facts as events of the Subagents specification."""

from __future__ import annotations

import json
from typing import Any, get_args

from hypothesis import given, settings

from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.subagent import SubagentCancelled, SubagentFailed
from callboard.contracts.facts.tool import ToolStarted
from callboard.contracts.record import Header, Record
from callboard.contracts.scope import Scope
from callboard.contracts.vocabulary import SubagentEventType
from callboard.projection.emit.entities import TRANSLATIONS
from callboard.projection.emit.subagents import SubagentEvent, SubagentEvents
from tests.contracts import spec_lists
from tests.projection.histories import History
from tests.projection.runs import with_ids
from tests.projection.team.scenarios import retry_session
from tests.projection.team.worker_team import child_run, child_scope, conformance_session, team_histories, team_session

SECTION: dict[str, Any] = json.loads((spec_lists.SPEC / "vocabulary.json").read_text(encoding="utf-8"))["subagents"]
#: The ids of the specification, as fields of the event.
FIELDS = {
    "sessionId": "session_id",
    "taskId": "task_id",
    "subagentId": "subagent_id",
    "parentTaskId": "parent_task_id",
    "parentRunId": "parent_run_id",
    "workerId": "worker_id",
    "channelId": "channel_id",
    "participants": "participants",
    "runId": "run_id",
    "handoffId": "handoff_id",
    "sourceId": "source_id",
    "targetId": "target_id",
    "reviewId": "review_id",
    "refs": "refs",
    "jobId": "task_id",
}


def events_of(records: tuple[Record, ...]) -> list[SubagentEvent]:
    emit = SubagentEvents()
    return [event for record in records for event in emit.apply(record)]


def missing_ids(event: SubagentEvent) -> list[str]:
    """Return the missing ids that the family requires. A list may be empty but must exist."""
    needed = SECTION["required_ids"].get(f"{event.type.partition('.')[0]}.*", [])
    return [f"{event.type} {ids}" for ids in needed if not any(has(event, name) for name in ids.split("|"))]


def has(event: SubagentEvent, name: str) -> bool:
    value = getattr(event, FIELDS[name])
    return value is not None if name in ("refs", "participants") else bool(value)


def test_every_event_of_the_specification_has_a_fact_and_three_are_extensions():
    """Every event of the specification has a source, and the extensions are listed."""
    emitted = {kind for translation in TRANSLATIONS.values() for kind in translation.subagents}
    ours = {"subagent.cancelled", "worker.failed", "worker.cancelled"}
    assert emitted == set(SECTION["events"]) | ours == set(get_args(SubagentEventType))


@given(history=team_histories())
@settings(max_examples=40, deadline=None)
def test_every_event_has_the_ids_that_its_family_requires(history: History):
    """SUB-03"""
    assert [line for event in events_of(history.records) for line in missing_ids(event)] == []


def test_a_delegating_run_has_the_events_of_the_conformance_fixture():
    """SUB-01: the eleven events, in order, possibly with others between them."""
    emitted = [(event.type, event.subagent_id) for event in events_of(conformance_session().records())]
    places = iter(emitted)
    fixture = [
        ("task.created", ""),
        ("subagent.started", "writer-1"),
        ("channel.opened", ""),
        ("tool.started", "writer-1"),
        ("tool.result", "writer-1"),
        ("artifact.changed", "writer-1"),
        ("handoff.requested", "writer-1"),
        ("review.verdict", ""),
        ("subagent.completed", "writer-1"),
        ("task.completed", ""),
        ("snapshot.updated", ""),
    ]
    assert [event for event in fixture if event not in places] == []


def test_a_file_that_a_child_changed_keeps_the_childs_ids():
    """SUB-04"""
    (changed,) = [event for event in events_of(conformance_session().records()) if event.type == "artifact.changed"]
    assert (changed.subagent_id, changed.task_id, changed.parent_task_id, changed.parent_run_id) == (
        "writer-1",
        "tsk_w1",
        "tsk_lead",
        "run_1",
    )
    assert (changed.worker_id, changed.run_id, changed.refs) == (
        "thr_w1",
        "run_w1",
        (Ref(type="file", ref="docs/a.md"),),
    )


def test_a_child_that_waits_for_an_answer_is_a_blocked_worker_and_a_lead_is_not():
    """SUB-05: the event is `permission_blocked`, and no request is approved automatically."""
    session = team_session()
    request = ActionRequired(
        action_type="delegated_permission", prompt="May it?", decisions=("approve",), scopes=("once",), risk="low"
    )
    session.add(request, with_ids(child_run(1), action="act_1"))
    session.add(request, with_ids(child_run(1), thread="thr_1", agent="solo", action="act_2"))
    blocked = [event for event in events_of(session.records()) if event.type == "worker.blocked"]
    assert [(event.worker_id, event.action_id) for event in blocked] == [("thr_w1", "act_1")]


def test_failed_and_cancelled_children_have_worker_events_too():
    session = team_session()
    session.add(SubagentFailed(code="max_iters", message="enough"), child_scope(1))
    session.add(SubagentCancelled(reason="enough"), child_scope(1))
    assert [event.type for event in events_of(session.records())][-4:] == [
        "subagent.failed",
        "worker.failed",
        "subagent.cancelled",
        "worker.cancelled",
    ]


def test_a_child_with_unknown_parents_has_unavailable_lineage():
    """SUB-05: the lineage is `lineage_unavailable`, and no parent is guessed."""
    session = team_session()
    session.add(SubagentCancelled(reason="enough"), with_ids(child_scope(9), parent_run=""))
    event = events_of(session.records())[-1]
    assert (event.lineage, event.parent_task_id, event.parent_run_id) == ("unavailable", "", "")


def test_each_step_of_a_task_has_its_attempt():
    """CTL-07, SUB-03"""
    steps = [event for event in events_of(retry_session().records()) if event.type == "task.updated"]
    assert {event.task_id for event in steps} == {"tsk_c"}
    assert [event.attempt_id for event in steps if event.attempt_id.startswith("tsk_c")] == ["tsk_c.1", "tsk_c.2"]
    assert [line for event in steps for line in missing_ids(event)] == []


def test_only_a_run_with_a_task_is_an_attempt():
    """CTL-07, SUB-03"""
    emitted = events_of(conformance_session().records())
    of_child = {event.attempt_id for event in emitted if event.type in ("tool.started", "artifact.changed")}
    fact = ToolStarted(tool="Read")
    scope = Scope(agent="solo", thread="thr_9", turn="trn_9", run="run_9", tool_call="call_9")
    alone = events_of((Record("ses_1", 1, Header(type=fact.type, at=0, epoch=1, scope=scope), b"", fact),))

    assert of_child == {"run_w1"}
    assert [(event.run_id, event.task_id, event.attempt_id) for event in alone] == [("run_9", "", "")]
