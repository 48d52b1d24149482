"""Checks of values against a server's schema, in bounded time.

The check itself takes linear time. To explain a mismatch, the library tries every alternative of a
recursive schema, and these double with each level. So they are counted first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import jsonschema_rs

from .schema_graph import REFERENCES, SAME_VALUE, Graph, check_expansion

#: Maximum number of comparisons for which a mismatch is explained.
MOST_EXPLAINED = 20_000
#: Bounds of a pattern: backtracking steps and size.
_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000, size_limit=1_000_000)
_EACH_PROPERTY = frozenset({"additionalProperties", "unevaluatedProperties"})
_EACH_ITEM = frozenset({"items", "additionalItems", "unevaluatedItems", "contains"})
_UNEXPLAINED = "What is given does not fit the schema, which refers to itself. Compare each nested value with it"

_Schema = dict[str, Any]


class SchemaMismatch(NamedTuple):
    """Mismatch of a value and its path; empty for the value itself."""

    where: str
    message: str


class Checker:
    """Checks values against one schema."""

    def __init__(self, schema: _Schema) -> None:
        """Raises ValueError for an invalid JSON Schema, or one that leads elsewhere or too far."""
        self._schema = schema
        self._graph = check_expansion(schema)
        self._validator: Any = jsonschema_rs.validator_for(
            schema, retriever=_nowhere, pattern_options=_PATTERNS, mask="what is given"
        )

    def find_mismatch(self, value: Any) -> SchemaMismatch | None:
        """Return why a value does not match; None if it does. Raises ValueError for a value that is
        not JSON.
        """
        if self._validator.is_valid(value):
            return None
        if self._graph.recurs and not _is_explained(self._graph, self._schema, value):
            return SchemaMismatch("", _UNEXPLAINED)
        error = next(self._validator.iter_errors(value))
        return SchemaMismatch(".".join(str(one) for one in error.instance_path), str(error.message))


def _is_explained(graph: Graph, schema: _Schema, value: Any) -> bool:
    """Return True if an explanation needs few comparisons."""
    try:
        return _Comparisons(graph).count(schema, value) <= MOST_EXPLAINED
    except (RecursionError, _TooManyError):
        return False


class _TooManyError(Exception):
    """There are too many comparisons to explain a mismatch."""


class _Comparisons:
    """Counter of comparisons. A schema recurs only for a value within, so counting ends."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._counts: dict[tuple[int, int], int] = {}

    def count(self, schema: _Schema, value: Any) -> int:
        pair = (id(schema), id(value))
        found = self._counts.get(pair)
        if found is None:
            found = 1
            for one, within in self._next(schema, value):
                found += self.count(one, within)
            self._counts[pair] = found
            if found > MOST_EXPLAINED or len(self._counts) > MOST_EXPLAINED:
                raise _TooManyError
        return found

    def _next(self, schema: _Schema, value: Any) -> Iterator[tuple[_Schema, Any]]:
        for key, part in schema.items():
            if key in REFERENCES:
                target = self._graph.resolve(part)
                if target is not None:
                    yield target, value
            elif key in SAME_VALUE:
                for one in _schemas(part, by_name=key in {"dependentSchemas", "dependencies"}):
                    yield one, value
            elif isinstance(value, dict):
                yield from _of_properties(key, part, cast("dict[str, Any]", value))
            elif isinstance(value, list):
                yield from _of_items(key, part, cast("list[Any]", value))


def _of_properties(key: str, part: Any, value: dict[str, Any]) -> Iterator[tuple[_Schema, Any]]:
    if key == "properties" and isinstance(part, dict):
        for name, one in cast("_Schema", part).items():
            if name in value and isinstance(one, dict):
                yield cast("_Schema", one), value[name]
    elif key == "patternProperties" or key in _EACH_PROPERTY:
        for one in _schemas(part, by_name=key == "patternProperties"):
            for within in value.values():
                yield one, within


def _of_items(key: str, part: Any, value: list[Any]) -> Iterator[tuple[_Schema, Any]]:
    if isinstance(part, list) and key in {"items", "prefixItems"}:
        for one, within in zip(cast("list[Any]", part), value, strict=False):
            if isinstance(one, dict):
                yield cast("_Schema", one), within
    elif isinstance(part, dict) and key in _EACH_ITEM:
        for within in value:
            yield cast("_Schema", part), within


def _schemas(part: Any, *, by_name: bool) -> Iterator[_Schema]:
    """Yield the schemas of a keyword: itself, those of a list, or those by name."""
    if by_name and isinstance(part, dict):
        part = list(cast("_Schema", part).values())
    for one in cast("list[Any]", part) if isinstance(part, list) else [part]:
        if isinstance(one, dict):
            yield cast("_Schema", one)


def _nowhere(uri: str) -> Any:
    raise ValueError(f"it leads to {uri}")
