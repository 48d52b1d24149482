"""What a tool is asked with: declared once as a Struct, told to the model as JSON Schema, checked before anything else."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from callboard.contracts.errors import Refusal

LARGEST = 16 * 1024 * 1024

_WHERE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<where>[^`]*)`)?", re.DOTALL)
_NAMED = re.compile(r"Object (?:missing required|contains unknown) field `(?P<field>[^`]*)`")


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The arguments of a tool. Descriptions of fields are written for the model."""


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
    found = msgspec.json.schema(kind)["$defs"][kind.__name__]
    return {
        "type": "object",
        "properties": found["properties"],
        "required": found["required"],
        "additionalProperties": False,
    }


def _refusal(text: str) -> Refusal:
    found = _WHERE.fullmatch(text)
    what, where = (found["what"], found["where"] or "") if found is not None else (text, "")
    named = _NAMED.match(what)
    if named is not None:
        where = f"{where}.{named['field']}" if where else named["field"]
        what = "is required" if "missing" in what else "is not a field of this tool"
    message = f"{where}: {what}." if where else f"{what}."
    return Refusal("tool_arguments", message, field=where, hint="Correct the arguments and call the tool again.")
