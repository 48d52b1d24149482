"""What a tool is asked with: declared once as a Struct, told to the model as JSON Schema, checked before anything else."""

from __future__ import annotations

import hashlib
import re
from typing import Any, cast

import msgspec

from callboard.contracts.arguments import Arguments
from callboard.contracts.errors import Refusal

LARGEST = 16 * 1024 * 1024

_WHERE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<where>[^`]*)`)?", re.DOTALL)
_NAMED = re.compile(r"Object (?:missing required|contains unknown) field `(?P<field>[^`]*)`")


def decode(kind: type[Arguments], text: str) -> Arguments:
    """The arguments in the model's JSON. Raises Refusal `tool_arguments` naming the field."""
    if len(text) > LARGEST:
        raise Refusal("tool_arguments", f"The arguments are larger than {LARGEST:,} characters.")
    try:
        # Models write numbers as text now and then; what is meant is plain.
        return msgspec.json.decode(text.strip() or "{}", type=kind, strict=False)
    except msgspec.ValidationError as error:
        raise _refusal(str(error)) from error
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise Refusal("tool_arguments", f"The arguments are not a JSON object: {error}.") from error


def canonical(arguments: Arguments) -> str:
    """The one JSON text of these arguments: sorted keys, no defaults, no spaces."""
    return msgspec.json.encode(arguments, order="sorted").decode()


def digest(text: str) -> str:
    """The SHA-256 of canonical arguments, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def schema(kind: type[Arguments]) -> dict[str, Any]:
    """The JSON Schema of the arguments object, without references."""
    schemas = msgspec.json.schema(kind)["$defs"]
    found = _inlined(schemas[kind.__name__], schemas)
    return {
        "type": "object",
        "properties": found["properties"],
        "required": found["required"],
        "additionalProperties": False,
    }


def _inlined(schema: Any, schemas: dict[str, Any]) -> Any:
    """The schema with what it refers to in place of the references: not every provider follows them."""
    if isinstance(schema, dict):
        held = cast("dict[str, Any]", schema)
        name = held.get("$ref")
        if isinstance(name, str):
            return _inlined(schemas[name.rsplit("/", 1)[1]], schemas)
        return {key: _inlined(value, schemas) for key, value in held.items() if key != "title"}
    if isinstance(schema, list):
        return [_inlined(one, schemas) for one in cast("list[Any]", schema)]
    return schema


def _refusal(text: str) -> Refusal:
    found = _WHERE.fullmatch(text)
    what, where = (found["what"], found["where"] or "") if found is not None else (text, "")
    named = _NAMED.match(what)
    if named is not None:
        where = f"{where}.{named['field']}" if where else named["field"]
        what = "is required" if "missing" in what else "is not a field of this tool"
    message = f"{where}: {what}." if where else f"{what}."
    return Refusal("tool_arguments", message, field=where, hint="Correct the arguments and call the tool again.")
