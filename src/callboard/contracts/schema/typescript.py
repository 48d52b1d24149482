"""TypeScript types of the JSON Schemas that msgspec writes. Other shapes of schemas are refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]

_PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


class Writer:
    """Writes types. An enumeration with the values of a closed list in `aliases` gets the name of the list."""

    def __init__(self, aliases: Mapping[str, Sequence[str]]) -> None:
        self._aliases = {frozenset(values): name for name, values in aliases.items()}

    def render_type(self, schema: Schema) -> str:
        """Return the type expression of a schema. Raises ValueError for an unknown shape."""
        if "$ref" in schema:
            return str(schema["$ref"]).rsplit("/", 1)[-1]
        if members := schema.get("anyOf"):
            return " | ".join(dict.fromkeys(self.render_type(member) for member in members))
        if "const" in schema:
            return render_literal(schema["const"])
        if "enum" in schema:
            return self._render_enumeration(schema["enum"])
        kind = schema.get("type")
        if kind == "array":
            element = self.render_type(schema["items"])
            return f"readonly ({element})[]" if " " in element else f"readonly {element}[]"
        if kind == "object":
            values = self.render_type(schema.get("additionalProperties", {}))
            return f"Readonly<Record<string, {values}>>"
        if kind in _PRIMITIVES:
            return _PRIMITIVES[kind]
        if not set(schema) - {"title", "description", "default"}:
            return "unknown"
        raise ValueError(f"Schema without a TypeScript type: {dict(schema)}")

    def declare(self, name: str, schema: Schema) -> str:
        """Return the exported declaration of a named schema: an interface for an object, else an alias."""
        comment = _render_comment(schema.get("description", ""))
        if "properties" not in schema:
            return f"{comment}export type {name} = {self.render_type(schema)}"
        body = "".join(f"  {member}\n" for member in self._render_members(schema))
        return f"{comment}export interface {name} {{\n{body}}}"

    def _render_members(self, schema: Schema) -> list[str]:
        required = set(schema.get("required", ()))
        return [
            f"readonly {_render_key(name)}{'' if name in required else '?'}: {self.render_type(value)}"
            for name, value in schema["properties"].items()
        ]

    def _render_enumeration(self, values: Sequence[Any]) -> str:
        alias = self._aliases.get(frozenset(values)) if len(values) > 1 else None
        return alias or " | ".join(render_literal(value) for value in values)


def render_literal(value: Any) -> str:
    """Return a value as a TypeScript literal, with strings in single quotes."""
    if isinstance(value, str):
        inner = json.dumps(value, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'")
        return f"'{inner}'"
    return json.dumps(value)


def render_closed_list(constant: str, alias: str, values: Sequence[str]) -> str:
    """Return a closed list as a constant with its type, so that the page can prove that it has a text for each name."""
    lines = "".join(f"  {render_literal(value)},\n" for value in values)
    return f"export const {constant} = [\n{lines}] as const\nexport type {alias} = (typeof {constant})[number]"


def to_constant_name(name: str) -> str:
    """Return the constant's name of a closed list: `TOOL_STATES` for `ToolState`."""
    words = "".join(f"_{letter}" if letter.isupper() and index else letter for index, letter in enumerate(name)).upper()
    if words.endswith("Y"):
        return f"{words[:-1]}IES"
    return f"{words}ES" if words.endswith("S") else f"{words}S"


def _render_key(name: str) -> str:
    return name if name.isidentifier() else render_literal(name)


def _render_comment(text: str) -> str:
    if not text:
        return ""
    lines = [line.strip() for line in text.strip().replace("*/", "* /").splitlines()]
    if len(lines) == 1:
        return f"/** {lines[0]} */\n"
    return "/**\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"
