"""Facts as the runtime's events."""

from __future__ import annotations

import hashlib
import json

import jsonschema
import msgspec
import pytest

from callboard.contracts.content import Text
from callboard.contracts.facts.base import ErasedFact, UnknownFact
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.model import ModelFailed
from callboard.contracts.facts.queue import QueueEdited
from callboard.contracts.facts.tool import ToolStarted
from callboard.contracts.facts.workspace import SessionTitled
from callboard.contracts.record import NewFact, Origin, Record, WireEvent, build_header
from callboard.contracts.schema.generate import build_facts_schema
from callboard.contracts.scope import Actor, Scope
from callboard.projection.emit.runtime import build_wire_event
from tests.projection.histories import random_history
from tests.projection.runs import Log
from tests.projection.session_builder import TURN, step


def event_of(record: Record) -> dict[str, object]:
    return json.loads(msgspec.json.encode(build_wire_event(record, "rtm_1")))


def test_an_event_has_its_whole_envelope():
    """Fields that are not stored are derived, and are the same each time."""
    scope = Scope(
        agent="solo",
        thread="thr_1",
        turn="trn_1",
        run="run_1",
        step=3,
        attempt=2,
        tool_call="cal_1",
        parent_session="ses_0",
        parent_thread="thr_0",
        parent_run="run_0",
    )
    actor = Actor(kind="policy", id="rules")
    origin = Origin(at=1_700_000_000_000_001, command_id="cmd_1", actor=actor, cause="wks_1/7")
    header = build_header(NewFact(ToolStarted(tool="Write"), scope), origin, 4)
    record = Record(stream="ses_1", sequence=9, header=header, link=b"", fact=ToolStarted(tool="Write"))
    assert event_of(record) == {
        "type": "tool.started",
        "eventId": "ses_1/9",
        "schemaVersion": 1,
        "sequence": 9,
        "timestamp": "2023-11-14T22:13:20.000001Z",
        "runtimeId": "rtm_1.4",
        "sessionId": "ses_1",
        "threadId": "thr_1",
        "turnId": "trn_1",
        "runId": "run_1",
        "stepId": "run_1.3",
        "attemptId": "run_1.3.2",
        "messageId": "run_1",
        "partId": "run_1.3",
        "agentId": "solo",
        "parentSessionId": "ses_0",
        "parentThreadId": "thr_0",
        "parentRunId": "run_0",
        "toolCallId": "cal_1",
        "traceId": hashlib.sha256(b"trn_1").hexdigest()[:32],
        "spanId": hashlib.sha256(b"run_1.3").hexdigest()[:16],
        "commandId": "cmd_1",
        "actor": {"kind": "policy", "id": "rules"},
        "cause": "wks_1/7",
        "payload": {"tool": "Write"},
    }


def test_a_persons_message_is_named_by_its_turn_and_the_assistants_by_its_run():
    """UI-05: a client matches parts by their message."""
    log = Log("ses_1")
    edited = event_of(log.add(QueueEdited(input=Text(text="Rather this.")), TURN))
    event = event_of(log.add(MessageText(content=Text(text="Yes.")), step(4)))
    failed = event_of(log.add(ModelFailed(code="model_timeout", message="Late."), step(3)))
    assert (edited["messageId"], edited.get("partId")) == ("trn_1", None)
    assert (event["messageId"], event["partId"]) == ("run_1", "run_1.4")
    assert (failed.get("messageId"), failed["stepId"]) == (None, "run_1.3")


def test_a_fact_of_a_workspace_names_the_workspace():
    event = event_of(Log("wks_1").add(SessionTitled(session_id="ses_1", title="Prompts")))
    assert (event["workspaceId"], event.get("sessionId")) == ("wks_1", None)


def test_an_erased_fact_has_no_payload_and_an_unknown_fact_keeps_its_payload():
    """UI-26"""
    record = Log("ses_1").add(MessageText(content=Text(text="Yes.")), step(4))
    erased = event_of(msgspec.structs.replace(record, fact=ErasedFact()))
    unknown = event_of(msgspec.structs.replace(record, fact=UnknownFact(payload=msgspec.Raw(b'{"a": 1}'))))
    assert (erased["type"], erased["erased"], erased["payload"]) == ("message.text", True, {})
    assert (unknown["payload"], unknown.get("erased")) == ({"a": 1}, None)


def test_every_event_of_a_history_fits_its_schema():
    """Every id that a fact needs is present under its name."""
    validator = jsonschema.Draft202012Validator(build_facts_schema())
    records = {record.header.type: record for record in random_history(5, moves=600, threads=2).records}
    assert len(records) > 30
    for record in records.values():
        validator.validate(event_of(record))


def test_an_event_without_an_id_that_it_needs_does_not_fit_its_schema():
    event = event_of(Log("ses_1").add(MessageText(content=Text(text="Yes.")), step(4)))
    del event["stepId"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(build_facts_schema()).validate(event)


def test_the_envelope_has_no_dimension_that_is_a_function_of_the_fact():
    """The consumer computes owner, scope, phase, surface and persistence from the fact."""
    assert not {"owner", "scope", "phase", "surface", "persistence"} & set(WireEvent.__struct_fields__)
