"""Size of schemas with their references expanded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import unquote

#: Maximum number of schemas for one value, with references expanded.
MAX_COMPARED = 20_000

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
#: Keywords whose schemas apply to the same value.
SAME_VALUE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
#: Keywords whose schemas apply only by reference, or that contain data.
_ELSEWHERE = frozenset({"$defs", "definitions", "enum", "const", "default", "examples"})

_Schema = dict[str, Any]


def check_expansion(schema: _Schema) -> Graph:
    """Return the graph of a schema. Raises ValueError for endless references, or if they make it too large."""
    try:
        graph = Graph(schema)
        graph.check_ends(schema)
        size = max(graph.size(inner) for inner in _list_objects(schema))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if size > MAX_COMPARED:
        raise ValueError(f"its references expand to more than {MAX_COMPARED:,} schemas")
    return graph


class Graph:
    """References of a schema. `recurs` is True if a schema refers to itself for a nested value."""

    def __init__(self, root: _Schema) -> None:
        self.recurs = False
        self._root = root
        self._id = str(root.get("$id") or "")
        self._anchors: dict[str, _Schema] = {}
        self._ended: set[int] = set()
        self._open: set[int] = set()
        self._counting: set[int] = set()
        self._sizes: dict[int, int] = {}
        for inner in _list_objects(root):
            if inner is not root and isinstance(inner.get("$id"), str):
                raise ValueError("it contains a schema with its own $id")
            for name in ("$anchor", "$dynamicAnchor"):
                if isinstance(inner.get(name), str):
                    self._anchors[inner[name]] = inner

    def check_ends(self, root: _Schema) -> None:
        """Raise ValueError if a schema refers to itself for the same value."""
        for inner in _list_objects(root):
            self._walk(inner)

    def size(self, node: _Schema) -> int:
        """Count the schemas for a value. A schema that recurs for a nested value counts once."""
        cached = self._sizes.get(id(node))
        if cached is not None:
            self.recurs = self.recurs or id(node) in self._counting
            return cached
        self._sizes[id(node)] = 1
        self._counting.add(id(node))
        total = 1 + sum(self.size(inner) for inner, _ in self._list_references(node))
        self._counting.discard(id(node))
        self._sizes[id(node)] = total
        return total

    def _walk(self, node: _Schema) -> None:
        if id(node) in self._ended:
            return
        if id(node) in self._open:
            raise ValueError("its references are endless")
        self._open.add(id(node))
        for inner, is_same_value in self._list_references(node):
            if is_same_value:
                self._walk(inner)
        self._open.discard(id(node))
        self._ended.add(id(node))

    def _list_references(self, node: _Schema) -> Iterator[tuple[_Schema, bool]]:
        """Yield the schemas that a schema refers to, and whether they apply to the same value."""
        for key, value in node.items():
            if key in REFERENCES:
                target = self.resolve(value)
                if target is not None:
                    yield target, True
            elif key not in _ELSEWHERE:
                for inner in _list_direct(value):
                    yield inner, key in SAME_VALUE

    def resolve(self, reference: object) -> _Schema | None:
        """Return the referenced schema. The library rejects an unknown reference."""
        if not isinstance(reference, str):
            return None
        location = unquote(reference.removeprefix(self._id) if self._id else reference).removeprefix("#")
        if location and not location.startswith("/"):
            return self._anchors.get(location)
        node: Any = self._root
        for step in location.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict):
                node = cast("_Schema", node).get(name)
            elif isinstance(node, list) and name.isdecimal() and int(name) < len(cast("list[Any]", node)):
                node = cast("list[Any]", node)[int(name)]
            else:
                return None
        return cast("_Schema", node) if isinstance(node, dict) else None


def _list_direct(value: object) -> Iterator[_Schema]:
    """Yield the schemas of a keyword, which can be a schema or a list."""
    if isinstance(value, list):
        yield from (cast("_Schema", inner) for inner in cast("list[Any]", value) if isinstance(inner, dict))
    elif isinstance(value, dict):
        yield cast("_Schema", value)


def _list_objects(value: Any) -> Iterator[_Schema]:
    """Yield every object in a schema."""
    if isinstance(value, dict):
        node = cast("_Schema", value)
        yield node
        for inner in node.values():
            yield from _list_objects(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _list_objects(inner)
