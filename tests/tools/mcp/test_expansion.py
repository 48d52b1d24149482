"""A schema of a tool server cannot keep this process at work for ever (A9, M1)."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.tools.mcp.offered import validator

_TWICE = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]} for n in range(16)}
_DEFS = {**_TWICE, "a16": {"type": "string"}}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "object", "$ref": "#/$defs/a0", "$defs": _DEFS}, "references make more than"),
        ({"type": "object", "properties": {"x": {"items": {"$ref": "#/$defs/a0"}}}, "$defs": _DEFS}, "references make"),
        ({"type": "object", "properties": {"$defs": {"$ref": "#/$defs/a0"}}, "$defs": _DEFS}, "references make"),
        ({"type": "object", "$ref": "#"}, "refers to itself"),
        ({"type": "object", "allOf": [{"$ref": "#me"}], "$anchor": "me"}, "refers to itself"),
        (
            {"$id": "x:y", "type": "object", "$ref": "x:y#/$defs/a", "$defs": {"a": {"not": {"$ref": "#"}}}},
            "refers to itself",
        ),
        ({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$id": "b", "$ref": "#"}}}, "id of its own"),
    ],
    ids=[
        "doubling",
        "doubling in an item",
        "doubling in a property of that name",
        "itself",
        "itself by an anchor",
        "itself by its id",
        "another root",
    ],
)
def test_a_schema_whose_references_multiply_or_never_end_is_refused(schema: dict[str, Any], why: str):
    with pytest.raises(ValueError, match=why):
        validator(schema)


@pytest.mark.parametrize(
    ("schema", "fits", "unfit"),
    [
        (
            {
                "type": "object",
                "properties": {"tree": {"$ref": "#/definitions/node"}},
                "definitions": {
                    "node": {
                        "type": "object",
                        "properties": {"kids": {"type": "array", "items": {"$ref": "#/definitions/node"}}},
                    }
                },
            },
            {"tree": {"kids": [{"kids": []}]}},
            {"tree": {"kids": [{"kids": 1}]}},
        ),
        (
            {"type": "object", "properties": {"$ref": {"type": "string"}, "anyOf": {"type": "integer"}}},
            {"$ref": "#", "anyOf": 1},
            {"$ref": 1},
        ),
        (
            {"type": "object", "properties": {"me": {"$ref": "#"}, "n": {"enum": [1, {"$ref": "#"}]}}},
            {"me": {"me": {"n": {"$ref": "#"}}}},
            {"me": {"me": {"n": 2}}},
        ),
    ],
    ids=["a tree", "names of properties", "the whole schema within itself"],
)
def test_a_schema_that_recurs_within_its_values_is_taken(
    schema: dict[str, Any], fits: dict[str, Any], unfit: dict[str, Any]
):
    found = validator(schema)
    assert next(found.iter_errors(fits), None) is None
    assert next(found.iter_errors(unfit), None) is not None
