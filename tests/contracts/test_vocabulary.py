"""The specifications' lists and the product, compared in both directions."""

from __future__ import annotations

import json
from typing import Any, get_args

from callboard.contracts import vocabulary as lists
from callboard.contracts.commands.base import COMMANDS
from callboard.contracts.facts.action import ActionType
from callboard.contracts.rows.status import RuntimeStatus
from callboard.contracts.rows.tool import ToolState
from callboard.projection.emit.agentui_emission import ACTION_OWNERS
from tests.contracts import spec_lists

SECTION: dict[str, Any] = json.loads((spec_lists.SPEC / "vocabulary.json").read_text(encoding="utf-8"))["agent_ui"]
LISTS = {
    "owners": lists.Owner,
    "scopes": lists.EventScope,
    "phases": lists.Phase,
    "surfaces": lists.Surface,
    "persistence": lists.Persistence,
    "controls": lists.Control,
    "topologies": lists.Topology,
    "runtime_entities": lists.RuntimeEntity,
    "event_classes": lists.EventClass,
    "message_parts": lists.MessagePart,
    "tool_states": ToolState,
    "action_types": ActionType,
}
HINT = "run: .venv/bin/python scripts/due"


def test_every_closed_list_is_the_specifications_list():
    """The same names in the same order."""
    assert {name: list(get_args(kind)) for name, kind in LISTS.items()} == {name: SECTION[name] for name in LISTS}
    assert set(SECTION["runtime_status_values"]) == set(get_args(RuntimeStatus)) - {"idle"}


def test_every_name_of_the_specifications_is_in_the_product_or_due():
    """The list of due names has each name that the product lacks."""
    _, due = spec_lists.due_names()
    unlisted = {path: sorted(set(names) - set(due.get(path, ()))) for path, names in spec_lists.missing_names().items()}
    assert {path: names for path, names in unlisted.items() if names} == {}


def test_no_due_name_is_already_in_the_product():
    _, due = spec_lists.due_names()
    missing = spec_lists.missing_names()
    present = {path: sorted(set(names) - set(missing.get(path, ()))) for path, names in due.items()}
    assert {path: names for path, names in present.items() if names} == {}, HINT


def test_the_list_of_due_names_can_only_shrink():
    """An added name exceeds the maximum."""
    maximum, due = spec_lists.due_names()
    assert spec_lists.count_names(due) == maximum


def test_the_product_adds_no_event_class_control_or_command_table_entry():
    """Each control that the product offers names a command that exists."""
    product = spec_lists.product_names()
    assert product["agent_ui.event_classes"] <= set(SECTION["event_classes"])
    assert set(lists.CONTROLS) <= set(SECTION["controls"])
    assert set(lists.CONTROLS.values()) <= set(COMMANDS)


def test_tool_states_are_emitted_with_the_event_that_the_specification_names():
    """UI-08"""
    emitted = {
        (emission.adds["toolState"], emission.type)
        for emission in spec_lists.all_emissions()
        if "toolState" in emission.adds
    }
    assert [(state, kind) for state, kind in emitted if kind not in SECTION["tool_state_events"][state]] == []


def test_actions_belong_to_the_owner_that_the_specification_names():
    wrong = {kind: owner for kind, owner in ACTION_OWNERS.items() if owner not in SECTION["action_owner"][kind]}
    assert wrong == {}


def test_parts_are_emitted_with_the_owner_and_surface_that_the_specification_names():
    """UI-06"""
    by_class = {
        "text.final": "assistant_text",
        "text.delta": "assistant_text",
        "reasoning.summary": "reasoning_summary",
        "reasoning.delta": "reasoning_summary",
        "tool.args": "tool_call",
        "tool.started": "tool_call",
        "tool.result": "tool_result",
        "tool.output.delta": "tool_result",
        "action.required": "action_required",
        "run.status": "runtime_status",
        "diagnostic.changed": "diagnostic",
        "context.changed": "context_event",
    }
    wrong = [
        emission
        for emission in spec_lists.all_emissions()
        if (part := by_class.get(emission.type))
        and (
            emission.owner not in SECTION["part_owner_surface"][part]["owner"]
            or emission.surface not in SECTION["part_owner_surface"][part]["surface"]
        )
    ]
    assert wrong == []
