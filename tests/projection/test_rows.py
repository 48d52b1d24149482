"""The table to which row operations are applied."""

from __future__ import annotations

import pytest

from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.rows.base import AppendText, Op, Remove, Upsert
from callboard.contracts.rows.message import TextPart
from callboard.projection.rows import Table, compact


def part(key: str, text: str, order: int = 1) -> TextPart:
    return TextPart(
        key=key,
        order=order,
        sequence=1,
        turn_id="trn_1",
        thread_id="thr_1",
        at=1,
        state="streaming",
        content=Text(text=text),
    )


def piece(offset: int, text: str, key: str = "a") -> AppendText:
    return AppendText(panel="parts", key=key, field="content", offset=offset, text=text)


def put(row: TextPart) -> Upsert:
    return Upsert(panel="parts", row=row)


def test_rows_sort_by_order_and_then_by_key():
    """UI-03"""
    table = Table([put(part("b", "", 2)), put(part("c", "", 1)), put(part("a", "", 2))])
    assert [row.key for row in table.list_rows(TextPart)] == ["c", "a", "b"]


def test_an_overlapping_append_is_not_repeated():
    """UI-34: offsets count characters, not bytes."""
    table = Table([put(part("a", "😀")), piece(1, "bc"), piece(1, "bc"), piece(2, "cd")])
    assert [row.content.text for row in table.list_rows(TextPart)] == ["😀bcd"]


def test_a_missing_append_is_a_gap():
    table = Table([put(part("a", "one"))])
    with pytest.raises(Refusal, match=r"gap: Text of row a is missing between 3 and 5\."):
        table.apply([piece(5, "x")])
    with pytest.raises(Refusal, match="gap: Text arrived for row b of panel parts"):
        table.apply([piece(0, "x", key="b")])


def test_a_replaced_or_removed_row_drops_its_appends():
    """UI-05"""
    table = Table([put(part("a", "one")), piece(3, " two"), put(part("a", "final"))])
    assert [row.content.text for row in table.list_rows(TextPart)] == ["final"]
    table.apply([piece(5, "!"), Remove(panel="parts", key="a")])
    assert table.group_rows() == {}


def test_a_batch_drops_replaced_operations():
    """A row that changes three times in a batch is sent once."""
    ops: list[Op] = [
        put(part("a", "one")),
        piece(3, " two"),
        put(part("b", "x")),
        put(part("a", "one two three")),
        piece(13, "!"),
        Remove(panel="parts", key="b"),
    ]
    assert compact(ops) == [put(part("a", "one two three")), piece(13, "!"), Remove(panel="parts", key="b")]
