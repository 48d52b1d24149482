"""Schemas of tool servers whose check could take very long (A9, M1)."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.tools.mcp.schema_checker import Checker

_TWICE = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]} for n in range(16)}
_DEFS = {**_TWICE, "a16": {"type": "string"}}


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "object", "$ref": "#/$defs/a0", "$defs": _DEFS}, "references expand to more than"),
        (
            {"type": "object", "properties": {"x": {"items": {"$ref": "#/$defs/a0"}}}, "$defs": _DEFS},
            "references expand",
        ),
        ({"type": "object", "properties": {"$defs": {"$ref": "#/$defs/a0"}}, "$defs": _DEFS}, "references expand"),
        ({"type": "object", "$ref": "#"}, "references are endless"),
        ({"type": "object", "allOf": [{"$ref": "#me"}], "$anchor": "me"}, "references are endless"),
        (
            {"$id": "x:y", "type": "object", "$ref": "x:y#/$defs/a", "$defs": {"a": {"not": {"$ref": "#"}}}},
            "references are endless",
        ),
        ({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$id": "b", "$ref": "#"}}}, "its own \\$id"),
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
def test_a_schema_with_multiplying_or_endless_references_is_refused(schema: dict[str, Any], reason: str):
    with pytest.raises(ValueError, match=reason):
        Checker(schema)


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
def test_a_schema_that_recurs_for_nested_values_is_accepted(
    schema: dict[str, Any], fits: dict[str, Any], unfit: dict[str, Any]
):
    checker = Checker(schema)
    assert checker.find_mismatch(fits) is None
    assert checker.find_mismatch(unfit) is not None


def _operation(name: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"op": {"const": name}, "left": {"$ref": "#/$defs/any"}, "right": {"$ref": "#/$defs/any"}},
        "required": ["op"],
    }


_UNION = {
    "type": "object",
    "properties": {"tree": {"$ref": "#/$defs/any"}},
    "$defs": {"any": {"anyOf": [{"type": "integer"}, *(_operation(name) for name in ("add", "multiply"))]}},
}
_ITSELF = {
    "type": "object",
    "anyOf": [{"properties": {"left": {"$ref": "#"}}}, {"properties": {"left": {"$ref": "#"}}}],
}
_ITEMS = {"type": "object", "properties": {"left": {"items": {"oneOf": [{"$ref": "#"}, {"$ref": "#"}]}}}}
_EACH = {"type": "object", "additionalProperties": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}
_PATTERN = {"type": "object", "patternProperties": {"^l": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}


def _nested(depth: int, leaf: Any, *, within: bool = False) -> Any:
    for _ in range(depth):
        leaf = {"op": "add", "left": [leaf] if within else leaf}
    return leaf


@pytest.mark.parametrize(
    ("schema", "within"),
    [(_UNION, False), (_ITSELF, False), (_ITEMS, True), (_EACH, False), (_PATTERN, False)],
    ids=["a union", "itself twice", "in items", "in each property", "by a pattern"],
)
def test_deeply_nested_alternatives_are_checked_quickly(schema: dict[str, Any], *, within: bool):
    """M1: an explanation of 40 levels would take days and block all sessions."""
    checker = Checker(schema)
    for depth in (40, 400):
        value = _nested(depth, "no", within=within)
        misfit = checker.find_mismatch({"tree": value} if schema is _UNION else value)
        assert misfit is not None
        assert "Compare each nested value" in misfit.message


def test_a_recursive_union_is_explained_at_usual_depths():
    checker = Checker(_UNION)

    assert checker.find_mismatch({"tree": _nested(6, 1)}) is None
    assert checker.find_mismatch({"tree": _nested(100, 1)}) is None
    misfit = checker.find_mismatch({"tree": _nested(4, "no")})
    assert misfit is not None
    assert misfit.where.startswith("tree")


def test_a_schema_without_recursion_checks_values_of_any_size():
    schema = {"type": "object", "properties": {"all": {"items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}}}
    checker = Checker(schema)
    assert checker.find_mismatch({"all": list(range(300_000))}) is None
    misfit = checker.find_mismatch({"all": [*range(300_000), None]})
    assert misfit is not None
    assert misfit.where == "all.300000"
