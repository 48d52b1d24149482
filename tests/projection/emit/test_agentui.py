"""Facts and partial text as events of Agent UI."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from callboard.contracts.content import BlobRef, Text
from callboard.contracts.facts import FACTS
from callboard.contracts.facts.action import ActionResolved, ActionType
from callboard.contracts.facts.base import ErasedFact, UnknownFact
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.model import ModelFailed
from callboard.contracts.facts.process import ProcessStarted
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed
from callboard.contracts.facts.turn import TurnInterrupted
from callboard.contracts.facts.workspace import SessionArchived
from callboard.contracts.live import Cursor, Frame, PartialKind
from callboard.contracts.record import Record
from callboard.contracts.vocabulary import EventClass, EventScope, Owner, Persistence, Phase, Surface
from callboard.projection.emit import entities
from callboard.projection.emit.agentui.events import (
    AgentUiEvent,
    build_agent_ui_events,
    build_delta_event,
    translate_fact,
)
from callboard.projection.emit.agentui_emission import ACTION_OWNERS, DELTAS, emit_diagnostic
from callboard.projection.emit.entities import TRANSLATIONS
from tests.projection.histories import random_history
from tests.projection.runs import Log
from tests.projection.session_builder import RUN, step

HISTORY = random_history(11, moves=1500, threads=2)
#: The ids that events of a class need (Agent UI specification, Event envelope).
NEEDS = {
    "run": ("session_id", "thread_id"),
    "text": ("session_id", "run_id", "turn_id", "message_id", "part_id"),
    "reasoning": ("session_id", "run_id", "turn_id", "message_id", "part_id"),
    "tool": ("session_id", "run_id", "turn_id", "tool_call_id"),
    "action": ("session_id", "run_id", "turn_id", "action_id"),
    "queue": ("session_id", "thread_id", "turn_id"),
    "context": ("session_id", "run_id"),
    "session": ("session_id",),
}


def missing_ids(event: AgentUiEvent) -> list[str]:
    needed = NEEDS.get(event.type.partition(".")[0], ())
    return [f"{event.type} {name}" for name in needed if not getattr(event, name)]


def test_a_fact_has_one_translation_or_is_declared_a_diagnostic(monkeypatch: pytest.MonkeyPatch):
    """UI-17: no fact lacks an event by accident, and no two entities translate the same fact."""
    assert entities.list_mistranslated() == []
    folder = Path(entities.__file__).parent
    modules = [import_module(f"{entities.__name__}.{path.stem}") for path in folder.glob("[a-z]*.py")]
    assert max(Counter(fact for module in modules for fact in module.TRANSLATIONS).values()) == 1
    assert {fact.type for module in modules for fact in module.TRANSLATIONS} == set(TRANSLATIONS)
    diagnostics = [translate_fact(tag, ErasedFact()) for tag in FACTS if tag not in TRANSLATIONS]
    assert diagnostics == [emit_diagnostic("acting")] * len(diagnostics)

    monkeypatch.delitem(TRANSLATIONS, "task.paused")
    monkeypatch.setattr(ProcessStarted, "is_diagnostic", False)
    assert entities.list_mistranslated() == ["ProcessStarted", "TaskPaused"]


def test_every_event_of_a_history_has_the_ids_that_its_class_needs():
    events = [event for record in HISTORY.records for event in build_agent_ui_events(record)]
    assert [line for event in events for line in missing_ids(event)] == []
    assert len(Counter(event.type for event in events)) > 15


def test_every_name_in_an_event_is_in_its_vocabulary():
    """Every type, phase and surface is a word of the specification."""
    for record in HISTORY.records:
        for event in build_agent_ui_events(record):
            assert event.type in get_args(EventClass)
            assert event.owner in get_args(Owner)
            assert event.scope in get_args(EventScope)
            assert event.phase in get_args(Phase)
            assert event.surface in get_args(Surface)
            assert event.persistence in get_args(Persistence)


def test_only_text_facts_appear_as_conversation_text():
    """UI-06: only text facts are text of the conversation."""
    spoken = {
        tag
        for tag in TRANSLATIONS
        for emission in translate_fact(tag, ErasedFact())
        if emission.surface == "conversation"
    }
    assert spoken == {"message.text", "message.interrupted"}


def test_diagnostics_and_metrics_stay_out_of_the_conversation():
    places = {
        (emission.surface, emission.persistence)
        for tag in TRANSLATIONS
        for emission in translate_fact(tag, ErasedFact())
        if emission.type in ("diagnostic.changed", "metric.changed")
    }
    assert places == {("diagnostics", "diagnostics_log")}


def test_a_text_event_has_every_id_and_the_ref_of_its_text():
    """UI-05: each part has the id of its message, and a ref if its text is large."""
    ref = BlobRef(hash="ab", size=9000)
    record = Log("ses_1").add(MessageText(content=Text(text="The start", ref=ref)), step(4))
    assert build_agent_ui_events(record) == (
        AgentUiEvent(
            type="text.final",
            sequence=1,
            timestamp="2023-11-14T22:13:20.001000Z",
            session_id="ses_1",
            thread_id="thr_1",
            run_id="run_1",
            turn_id="trn_1",
            message_id="run_1",
            part_id="run_1.4",
            agent_id="solo",
            owner="model",
            scope="part",
            phase="reconciling",
            surface="conversation",
            persistence="transcript",
            part_type="assistant_text",
            payload={"content": {"text": "The start", "ref": {"hash": "ab", "size": 9000}}},
            refs={"content": "ab"},
            raw_event_ref="ses_1/1",
        ),
    )


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (ToolCompleted(output=Text()), [("tool.result", "completed")]),
        (ToolFailed(code="tool_failed", message="No."), [("tool.failed", "failed")]),
        (
            ModelFailed(code="x", message="", retry_in_ms=1),
            [("run.status", "waiting"), ("diagnostic.changed", "waiting")],
        ),
        (ModelFailed(code="x", message=""), [("diagnostic.changed", "failed")]),
        (TurnInterrupted(cause="person"), [("run.finished", "cancelled")]),
        (TurnInterrupted(cause="crash"), [("run.finished", "interrupted")]),
        (SessionArchived(session_id="s", archived=True), [("session.closed", "archived")]),
        (SessionArchived(session_id="s", archived=False), [("session.updated", "completed")]),
        (ActionResolved(decision="reject"), [("action.resolved", "acting")]),
    ],
)
def test_the_content_of_a_fact_decides_its_events(fact: ToolCompleted, expected: list[tuple[str, str]]):
    """UI-08, UI-09"""
    assert [(emission.type, emission.phase) for emission in translate_fact(fact.type, fact)] == expected


def test_an_answer_names_its_control():
    """UI-09"""
    (approved,) = translate_fact("action.resolved", ActionResolved(decision="approve"))
    assert (approved.control, approved.adds) == ("approve", {"outcome": "approve"})


def test_every_type_of_action_has_an_owner():
    assert set(ACTION_OWNERS) == set(get_args(ActionType))


def test_live_text_has_its_cursor():
    """A client knows its position from sequence and n."""
    frame = Frame(kind="text", scope=step(4), offset=3, text="more")
    assert build_delta_event(frame, "ses_1", Cursor(7, 2), 1_700_000_000_000_000) == AgentUiEvent(
        type="text.delta",
        sequence=7,
        n=2,
        timestamp="2023-11-14T22:13:20.000000Z",
        session_id="ses_1",
        thread_id="thr_1",
        run_id="run_1",
        turn_id="trn_1",
        message_id="run_1",
        part_id="run_1.4",
        agent_id="solo",
        owner="model",
        scope="part",
        phase="producing",
        surface="conversation",
        persistence="ephemeral_live",
        part_type="assistant_text",
        payload={"offset": 3, "delta": "more"},
    )


def test_every_kind_of_frame_has_its_event_class():
    """UI-08: arguments and output of a call have the id of the call."""
    assert set(DELTAS) == {*get_args(PartialKind), "progress"}
    frames = [item for item in HISTORY.live if isinstance(item, Frame)]
    deltas = [build_delta_event(frame, "ses_history", Cursor(1, 1), 0) for frame in frames]
    assert [line for delta in deltas for line in missing_ids(delta)] == []
    assert {delta.type for delta in deltas} == {"text.delta", "reasoning.delta", "tool.args", "tool.output.delta"}


def test_events_mark_erased_and_unknown_facts():
    """UI-26"""
    record = Log("ses_1").add(TurnInterrupted(cause="person"), RUN)
    (erased,) = build_agent_ui_events(msgspec.structs.replace(record, fact=ErasedFact()))
    header = msgspec.structs.replace(record.header, type="plan.sketched")
    (unknown,) = build_agent_ui_events(msgspec.structs.replace(record, header=header, fact=UnknownFact()))
    assert (erased.type, erased.phase, erased.payload["erased"]) == ("run.finished", "interrupted", True)
    assert (unknown.type, unknown.payload) == ("diagnostic.changed", {"unknown": "plan.sketched"})


def test_a_workspaces_fact_about_a_session_has_that_sessions_id():
    record: Record = Log("wks_1").add(SessionArchived(session_id="ses_1", archived=True))
    assert [event.session_id for event in build_agent_ui_events(record)] == ["ses_1"]
