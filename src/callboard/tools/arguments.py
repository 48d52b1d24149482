"""Decoding, canonical form and JSON Schema of tool arguments."""

from __future__ import annotations

import hashlib
import re
from typing import Any, cast

import msgspec

from callboard.contracts import casing
from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal

MAX_ARGUMENTS_CHARS = 16 * 1024 * 1024

#: Keys of a JSON Schema whose values are data, not schemas.
_DATA_KEYS = frozenset({"const", "default", "enum", "examples"})
_PROBLEM_WITH_FIELD = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<where>[^`]*)`)?", re.DOTALL)
#: Next step after invalid arguments.
CALL_AGAIN = "Correct the arguments and call the tool again."
_FIELD_PROBLEM = re.compile(r"Object (?:missing required|contains unknown) field `(?P<field>[^`]*)`")


def decode(arguments_type: type[Arguments], text: str) -> Arguments:
    """Decode the model's JSON: snake_case, or the wire spelling of sessions stored earlier.

    Raises:
        Refusal: `tool_arguments`, with the field.
    """
    if len(text) > MAX_ARGUMENTS_CHARS:
        raise Refusal(
            "tool_arguments",
            f"The arguments are larger than {MAX_ARGUMENTS_CHARS:,} characters.",
            hint="Put the content into a file in several calls.",
        )
    try:
        # Some models write numbers as strings.
        return casing.decode(text.strip() or "{}", arguments_type, strict=False)
    except msgspec.ValidationError as error:
        raise _build_refusal(str(error), snake_case=casing.has_wire_names(arguments_type)) from error
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise Refusal("tool_arguments", f"The arguments are not a JSON object: {error}.", hint=CALL_AGAIN) from error


def encode_canonical(arguments: Arguments) -> str:
    """Return the canonical JSON of the arguments: snake_case, sorted keys, no defaults, no spaces."""
    return casing.encode_canonical(arguments)


def compute_digest(text: str) -> str:
    """Return the SHA-256 of canonical arguments in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def build_schema(arguments_type: type[Arguments]) -> dict[str, Any]:
    """Return the JSON Schema of the arguments without references. Property names are in snake_case."""
    schemas = msgspec.json.schema(arguments_type)["$defs"]
    inlined = _inline(schemas[arguments_type.__name__], schemas)
    return {
        "type": "object",
        "properties": inlined["properties"],
        "required": inlined["required"],
        "additionalProperties": False,
    }


def _inline(schema: Any, schemas: dict[str, Any]) -> Any:
    """Replace references, which some providers do not follow, and drop Struct names (`title`).

    A property may have any name, including `title`.
    """
    if isinstance(schema, list):
        return [_inline(part, schemas) for part in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    node = cast("dict[str, Any]", schema)
    name = node.get("$ref")
    if isinstance(name, str):
        return _inline(schemas[name.rsplit("/", 1)[1]], schemas)
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            result[key] = {casing.to_snake_case(part): _inline(inner, schemas) for part, inner in value.items()}
        elif key == "required":
            result[key] = [casing.to_snake_case(part) for part in value]
        elif key in _DATA_KEYS:
            result[key] = value
        elif key != "title":
            result[key] = _inline(value, schemas)
    return result


def _build_refusal(text: str, *, snake_case: bool) -> Refusal:
    match = _PROBLEM_WITH_FIELD.fullmatch(text)
    problem, where = (match["what"], match["where"] or "") if match is not None else (text, "")
    where = casing.to_snake_case(where) if snake_case else where
    field_match = _FIELD_PROBLEM.match(problem)
    if field_match is not None:
        is_missing = "missing" in problem
        # Report an unknown field as the model wrote it.
        field = casing.to_snake_case(field_match["field"]) if is_missing and snake_case else field_match["field"]
        where = f"{where}.{field}" if where else field
        problem = "is required" if is_missing else "is not an argument of this tool"
    message = f"{where}: {problem}." if where else f"{problem}."
    return Refusal("tool_arguments", message, field=where, hint=CALL_AGAIN)
