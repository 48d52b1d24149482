"""Names of tools and arguments in texts for models match the schemas (M2)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

import callboard
from callboard.agents.definition import load_definition
from callboard.agents.roster import build_roster
from callboard.agents.teams import list_presets, read_preset_files
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ports.agents import Definition
from callboard.contracts.team_tools import TEAM_TOOLS
from callboard.contracts.tool_names import to_model_name
from callboard.contracts.tools import TOOL_NAMES
from callboard.control.decide.task import control
from callboard.control.decide.thread import resume
from callboard.runtime.prompts import history, instructions, run_config, team_instructions
from callboard.runtime.turns import compaction
from callboard.tools import arguments
from callboard.tools.builtin import declarations

_SOURCE = Path(callboard.__file__).parent
#: Packages with texts for models.
_SPOKEN = ("control", "runtime", "tools", "contracts/commands")
#: Files with texts for people about rules, and with the tool names of external agents.
_FOR_PERSONS = {"runtime/permissions/trust_service.py", "tools/gate/rules.py", "tools/gate/external_calls.py"}
_QUOTED = re.compile(r"`([A-Za-z][\w]*)`")
_SNAKE = re.compile(r"(?<![\w/.<-])[a-z]+(?:_[a-z]+)+(?![\w/>-])")
_STORED = {name for name in TOOL_NAMES if name != to_model_name(name)}
_LONG = "|".join(sorted(name for name in _STORED if re.search("[a-z][A-Z]", name)))
_SHORT = "|".join(sorted(_STORED))
#: A stored tool name in an instruction to call it, or in quotes.
_CALLED = re.compile(
    rf"\b(?:{_LONG})\b|`(?:{_SHORT})`|\b(?:[Uu]se|[Cc]all|[Ww]ith|[Bb]y|[Tt]hat|named) (?:{_SHORT})\b(?! (?:of|the|a)\b)"
)


def _properties(schema: Any) -> Iterator[str]:
    """Return names of properties and their possible values."""
    if isinstance(schema, list):
        for part in cast("list[Any]", schema):
            yield from _properties(part)
    elif isinstance(schema, dict):
        held = cast("dict[str, Any]", schema)
        yield from held.get("properties", {})
        yield from (entry for entry in held.get("enum", ()) if isinstance(entry, str))
        for part in held.values():
            yield from _properties(part)


def _descriptions(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for part in cast("list[Any]", schema):
            yield from _descriptions(part)
    elif isinstance(schema, dict):
        held = cast("dict[str, Any]", schema)
        if isinstance(held.get("description"), str):
            yield held["description"]
        for part in held.values():
            yield from _descriptions(part)


_SCHEMAS = {name: arguments.build_schema(kind.arguments) for name, kind in declarations.TOOLS.items()}
_SCHEMA_NAMES = {
    *map(to_model_name, declarations.TOOLS),
    *(name for schema in _SCHEMAS.values() for name in _properties(schema)),
}


def _prompts() -> Iterator[tuple[str, str]]:
    """Return every text before the conversation, and every reminder in it."""
    for name, kind in declarations.TOOLS.items():
        yield f"description of {name}", kind.description
        yield from ((f"schema of {name}", text) for text in _descriptions(_SCHEMAS[name]))
    modes: tuple[tuple[Mode, PermissionMode], ...] = tuple(product(("chat", "auto"), ("ask", "planning")))
    specs = tuple(declarations._to_spec(kind) for kind in declarations.TOOLS.values())
    rosters = [
        build_roster(load_definition(source, name) for name, source in read_preset_files(team.name))
        for team in list_presets()
    ]
    for team, (mode, permission_mode) in product(rosters, modes):
        for agent in team.definitions:
            yield f"{agent.name} in {mode}", run_config._describe_mode(agent, mode, permission_mode, specs)
            yield f"team of {agent.name}", team_instructions.describe_team(_everything(agent), team)
            yield f"prompt of {agent.name}", agent.prompt
    yield "system", run_config._SYSTEM
    yield "summary", compaction.INSTRUCTION
    for module in (resume, control):
        yield f"{module.__name__}.RESUME_INPUT", module.RESUME_INPUT
    yield "reminder", history.CONTINUE
    yield from (("context", text) for text in (history.OWN_WORKTREE, history.LOST_OUTCOME, history.SUMMARY))
    yield from (("instructions", text) for text in (instructions._TRUSTED,))


def _everything(agent: Definition) -> Definition:
    return msgspec.structs.replace(agent, policy=("Patch", "Finalize", "Delegate"))


def test_m2_every_name_in_prompts_reminders_and_descriptions_is_in_the_schemas():
    texts = dict.fromkeys(_prompts())
    wrong = [
        (where, name)
        for where, text in texts
        for name in (*_QUOTED.findall(text), *_SNAKE.findall(text))
        if name not in _SCHEMA_NAMES
    ]
    assert wrong == []
    assert any("`finalize`" in text for _, text in texts)
    assert {name for _, text in texts for name in _SNAKE.findall(text)} >= {
        "spawn_subagent",
        "read_process",
        "replace_all",
    }


@pytest.mark.parametrize("package", _SPOKEN)
def test_m2_no_text_for_models_contains_a_stored_tool_name(package: str):
    wrong = [
        (str(path.relative_to(_SOURCE)), text)
        for path in sorted((_SOURCE / package).rglob("*.py"))
        if str(path.relative_to(_SOURCE)) not in _FOR_PERSONS
        for text in _texts(path)
        if text not in TOOL_NAMES and _CALLED.search(text)
    ]
    assert wrong == []


def test_m2_every_tool_of_a_team_is_named_as_its_schema_is():
    assert {name: to_model_name(name) for name in TEAM_TOOLS} == {name: name for name in TEAM_TOOLS}


def _texts(path: Path) -> Iterator[str]:
    """Return every string of a module except docstrings. A formatted string is one text."""
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


@pytest.mark.parametrize(("kind", "ends_in_text"), [("subagent", True), ("background", True), ("main", False)])
def test_m3_an_agent_in_auto_reads_the_effect_of_text_without_calls(kind: Any, ends_in_text: bool):
    agent = Definition(name="a", description="", kind=kind, prompt="You work.", hash="h")
    text = run_config._describe_mode(agent, "auto", "ask", ())
    assert ("Then your text becomes your result, marked as not finalized" in text) is ends_in_text
    assert ("Text alone does not end your work" in text) is not ends_in_text
