"""Schemas of tools for models, equal to their Structs, in snake_case."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import msgspec
import pytest

from callboard.contracts import casing
from callboard.contracts.commands.subagent import ChildResult, ChildResults, ChildSpawned
from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal
from callboard.contracts.team_tools import TEAM_TOOLS
from callboard.tools import arguments
from callboard.tools.builtin import declarations

_KINDS = tuple(declarations.TOOLS)
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def example(schema: dict[str, Any], *, whole: bool) -> Any:
    """Return a value of the schema with all properties, or only the required ones."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return example(next(kind for kind in schema["anyOf"] if kind.get("type") != "null"), whole=whole)
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {}).items()
            required = schema.get("required", ())
            return {name: example(inner, whole=whole) for name, inner in properties if whole or name in required}
        case "array":
            return [example(schema["items"], whole=whole)] if whole or schema.get("minItems") else []
        case "string":
            return "a" * max(1, schema.get("minLength", 0))
        case "integer":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return True
        case _:
            return {}


@pytest.mark.parametrize("tool", _KINDS)
def test_m1_a_schema_requires_the_fields_without_a_default(tool: str):
    kind = declarations.TOOLS[tool].arguments
    fields = msgspec.structs.fields(kind)
    schema = arguments.build_schema(kind)

    assert set(schema["properties"]) == {field.name for field in fields}
    assert set(schema["required"]) == {field.name for field in fields if field.required}
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "required"])
@pytest.mark.parametrize("tool", _KINDS)
def test_m1_schema_and_struct_accept_the_same_values(tool: str, whole: bool):
    kind = declarations.TOOLS[tool].arguments
    schema = arguments.build_schema(kind)
    value = example(schema, whole=whole)
    jsonschema.validate(value, schema)

    decoded = arguments.decode(kind, msgspec.json.encode(value).decode())
    again = msgspec.json.decode(arguments.encode_canonical(decoded))

    jsonschema.validate(again, schema)
    assert arguments.decode(kind, msgspec.json.encode(again).decode()) == decoded
    if whole:
        assert {
            field.name for field in msgspec.structs.fields(kind) if getattr(decoded, field.name) != field.default
        } <= set(again)


def test_m1_a_property_may_have_the_name_of_a_keyword():
    class Odd(Arguments, frozen=True, kw_only=True):
        title: str
        type: str
        properties: str = ""
        required: bool = False

    assert set(arguments.build_schema(Odd)["properties"]) == {"title", "type", "properties", "required"}


def list_names(schema: dict[str, Any]) -> set[str]:
    names: set[str] = set(schema.get("properties", {}))
    items = schema.get("items")
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *([items] if items else [])):
        names |= list_names(inner)
    return names


@pytest.mark.parametrize("tool", _KINDS)
def test_m2_nested_arguments_are_in_snake_case(tool: str):
    assert [
        name
        for name in sorted(list_names(arguments.build_schema(declarations.TOOLS[tool].arguments)))
        if not _SNAKE.fullmatch(name)
    ] == []


@pytest.mark.parametrize("tool", TEAM_TOOLS)
def test_m2_arguments_of_older_sessions_still_decode(tool: str):
    """HTTP requests and older sessions have camelCase names."""
    kind = TEAM_TOOLS[tool].arguments
    decoded = arguments.decode(kind, msgspec.json.encode(example(arguments.build_schema(kind), whole=True)).decode())

    stored = msgspec.json.encode(decoded).decode()

    assert arguments.decode(kind, stored) == casing.decode(stored, kind) == decoded


def test_m2_canonical_arguments_are_in_snake_case():
    kind = TEAM_TOOLS["send_handoff"].arguments
    text = '{"to":"a","message":"m","contextRef":"c","response":{"replyTo":"b","withinS":5},"structured":{"fooBar":1}}'

    assert arguments.encode_canonical(arguments.decode(kind, text)) == (
        '{"context_ref":"c","message":"m","response":{"reply_to":"b","within_s":5},"structured":{"fooBar":1},"to":"a"}'
    )


@pytest.mark.parametrize(
    ("tool", "text", "message"),
    [
        ("update_task", "{}", "task_id: is required."),
        ("update_task", '{"task_id":1}', "task_id: Expected `str`, got `int`."),
        ("update_task", '{"task_id":"a","taskId":"b"}', "taskId: is not an argument of this tool."),
        ("update_task", '{"task_id":"a","fooBar":1}', "fooBar: is not an argument of this tool."),
        (
            "send_handoff",
            '{"to":"a","message":"m","response":{"within_s":0}}',
            "response.within_s: Expected `int` >= 1.",
        ),
    ],
)
def test_m2_a_refusal_names_the_field_in_snake_case(tool: str, text: str, message: str):
    with pytest.raises(Refusal) as refused:
        arguments.decode(declarations.TOOLS[tool].arguments, text)

    assert refused.value.problem.message == message


def test_m2_results_are_in_snake_case():
    child = ChildResult(agent_id="a-1", thread_id="t", task_id="k", status="completed", result="done")
    waited = ChildResults(session_id="s", ended=(child,), pending=(), timed_out=False, sequence=3)
    spawned = ChildSpawned(session_id="s", agent_id="a-1", thread_id="t", task_id="k", status="running", sequence=2)

    assert list_keys(msgspec.json.decode(casing.encode(waited))) == field_names(ChildResults) | field_names(ChildResult)
    assert list_keys(msgspec.json.decode(casing.encode(spawned))) == field_names(ChildSpawned)
    assert list_keys(msgspec.json.decode(casing.encode([child]))) == field_names(ChildResult)


def field_names(kind: type[msgspec.Struct]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(kind)}


def list_keys(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(list_keys, value)) if value else set()
    return set(value) | set().union(*map(list_keys, value.values())) if isinstance(value, dict) else set()
