"""Decoding, canonical form and JSON Schema of tool arguments."""

from __future__ import annotations

import hashlib
import re
from typing import Any, cast

import msgspec

from callboard.contracts import casing
from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal

LARGEST = 16 * 1024 * 1024

#: Keys of a JSON Schema whose values are data, not schemas.
_VALUES = frozenset({"const", "default", "enum", "examples"})
_WHERE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<where>[^`]*)`)?", re.DOTALL)
_NAMED = re.compile(r"Object (?:missing required|contains unknown) field `(?P<field>[^`]*)`")


def decode(kind: type[Arguments], text: str) -> Arguments:
    """Decode the model's JSON: snake_case, or the wire spelling of sessions stored earlier.

    Raises:
        Refusal: `tool_arguments`, with the field.
    """
    if len(text) > LARGEST:
        raise Refusal("tool_arguments", f"The arguments are larger than {LARGEST:,} characters.")
    try:
        # Some models write numbers as text.
        return casing.decode(text.strip() or "{}", kind, strict=False)
    except msgspec.ValidationError as error:
        raise _refusal(str(error), snake_case=casing.has_wire_names(kind)) from error
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise Refusal("tool_arguments", f"The arguments are not a JSON object: {error}.") from error


def canonical(arguments: Arguments) -> str:
    """Return the canonical JSON of the arguments: snake_case, sorted keys, no defaults, no spaces."""
    return casing.canonical(arguments)


def digest(text: str) -> str:
    """Return the SHA-256 of canonical arguments in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def schema(kind: type[Arguments]) -> dict[str, Any]:
    """Return the JSON Schema of the arguments without references. Property names are in snake_case."""
    schemas = msgspec.json.schema(kind)["$defs"]
    found = _inlined(schemas[kind.__name__], schemas)
    return {
        "type": "object",
        "properties": found["properties"],
        "required": found["required"],
        "additionalProperties": False,
    }


def _inlined(schema: Any, schemas: dict[str, Any]) -> Any:
    """Replace the references in a schema, because some providers do not follow them.

    A Struct's name (`title`) is left out. A property may have any name, also `title`.
    """
    if isinstance(schema, list):
        return [_inlined(one, schemas) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    held = cast("dict[str, Any]", schema)
    name = held.get("$ref")
    if isinstance(name, str):
        return _inlined(schemas[name.rsplit("/", 1)[1]], schemas)
    found: dict[str, Any] = {}
    for key, value in held.items():
        if key == "properties":
            found[key] = {casing.snake(one): _inlined(inner, schemas) for one, inner in value.items()}
        elif key == "required":
            found[key] = [casing.snake(one) for one in value]
        elif key in _VALUES:
            found[key] = value
        elif key != "title":
            found[key] = _inlined(value, schemas)
    return found


def _refusal(text: str, *, snake_case: bool) -> Refusal:
    found = _WHERE.fullmatch(text)
    what, where = (found["what"], found["where"] or "") if found is not None else (text, "")
    where = casing.snake(where) if snake_case else where
    named = _NAMED.match(what)
    if named is not None:
        missing = "missing" in what
        # An unknown field is named as the model wrote it.
        field = casing.snake(named["field"]) if missing and snake_case else named["field"]
        where = f"{where}.{field}" if where else field
        what = "is required" if missing else "is not a field of this tool"
    message = f"{where}: {what}." if where else f"{what}."
    return Refusal("tool_arguments", message, field=where, hint="Correct the arguments and call the tool again.")
