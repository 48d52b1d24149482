"""Size of a schema with its references expanded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import unquote

#: Maximum number of schemas for one value, with references expanded.
MOST_COMPARED = 20_000

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
#: Keywords whose schemas apply to the same value.
SAME_VALUE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
#: Keywords whose schemas apply nowhere by themselves.
_ELSEWHERE = frozenset({"$defs", "definitions", "enum", "const", "default", "examples"})

_Schema = dict[str, Any]


def check_expansion(schema: _Schema) -> Graph:
    """Return the graph of a schema.

    Raises:
        ValueError: The schema refers to itself for the same value, or its references make it too large.
    """
    try:
        graph = Graph(schema)
        graph.check_ends(schema)
        compared = max(graph.size(one) for one in _schemas(schema))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if compared > MOST_COMPARED:
        raise ValueError(f"its references make more than {MOST_COMPARED:,} schemas of it")
    return graph


class Graph:
    """Schemas of a schema by reference. `recurs` is True if one refers to itself for a value within."""

    def __init__(self, root: _Schema) -> None:
        self.recurs = False
        self._root = root
        self._id = str(root.get("$id") or "")
        self._anchors: dict[str, _Schema] = {}
        self._ended: set[int] = set()
        self._open: set[int] = set()
        self._counting: set[int] = set()
        self._sizes: dict[int, int] = {}
        for one in _schemas(root):
            if one is not root and isinstance(one.get("$id"), str):
                raise ValueError("a schema in it has an id of its own")
            for name in ("$anchor", "$dynamicAnchor"):
                if isinstance(one.get(name), str):
                    self._anchors[one[name]] = one

    def check_ends(self, root: _Schema) -> None:
        """Raise ValueError if a schema refers to itself for the same value."""
        for one in _schemas(root):
            self._walk(one)

    def size(self, node: _Schema) -> int:
        """Count the schemas for a value. A schema that recurs for a value within counts once."""
        known = self._sizes.get(id(node))
        if known is not None:
            self.recurs = self.recurs or id(node) in self._counting
            return known
        self._sizes[id(node)] = 1
        self._counting.add(id(node))
        found = 1 + sum(self.size(one) for one, _ in self._next(node))
        self._counting.discard(id(node))
        self._sizes[id(node)] = found
        return found

    def _walk(self, node: _Schema) -> None:
        if id(node) in self._ended:
            return
        if id(node) in self._open:
            raise ValueError("it refers to itself without an end")
        self._open.add(id(node))
        for one, same in self._next(node):
            if same:
                self._walk(one)
        self._open.discard(id(node))
        self._ended.add(id(node))

    def _next(self, node: _Schema) -> Iterator[tuple[_Schema, bool]]:
        """Yield the schemas that a schema refers to, and whether they apply to the same value."""
        for key, value in node.items():
            if key in REFERENCES:
                found = self.resolve(value)
                if found is not None:
                    yield found, True
            elif key not in _ELSEWHERE:
                for one in _within(value):
                    yield one, key in SAME_VALUE

    def resolve(self, reference: object) -> _Schema | None:
        """Return the referenced schema. The library rejects an unknown reference."""
        if not isinstance(reference, str):
            return None
        place = unquote(reference.removeprefix(self._id) if self._id else reference).removeprefix("#")
        if place and not place.startswith("/"):
            return self._anchors.get(place)
        found: Any = self._root
        for step in place.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict):
                found = cast("_Schema", found).get(name)
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(cast("list[Any]", found)):
                found = cast("list[Any]", found)[int(name)]
            else:
                return None
        return cast("_Schema", found) if isinstance(found, dict) else None


def _within(value: object) -> Iterator[_Schema]:
    """Yield the schemas of a keyword: itself, those of a list, or those by name."""
    if isinstance(value, list):
        yield from (cast("_Schema", one) for one in cast("list[Any]", value) if isinstance(one, dict))
    elif isinstance(value, dict):
        yield cast("_Schema", value)


def _schemas(value: Any) -> Iterator[_Schema]:
    """Yield every object in a schema."""
    if isinstance(value, dict):
        node = cast("_Schema", value)
        yield node
        for one in node.values():
            yield from _schemas(one)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _schemas(one)
