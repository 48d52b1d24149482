"""The message part of each event, compared with the table of the specification."""

from __future__ import annotations

import json
import re
from pathlib import Path

from callboard.contracts.facts.tool import ToolCancelled, ToolLost
from callboard.contracts.vocabulary import MessagePart
from callboard.projection.emit.agentui.events import build_agent_ui_events, translate_fact
from callboard.projection.emit.agentui.parts import PLACES, find_part_type
from callboard.projection.emit.agentui_emission import ACTION_OWNERS
from tests.contracts import spec_lists
from tests.projection.histories import random_history

TABLE: dict[str, dict[str, str]] = json.loads(
    (Path(__file__).parents[2] / "spec" / "vocabulary.json").read_text("utf-8")
)["agent_ui"]["part_owner_surface"]


def names(cell: str) -> set[str]:
    return set(re.split(r", or |, | or ", cell))


def test_every_kind_of_part_has_the_owners_and_surfaces_of_the_specification():
    """UI-05: an error belongs to the system that raised it, an action to the owner of its type."""
    for part, (owners, surfaces) in PLACES.items():
        row = TABLE[part]
        assert surfaces == names(row["surface"])
        match part:
            case "error":
                assert row["owner"] == "Owning system"
            case "action_required":
                assert names(row["owner"]) <= owners == set(ACTION_OWNERS.values())
            case _:
                assert owners == names(row["owner"])


def test_facts_produce_every_kind_of_part_except_inputs_and_hidden_parts():
    """UI-05: the text of a person is the input of a turn, and reasoning is a summary."""
    produced = {part for emission in spec_lists.all_emissions() if (part := find_part_type(emission)) is not None}
    assert produced == set(TABLE) - {"user_text", "reasoning_detail"}


def test_events_of_a_turn_name_their_kind_of_part():
    """UI-05, UI-06: process output is never the assistant's text."""
    kinds: dict[str, set[MessagePart | None]] = {}
    for record in random_history(3, moves=300).records:
        for event in build_agent_ui_events(record):
            kinds.setdefault(event.type, set()).add(event.part_type)
    assert kinds["text.final"] == {"assistant_text"}
    assert kinds["tool.result"] == {"tool_result"}
    assert kinds["tool.args"] == {"tool_call"}
    assert kinds["permission.changed"] == {None}
    assert [kind for kind, parts in kinds.items() if "assistant_text" in parts] == ["text.final"]


def test_a_cancelled_call_is_not_an_error():
    """UI-08"""
    (stopped,) = translate_fact("tool.cancelled", ToolCancelled(started=True))
    assert find_part_type(stopped) == "tool_call"
    (failed,) = translate_fact("tool.lost", ToolLost())
    assert find_part_type(failed) == "error"
