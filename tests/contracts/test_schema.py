"""Files generated from the contracts, and the product's output against them."""

from __future__ import annotations

import json
from typing import Any, get_args

import jsonschema
import msgspec
import pytest

from callboard.contracts.commands import TABLE
from callboard.contracts.commands.turn import SubmitTurn, TurnAccepted
from callboard.contracts.errors import CODES, Refusal
from callboard.contracts.facts import FACTS
from callboard.contracts.facts.permission import ReasonCode
from callboard.contracts.record import Record
from callboard.contracts.rows import AnyRow
from callboard.contracts.schema.generate import (
    REASONS,
    TYPESCRIPT,
    build_commands_schema,
    build_problem_schema,
    build_rows_schema,
    generate_files,
    render_typescript,
)
from callboard.contracts.schema.typescript import Writer, render_literal, to_constant_name
from callboard.contracts.text.reasons import ENGLISH
from callboard.projection.view import SessionView
from tests.contracts.spec_lists import ROOT
from tests.projection.histories import random_history


def validator(schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def part_of(schema: dict[str, Any], name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]}


def test_the_generated_files_match_the_contracts():
    """After a change of the contracts, run `make gen`."""
    files = {path: (ROOT / path).read_text(encoding="utf-8") for path in generate_files()}
    assert [path for path, text in generate_files().items() if files[path] != text] == []


def test_every_generated_file_is_a_schema_or_typescript():
    """The schemas are valid JSON Schema, draft 2020-12."""
    for path, text in generate_files().items():
        if path not in {TYPESCRIPT, REASONS}:
            validator(json.loads(text))


def test_the_page_has_one_english_text_for_every_reason():
    """X7: the page and the models read the same table."""
    text = generate_files()[REASONS]
    assert set(ENGLISH) == set(get_args(ReasonCode))
    assert text.count("'action.reason.") == len(ENGLISH)


def test_every_operation_of_a_history_fits_the_schema():
    """UI-34: a reader that uses the schema can read every operation."""
    checks, view = validator(build_rows_schema()), SessionView()
    kinds: set[str] = set()
    for item in random_history(2, moves=500, threads=2).live:
        for op in view.apply(item) if isinstance(item, Record) else view.apply_frame(item):
            plain = json.loads(msgspec.json.encode(op))
            kinds.add(plain.get("row", plain).get("kind", plain["op"]))
            checks.validate(plain)
    assert kinds > {"assistant_text", "tool_call", "turn", "status", "queued_turn", "action", "append"}


def test_the_schema_rejects_a_row_with_an_unknown_kind():
    """SAFE-05: closed lists are closed in the schema."""
    with pytest.raises(jsonschema.ValidationError):
        validator(build_rows_schema()).validate(
            {"op": "upsert", "panel": "parts", "row": {"kind": "guess", "key": "a"}}
        )


def test_commands_and_answers_fit_their_schemas():
    """Every surface derives from one declaration."""
    schema = build_commands_schema()
    validator(part_of(schema, "SubmitTurn")).validate(
        msgspec.to_builtins(SubmitTurn(text="Do it.", session_id="ses_1"))
    )
    accepted = TurnAccepted(session_id="ses_1", thread_id="thr_1", turn_id="trn_1", status="started", sequence=4)
    validator(part_of(schema, "TurnAccepted")).validate(msgspec.to_builtins(accepted))
    assert set(schema["commands"]) == {row.name for row in TABLE}
    with pytest.raises(jsonschema.ValidationError):
        validator(part_of(schema, "SubmitTurn")).validate({"text": "Do it.", "temperature": 1})


def test_a_refusal_fits_its_schema():
    """SAFE-05: an error has a code of the closed list, a message and a hint."""
    problem = Refusal("too_large", "Too much.", field="text", hint="Send less.").problem
    validator(build_problem_schema()).validate(msgspec.to_builtins(problem))
    with pytest.raises(jsonschema.ValidationError):
        validator(build_problem_schema()).validate({"code": "oops", "message": "No."})


def test_the_typescript_names_every_fact_row_command_and_code():
    """A page that compiles against it has a type for everything that it may receive."""
    text = render_typescript()
    names = [*(fact.__name__ for fact in FACTS.values()), *(row.__name__ for row in get_args(AnyRow))]
    assert [name for name in names if f"export interface {name} {{" not in text and f"type {name} =" not in text] == []
    assert [tag for tag in FACTS if f"readonly '{tag}': " not in text] == []
    assert [row.name for row in TABLE if f"  readonly {row.name}: {{" not in text] == []
    assert [code for code in CODES if f"  '{code}',\n" not in text] == []


def test_an_absent_field_is_optional_and_a_closed_list_is_named():
    """A field with a default may be absent on the wire."""
    writer = Writer({"Mode": ("chat", "auto")})
    schema = {
        "description": "One line.",
        "type": "object",
        "properties": {
            "mode": {"enum": ["auto", "chat"]},
            "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "default": []},
            "by-name": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Rule"}},
        },
        "required": ["mode"],
    }
    assert writer.declare("Shape", schema) == (
        "/** One line. */\n"
        "export interface Shape {\n"
        "  readonly mode: Mode\n"
        "  readonly tags?: readonly (string | null)[]\n"
        "  readonly 'by-name'?: Readonly<Record<string, Rule>>\n"
        "}"
    )


def test_a_schema_of_an_unknown_type_is_refused():
    """Nothing is generated as `any`."""
    with pytest.raises(ValueError, match="Schema without a TypeScript type"):
        Writer({}).render_type({"type": "string-ish"})


def test_texts_are_quoted_for_typescript():
    """Quotes, line ends and backslashes keep their value."""
    assert render_literal('it\'s "so"\n\\') == "'it\\'s \"so\"\\n\\\\'"
    assert [to_constant_name(name) for name in ("ToolState", "Authority", "RuntimeStatus")] == [
        "TOOL_STATES",
        "AUTHORITIES",
        "RUNTIME_STATUSES",
    ]
