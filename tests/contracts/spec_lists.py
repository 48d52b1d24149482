"""The specifications' lists, compared with the product and its tests.

Every name of `tests/spec/vocabulary.json` is in the product or in `tests/spec/due.json`. Every
behaviour of `tests/spec/behaviours.md` is cited by a test or listed in
`tests/spec/due_behaviours.json`. Both lists of due names only shrink: `scripts/due` removes the names
that exist now.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any, get_args

import msgspec

from callboard.contracts.commands.base import COMMANDS
from callboard.contracts.content import BlobRef
from callboard.contracts.entities.team import TaskStatus, TeamPhase, Verdict
from callboard.contracts.facts.action import ActionRequired, ActionResolved, ActionType
from callboard.contracts.facts.artifact import ArtifactVersionCreated
from callboard.contracts.facts.base import ErasedFact, Fact
from callboard.contracts.facts.context import CompactionCompleted, ContextResolved
from callboard.contracts.facts.exchange.handoff import HandoffAccepted, HandoffCompleted
from callboard.contracts.facts.exchange.review import ReviewVerdict
from callboard.contracts.facts.model import ModelFailed
from callboard.contracts.facts.permission import PermissionEvaluated, PermissionRuleAdded, Rule
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.facts.queue import QueueAdded
from callboard.contracts.facts.subagent import TeamChanged, WorkerNotification
from callboard.contracts.facts.task import TaskUpdated
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.facts.turn import TurnInterrupted
from callboard.contracts.facts.workspace import SessionArchived, SessionTrimmed
from callboard.contracts.rows.action import ActionOutcome
from callboard.contracts.rows.part import Part
from callboard.contracts.rows.session import SessionCard, SessionState
from callboard.contracts.rows.status import RuntimeStatus
from callboard.contracts.rows.tool import ToolState
from callboard.contracts.vocabulary import CONTROLS
from callboard.control.decide.tool.questions import REMOTE_REQUESTS
from callboard.projection.emit.agentui.events import AgentUiEvent, build_agent_ui_events, translate_fact
from callboard.projection.emit.agentui.parts import find_part_type
from callboard.projection.emit.agentui_emission import DELTAS, HYDRATED, Emission
from callboard.projection.emit.entities import TRANSLATIONS
from tests.contracts.recorded_rows import recorded_rows
from tests.contracts.runtime_lists import runtime_lists
from tests.contracts.team_lists import team_lists
from tests.projection.histories import random_history

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "tests" / "spec"
DUE = SPEC / "due.json"
DUE_BEHAVIOURS = SPEC / "due_behaviours.json"

#: The name of a page test.
PAGE_TEST = re.compile(r"^\s*(?:test|it)\('([^']+)'", re.MULTILINE)
BEHAVIOUR = re.compile(r"\b(?:UI|COM|MAR|CTL|SUB|SAFE|CTX)-\d{2}\b")

#: Facts whose content decides their event.
_VARIANTS: tuple[Fact, ...] = (
    ModelFailed(code="x", message="", retry_in_ms=1),
    TurnInterrupted(cause="person"),
    ActionResolved(decision="approve"),
    ActionResolved(decision="reject"),
    SessionArchived(session_id="s", archived=True),
    SessionArchived(session_id="s", archived=False),
    QueueAdded(position=1),
    ActionRequired(action_type="delegated_permission", prompt="", decisions=("approve",), scopes=("once",), risk="low"),
    HandoffAccepted(source="a", target="b", ownership=True),
    HandoffCompleted(source="a", target="b", returned=True),
    WorkerNotification(item="", to_thread="t", status="needs_input", summary=""),
    *(TeamChanged(phase=phase, parallel_budget=1, active_count=0, queued_count=0) for phase in get_args(TeamPhase)),
    *(ReviewVerdict(reviewer="a", target="b", verdict=verdict) for verdict in get_args(Verdict)),
    *(TaskUpdated(status=status) for status in get_args(TaskStatus)),
    TaskUpdated(comment="c"),
    TaskUpdated(assignee="a"),
    PlanUpdated(steps=(), final=True),
    PermissionRuleAdded(rule=Rule(rule_id="r", matcher="Read", verdict="allow", scope="session")),
    ArtifactVersionCreated(version=2, base=1, added=1, content=BlobRef(hash="", size=0), version_origin="agent"),
)

#: The fact and the field for each name that the specification describes in prose.
_PERMISSION_FACTS: dict[str, tuple[type[Fact], str]] = {
    "Risk level": (PermissionEvaluated, "risk"),
    "Sandbox/access mode": (SandboxApplied, "level"),
    "Approval state": (ActionResolved, "decision"),
    "Secret-bearing payload": (PermissionEvaluated, "secrets"),
    "Retention/waiver": (SessionTrimmed, "size"),
}
_CONTEXT_FACTS: dict[str, tuple[type[Fact], str]] = {
    "Context reference": (ContextResolved, "refs"),
    "Context budget": (ContextResolved, "budget"),
    "Missing context": (ContextResolved, "missing"),
    "Compaction boundary": (CompactionCompleted, "through"),
}
_ACTION_FIELDS: dict[str, tuple[str, ...]] = {
    "action_type": ("action_type",),
    "prompt or schema": ("prompt",),
    "available decisions": ("decisions",),
    "policy and timeout metadata": ("policy", "expires_at"),
}


def vocabulary() -> dict[str, frozenset[str]]:
    """Return every closed list of the specifications by its path, such as `agent_ui.owners`."""
    sections: dict[str, dict[str, Any]] = json.loads((SPEC / "vocabulary.json").read_text(encoding="utf-8"))
    return {
        f"{section}.{name}": frozenset(_names(values))
        for section, lists in sections.items()
        if section != "about"
        for name, values in lists.items()
    }


def _names(values: Any) -> list[str]:
    if isinstance(values, str):
        return [values]
    if isinstance(values, list):
        return [str(value) for value in values]
    inner = [f"{key}: {status}" for key, value in values.items() if "statuses" in value for status in value["statuses"]]
    return inner or [str(key) for key in values]


def all_emissions() -> list[Emission]:
    """Return every event that facts and pieces are emitted as."""
    rows = [emission for tag in TRANSLATIONS for emission in translate_fact(tag, ErasedFact())]
    variants = [emission for fact in _VARIANTS for emission in translate_fact(fact.type, fact)]
    return [*rows, *variants, *DELTAS.values(), HYDRATED]


def product_names() -> dict[str, frozenset[str]]:
    """Return the product's names of each list, read from its code."""
    emitted = all_emissions()
    adds = {key: {emission.adds[key] for emission in emitted if key in emission.adds} for key in _keys(emitted)}
    topologies = {
        event.topology
        for record in random_history(1, moves=20).records
        for event in build_agent_ui_events(record)
        if event.topology
    }
    row_tags = frozenset(str(type(row).__struct_config__.tag) for row in recorded_rows() if isinstance(row, Part))
    parts = row_tags | {part for emission in emitted if (part := find_part_type(emission)) is not None}
    actions = required_action_types(ROOT / "src" / "callboard" / "control") | adds["actionType"]
    controls = frozenset(control for control, command in CONTROLS.items() if command in COMMANDS)
    own = {
        "agent_ui.envelope_fields": frozenset(field.encode_name for field in msgspec.structs.fields(AgentUiEvent)),
        "agent_ui.owners": frozenset(emission.owner for emission in emitted),
        "agent_ui.scopes": frozenset(emission.scope for emission in emitted),
        "agent_ui.phases": frozenset(emission.phase for emission in emitted),
        "agent_ui.phase_events": frozenset(emission.phase for emission in emitted),
        "agent_ui.surfaces": frozenset(emission.surface for emission in emitted),
        "agent_ui.persistence": frozenset(emission.persistence for emission in emitted),
        "agent_ui.event_classes": frozenset(emission.type for emission in emitted),
        "agent_ui.controls": controls,
        "agent_ui.control_boundary": frozenset(
            name for name in vocabulary()["agent_ui.control_boundary"] if set(name.split(" / ")) <= controls
        ),
        "agent_ui.message_parts": parts,
        "agent_ui.part_owner_surface": parts,
        "agent_ui.tool_states": frozenset(get_args(ToolState)),
        "agent_ui.tool_state_events": frozenset(adds["toolState"]),
        "agent_ui.action_types": actions,
        "agent_ui.action_owner": actions,
        "agent_ui.topologies": frozenset(topologies),
        "agent_ui.topology_projection": frozenset(topologies),
        "agent_ui.task_items": frozenset(f"Queued turn: {status}" for status in adds["status"]),
        "agent_ui.runtime_entities": frozenset(adds["runtimeEntity"]),
        "agent_ui.entity_fields": frozenset(
            {"Foreground agent turn"} if {"runtimeEntity", "runtimeStatus"} <= set(adds) else ()
        ),
        "agent_ui.more_fields": frozenset(adds),
        "agent_ui.permission_facts": frozenset(
            name for name, (fact, field) in _PERMISSION_FACTS.items() if field in fact.__struct_fields__
        ),
        "agent_ui.context_facts": frozenset(
            name for name, (fact, field) in _CONTEXT_FACTS.items() if field in fact.__struct_fields__
        ),
        "agent_ui.honest_fallbacks": frozenset((*get_args(RuntimeStatus), *get_args(ActionOutcome))),
        "agent_ui.runtime_status_values": frozenset(get_args(RuntimeStatus)),
        "agent_ui.session_tab_states": frozenset((*SessionCard.__struct_fields__, *get_args(SessionState))),
        "control_plane.commands": frozenset(COMMANDS),
        "control_plane.action_required_fields": frozenset(
            (
                *(
                    name
                    for name, fields in _ACTION_FIELDS.items()
                    if set(fields) <= set(ActionRequired.__struct_fields__)
                ),
                *(("action_id",) if "action" in ActionRequired.needs else ()),
                *(("scope ids",) if {"thread", "turn", "run"} <= set(ActionRequired.needs) else ()),
            )
        ),
        **runtime_lists(),
    }
    teams = team_lists(emitted)
    return {path: own.get(path, frozenset()) | teams.get(path, frozenset()) for path in {*own, *teams}}


