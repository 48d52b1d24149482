"""The snake_case spelling of Structs for models, derived from their declarations.

A team's request is declared once. HTTP and facts use its names in camelCase; models use them in
snake_case, in arguments and in results. Older sessions stored arguments in camelCase, so decoding
accepts both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import msgspec
from msgspec import inspect

T = TypeVar("T")

_UPPER = re.compile(r"(?<=[a-z0-9])[A-Z]")
_Pick = Callable[[inspect.Field], tuple[str, str]]


def to_snake_case(name: str) -> str:
    """Return the snake_case spelling of a camelCase name.

    Example:
        to_snake_case("taskId") == "task_id"
    """
    return _UPPER.sub(lambda match: f"_{match[0].lower()}", name)


@cache
def has_wire_names(kind: type[msgspec.Struct]) -> bool:
    """Return True if the wire spelling of the Struct or a nested one differs from its fields."""
    return _is_respelled(_inspect(kind))


@cache
def _inspect(kind: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(kind)


def decode(text: str | bytes, kind: type[T], *, strict: bool = True) -> T:
    """Decode arguments of a tool in snake_case, or in the wire spelling of older sessions.

    Raises:
        msgspec.MsgspecError: Invalid JSON, or arguments that do not fit. The message uses the names
            of the text.
    """
    if not (issubclass(kind, msgspec.Struct) and has_wire_names(kind)):
        return msgspec.json.decode(text, type=kind, strict=strict)
    wire = _respell(msgspec.json.decode(text), _inspect(kind), _to_wire)
    return msgspec.json.decode(msgspec.json.encode(wire), type=kind, strict=strict)


def encode(value: Any) -> str:
    """Encode a Struct, or a list of Structs, as JSON in snake_case: the result of a call."""
    if isinstance(value, list):
        return msgspec.json.encode([_to_snake_builtins(item) for item in cast("list[Any]", value)]).decode()
    return msgspec.json.encode(_to_snake_builtins(value)).decode()


def encode_canonical(value: msgspec.Struct) -> str:
    """Encode a Struct as canonical JSON in snake_case: sorted keys, no spaces, no omitted defaults."""
    if not has_wire_names(type(value)):
        return msgspec.json.encode(value, order="sorted").decode()
    return msgspec.json.encode(_to_snake_builtins(value), order="sorted").decode()


def _to_snake_builtins(value: Any) -> Any:
    data = msgspec.to_builtins(value)
    return _respell(data, _inspect(type(value)), _to_snake) if isinstance(value, msgspec.Struct) else data


def _to_wire(field: inspect.Field) -> tuple[str, str]:
    return field.name, field.encode_name


def _to_snake(field: inspect.Field) -> tuple[str, str]:
    return field.encode_name, field.name


def _respell(data: Any, kind: inspect.Type, pick: _Pick) -> Any:
    """Respell the keys of Structs. An object with a field in both spellings is invalid."""
    match kind:
        case inspect.Metadata(type=inner):
            return _respell(data, inner, pick)
        case inspect.UnionType(types=types):
            # A union of ours has at most one Struct or one collection, beside None and plain values.
            inner = next((entry for entry in types if _is_respelled(entry)), None)
            return data if inner is None else _respell(data, inner, pick)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item) if isinstance(data, list | tuple):
            return [_respell(entry, item, pick) for entry in cast("list[Any]", data)]
        case inspect.StructType(fields=fields) if isinstance(data, dict):
            return _respell_object(cast("dict[str, Any]", data), fields, pick)
        case _:
            return data


def _respell_object(data: dict[str, Any], fields: tuple[inspect.Field, ...], pick: _Pick) -> dict[str, Any]:
    picked = {source: (target, field.type) for field in fields for source, target in (pick(field),)}
    kinds = dict(picked.values())
    fields_by_name: dict[str, Any] = {}
    for key, value in data.items():
        target, inner = picked.get(key, (key, kinds.get(key)))
        if target != key and target in data:
            raise msgspec.ValidationError(f"Object contains unknown field `{target}`")
        fields_by_name[target] = value if inner is None else _respell(value, inner, pick)
    return fields_by_name


def _is_respelled(kind: inspect.Type) -> bool:
    match kind:
        case inspect.Metadata(type=inner):
            return _is_respelled(inner)
        case inspect.UnionType(types=types):
            return any(_is_respelled(member) for member in types)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            return _is_respelled(item)
        case inspect.StructType(fields=fields):
            return any(field.name != field.encode_name or _is_respelled(field.type) for field in fields)
        case _:
            return False
