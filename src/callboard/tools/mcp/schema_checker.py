"""Checks of values against a server's schema, in bounded time.

A check takes linear time. To explain a mismatch, the library tries every alternative of a recursive
schema, and their number can double with each level. So they are counted first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import jsonschema_rs

from .schema_graph import REFERENCES, SAME_VALUE, Graph, check_expansion

#: Maximum number of comparisons for which a mismatch is explained.
MAX_EXPLAINED = 20_000
#: Bounds of a pattern: backtracking steps and size.
_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000, size_limit=1_000_000)
_EACH_PROPERTY = frozenset({"additionalProperties", "unevaluatedProperties"})
_EACH_ITEM = frozenset({"items", "additionalItems", "unevaluatedItems", "contains"})
_UNEXPLAINED = "The value does not match the recursive schema. Compare each nested value with it"

_Schema = dict[str, Any]


class SchemaMismatch(NamedTuple):
    """Mismatch of a value, and its path; empty for the value itself."""

    where: str
    message: str


class Checker:
    """Checks values against one schema."""

    def __init__(self, schema: _Schema) -> None:
        """Raises ValueError for a schema that is invalid, too large, or refers to another document."""
        self._schema = schema
        self._graph = check_expansion(schema)
        self._validator: Any = jsonschema_rs.validator_for(
            schema, retriever=_refuse_reference, pattern_options=_PATTERNS, mask="the value"
        )

    def find_mismatch(self, value: Any) -> SchemaMismatch | None:
        """Return why a value does not match; None if it does. Raises ValueError for a value that is not JSON."""
        if self._validator.is_valid(value):
            return None
        if self._graph.recurs and not _is_explainable(self._graph, self._schema, value):
            return SchemaMismatch("", _UNEXPLAINED)
        error = next(self._validator.iter_errors(value))
        return SchemaMismatch(".".join(str(step) for step in error.instance_path), str(error.message))


def _is_explainable(graph: Graph, schema: _Schema, value: Any) -> bool:
    """Return True if an explanation needs few comparisons."""
    try:
        return _Comparisons(graph).count(schema, value) <= MAX_EXPLAINED
    except (RecursionError, _TooManyError):
        return False


class _TooManyError(Exception):
    """Too many comparisons to explain a mismatch."""


class _Comparisons:
    """Counter of comparisons. It ends, because a schema recurs only for nested values."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._counts: dict[tuple[int, int], int] = {}

    def count(self, schema: _Schema, value: Any) -> int:
        pair = (id(schema), id(value))
        number = self._counts.get(pair)
        if number is None:
            number = 1
            for inner, inner_value in self._list_pairs(schema, value):
                number += self.count(inner, inner_value)
            self._counts[pair] = number
            if number > MAX_EXPLAINED or len(self._counts) > MAX_EXPLAINED:
                raise _TooManyError
        return number

    def _list_pairs(self, schema: _Schema, value: Any) -> Iterator[tuple[_Schema, Any]]:
        for key, part in schema.items():
            if key in REFERENCES:
                target = self._graph.resolve(part)
                if target is not None:
                    yield target, value
            elif key in SAME_VALUE:
                for inner in _list_schemas(part, by_name=key in {"dependentSchemas", "dependencies"}):
                    yield inner, value
            elif isinstance(value, dict):
                yield from _list_property_pairs(key, part, cast("dict[str, Any]", value))
            elif isinstance(value, list):
                yield from _list_item_pairs(key, part, cast("list[Any]", value))


def _list_property_pairs(key: str, part: Any, value: dict[str, Any]) -> Iterator[tuple[_Schema, Any]]:
    if key == "properties" and isinstance(part, dict):
        for name, inner in cast("_Schema", part).items():
            if name in value and isinstance(inner, dict):
                yield cast("_Schema", inner), value[name]
    elif key == "patternProperties" or key in _EACH_PROPERTY:
        for inner in _list_schemas(part, by_name=key == "patternProperties"):
            for inner_value in value.values():
                yield inner, inner_value


def _list_item_pairs(key: str, part: Any, value: list[Any]) -> Iterator[tuple[_Schema, Any]]:
    if isinstance(part, list) and key in {"items", "prefixItems"}:
        for inner, inner_value in zip(cast("list[Any]", part), value, strict=False):
            if isinstance(inner, dict):
                yield cast("_Schema", inner), inner_value
    elif isinstance(part, dict) and key in _EACH_ITEM:
        for inner_value in value:
            yield cast("_Schema", part), inner_value


def _list_schemas(part: Any, *, by_name: bool) -> Iterator[_Schema]:
    """Yield the schemas of a keyword, which can be a schema, a list, or a map."""
    if by_name and isinstance(part, dict):
        part = list(cast("_Schema", part).values())
    for inner in cast("list[Any]", part) if isinstance(part, list) else [part]:
        if isinstance(inner, dict):
            yield cast("_Schema", inner)


def _refuse_reference(uri: str) -> Any:
    raise ValueError(f"it refers to another document, {uri}")