def _keys(emitted: list[Emission]) -> frozenset[str]:
    return frozenset(key for emission in emitted for key in emission.adds)


def required_action_types(folder: Path) -> frozenset[str]:
    """Return the action types that the code of the folder requires.

    They are literals where an action is built or its type is chosen, or in the table of requests.
    """
    types: set[str] = {kind for kind, _ in REMOTE_REQUESTS.values()}
    for path in sorted(folder.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        calls = [node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        names = [name.name for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names]
        if "ActionRequired" in calls or "ActionType" in names:
            texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
            types |= {str(kind) for kind in get_args(ActionType) if kind in texts}
    return frozenset(types)


def missing_names() -> dict[str, list[str]]:
    """Return the names of the specifications that the product lacks, by list."""
    has = product_names()
    lacking = {path: sorted(names - has.get(path, frozenset())) for path, names in vocabulary().items()}
    return {path: names for path, names in lacking.items() if names}


def behaviours() -> frozenset[str]:
    """Return the ids of all behaviours."""
    text = (SPEC / "behaviours.md").read_text(encoding="utf-8")
    return frozenset(
        match.group(0) for line in re.findall(r"\*\*[A-Z]+-\d+\*\*", text) if (match := BEHAVIOUR.search(line))
    )


def cited_behaviours() -> dict[str, list[str]]:
    """Return the cited behaviours with their tests: docstrings in Python, names in page tests."""
    citations: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for identity in BEHAVIOUR.findall(ast.get_docstring(node) or ""):
                    citations.setdefault(identity, []).append(f"{path.relative_to(ROOT)}::{node.name}")
    for path in sorted((ROOT / "web" / "src").rglob("*.test.ts*")):
        for name in PAGE_TEST.findall(path.read_text(encoding="utf-8")):
            for identity in BEHAVIOUR.findall(name):
                citations.setdefault(identity, []).append(f"{path.relative_to(ROOT)}::{name}")
    return citations


def due_names() -> tuple[int, dict[str, list[str]]]:
    """Return the recorded maximum, and the due names by list."""
    recorded = json.loads(DUE.read_text(encoding="utf-8"))
    return recorded["maximum"], recorded["names"]


def due_behaviours() -> tuple[int, list[str]]:
    """Return the recorded maximum, and the due behaviours."""
    recorded = json.loads(DUE_BEHAVIOURS.read_text(encoding="utf-8"))
    return recorded["maximum"], recorded["behaviours"]


def count_names(names: dict[str, list[str]]) -> int:
    """Return the number of names in a mapping of lists."""
    return sum(len(values) for values in names.values())
