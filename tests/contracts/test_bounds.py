"""Bounds of the numbers in commands, for every store and every client."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec.inspect
import pytest

from callboard.contracts.commands import TABLE
from callboard.contracts.commands.base import MAX_INTEGER, Declaration


def integers(kind: msgspec.inspect.Type, path: str) -> Iterator[tuple[str, msgspec.inspect.IntType]]:
    """Yield every integer type in a type, with its path."""
    match kind:
        case msgspec.inspect.IntType():
            yield path, kind
        case msgspec.inspect.UnionType(types=types):
            for type_ in types:
                yield from integers(type_, path)
        case msgspec.inspect.VarTupleType(item_type=item) | msgspec.inspect.ListType(item_type=item):
            yield from integers(item, f"{path}[]")
        case msgspec.inspect.DictType(value_type=value):
            yield from integers(value, f"{path}{{}}")
        case msgspec.inspect.StructType(fields=fields):
            for field in fields:
                yield from integers(field.type, f"{path}.{field.encode_name}")
        case _:
            return


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_every_integer_of_a_command_has_bounds_that_stores_and_clients_can_represent(row: Declaration):
    types = integers(msgspec.inspect.type_info(row.command), row.name)

    unbounded = [
        path
        for path, kind in types
        if kind.ge is None or kind.le is None or kind.ge < -MAX_INTEGER or kind.le > MAX_INTEGER
    ]

    assert unbounded == []
