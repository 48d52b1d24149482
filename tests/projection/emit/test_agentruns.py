"""Facts and partial text as events of the Multi-agent runtime specification."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from callboard.contracts.content import BlobRef, Text
from callboard.contracts.facts import FACTS
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.agent import AgentSlept, AgentWoke, RemoteTaskChanged
from callboard.contracts.facts.base import ErasedFact
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.facts.task import TaskPaused, TaskStarted
from callboard.contracts.facts.turn import TurnInterrupted, TurnSubmitted
from callboard.contracts.live import Frame, Partial, PartialKind
from callboard.contracts.record import Header, Record
from callboard.contracts.rows.run import AgentRunRecord
from callboard.contracts.scope import Scope
from callboard.projection.emit.agentruns import MAX_EVENTS, build_frame_events, build_partial_event, build_run_events
from callboard.projection.emit.entities import TRANSLATIONS
from callboard.projection.emit.run_emission import PHASES, RunEventName, StatusState, to_run_kind
from callboard.projection.run_end import derive_status
from callboard.runtime.events.order import FACT_NUMBERS
from tests.projection.histories import random_history

HISTORY = random_history(7, moves=800, threads=2)
SPECIFIED = json.loads((Path(__file__).parents[2] / "spec" / "vocabulary.json").read_text())["multi_agent_runtime"]
PLACE = Scope(agent="lead", thread="thr_a", turn="trn_a", run="run_a", step=3)

BEGINNINGS: tuple[tuple[PartialKind, int, str], ...] = (
    ("reasoning", 0, ""),
    ("text", 0, ""),
    ("arguments", 0, "Read"),
    ("output", 0, ""),
)


def events_of(fact, scope: Scope = PLACE) -> list[tuple[str, dict]]:
    record = Record("ses_a", 1, Header(type=fact.type, at=0, epoch=1, scope=scope), b"", fact)
    return [(event.type, event.data) for event in build_run_events(record)]


def test_the_map_is_complete_for_its_vocabulary():
    """MAR-14: the specification lists exactly these events, statuses and fields."""
    names = {event.type for record in HISTORY.records for event in build_run_events(record)}
    frame = Frame(kind="text", scope=PLACE, offset=0, text="a")
    names |= {event.type for event in build_frame_events("ses_a", frame)}

    assert list(get_args(RunEventName)) == SPECIFIED["sse_events"]
    assert names <= set(SPECIFIED["sse_events"])
    assert list(get_args(StatusState)) == SPECIFIED["agent_status_states"]
    assert {state for state, _ in PHASES.values()} == set(SPECIFIED["agent_status_states"])
    assert list(AgentRunRecord.__struct_fields__) == SPECIFIED["run_record_fields"]


def test_a_fact_has_no_more_events_than_its_block_has_numbers():
    """MAR-14"""
    most = max(len(build_run_events(record)) for record in HISTORY.records)
    assert most <= MAX_EVENTS < FACT_NUMBERS


def test_every_event_of_a_history_names_its_session_and_its_fact():
    for record in HISTORY.records:
        for event in build_run_events(record):
            assert (event.session_id, event.event_id) == (record.stream, record.event_id)
            assert event.run_id == record.scope.run


def test_events_of_an_erased_fact_have_no_content():
    for tag in FACTS:
        record = Record("ses_a", 1, Header(type=tag, at=0, epoch=1, scope=PLACE), b"", ErasedFact())
        events = build_run_events(record)
        runs = TRANSLATIONS[tag].runs if tag in TRANSLATIONS else None
        assert [event.type for event in events] == ([runs.erased] if runs is not None and runs.erased else [])
        assert all(event.data == {"erased": True} for event in events)


@pytest.mark.parametrize(
    ("cause", "status", "phase"),
    [
        ("person", "cancelled", "stopped"),
        ("replaced", "cancelled", "stopped"),
        ("cancelled", "cancelled", "stopped"),
        ("closed", "cancelled", "stopped"),
        ("crash", "failed", "interrupted"),
        ("lost", "failed", "interrupted"),
        ("shutdown", "failed", "interrupted"),
    ],
)
def test_an_interrupt_is_cancelled_or_failed_by_its_cause(cause, status: str, phase: str):
    """A person's or parent's interrupt is a cancellation. A crash is a failure with its cause as
    detail.
    """
    outcome, state, agent = events_of(TurnInterrupted(cause=cause))

    assert (outcome[0], outcome[1]["status"], outcome[1]["detail"]) == ("Outcome", status, cause)
    assert state == ("StateUpdated", {"change": "run_ended", "status": status, "detail": cause})
    assert (agent[0], agent[1]["state"], agent[1]["phase"]) == ("AgentStatus", "idle", phase)
    assert derive_status("interrupted", cause) == status


@pytest.mark.parametrize("kind", ["main", "remote", "background", "human"])
def test_an_agent_with_a_parent_is_a_subagent_and_others_are_main(kind: str):
    assert to_run_kind(kind, parent=False) == "main"
    assert to_run_kind(kind, parent=True) == to_run_kind("subagent", parent=False) == "subagent"


def test_a_large_text_has_its_start_and_its_ref():
    large = Text(text="beginning", ref=BlobRef(hash="f" * 64, size=9000))

    ((_, data),) = events_of(MessageText(content=large))

    assert (data["text"], data["text_ref"], data["state"]) == ("beginning", "f" * 64, "final")


def test_a_persons_input_is_a_user_message_and_an_agents_input_an_agent_message():
    ask = TurnSubmitted(input=Text(text="go"), mode="chat", permission_mode="ask")
    ((_, mine),) = events_of(ask)
    ((_, theirs),) = events_of(TurnSubmitted(input=Text(text="go"), mode="chat", permission_mode="ask", source="agent"))

    assert (mine["role"], theirs["role"]) == ("user", "agent")


def test_the_first_frame_of_a_part_sets_the_agents_status():
    """MAR-17"""
    kinds = {
        kind: [
            (event.type, event.data.get("detail"), event.message_id)
            for event in build_frame_events("ses_a", Frame(kind=kind, scope=PLACE, offset=offset, text="a", tool=tool))
        ]
        for kind, offset, tool in BEGINNINGS
    }
    further = build_frame_events("ses_a", Frame(kind="text", scope=PLACE, offset=4, text="b"))
    so_far = build_partial_event("ses_a", Partial(kind="text", scope=PLACE, text="abcd"))

    assert kinds == {
        "reasoning": [("AgentStatus", "Thinking", "run_a")],
        "text": [("AgentStatus", "Writing", "run_a"), ("Token", None, "run_a")],
        "arguments": [("AgentStatus", "Preparing Read", "run_a")],
        "output": [],
    }
    assert [(event.type, event.data) for event in further] == [("Token", {"offset": 4, "text": "b"})]
    assert so_far.data == {"offset": 0, "text": "abcd", "so_far": True}
    assert so_far.part_id == further[0].part_id == "run_a.3"


def test_sleep_remote_tasks_and_plans_change_the_state_without_a_message():
    """MAR-14: there are nine types of events and no tenth."""
    changes = {
        AgentSlept(reason="ran"): "agent_slept",
        AgentWoke(reason="schedule"): "agent_woke",
        RemoteTaskChanged(remote_task_id="rmt_1", state="working"): "remote_task",
        PlanUpdated(steps=()): "plan_updated",
        TaskStarted(assignee="critic"): "task_started",
        TaskPaused(): "task_paused",
    }
    for fact, change in changes.items():
        ((name, data),) = events_of(fact)
        assert (name, data["change"]) == ("StateUpdated", change)


def test_a_question_is_not_an_approval():
    """UI-09"""
    question = ActionRequired(
        action_type="clarification", prompt="", decisions=("answer", "reject"), scopes=("once",), risk="low"
    )
    approval = msgspec.structs.replace(question, decisions=("approve", "reject"))
    assert [events_of(fact)[0][1]["phase"] for fact in (question, approval)] == ["awaiting_answer", "awaiting_approval"]


@pytest.mark.parametrize("kind", get_args(PartialKind))
@pytest.mark.parametrize("tool", ["", "Bash"])
def test_only_argument_frames_show_a_call_in_preparation(kind: PartialKind, tool: str):
    """MAR-14: an output frame names its tool as well."""
    events = build_frame_events("ses_a", Frame(kind=kind, scope=PLACE, offset=0, text="a", tool=tool))

    prepared = [event.data["phase"] for event in events if event.data.get("phase") == "preparing_call"]
    assert prepared == (["preparing_call"] if kind == "arguments" and tool else [])
