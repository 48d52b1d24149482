"""What a panel is made of: keyed rows, and the three operations that change them."""

from __future__ import annotations

from typing import ClassVar

import msgspec


class Row(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="kind"):
    """One keyed entry of a panel. `key` is unique within the panel; `order` sorts the panel, ties by key.

    `sequence` is the newest fact that shaped the row.
    """

    panel: ClassVar[str] = ""
    key: str
    order: int
    sequence: int


class Upsert(msgspec.Struct, frozen=True, tag_field="op", tag="upsert"):
    """The row is new, or replaces the one with its key."""

    panel: str
    row: Row


class Remove(msgspec.Struct, frozen=True, tag_field="op", tag="remove"):
    """The row with this key is gone from the panel."""

    panel: str
    key: str


class AppendText(msgspec.Struct, frozen=True, tag_field="op", tag="append"):
    """Text for the end of a row's field, which is a `Text`. `offset` is how many characters (code points) the field has before
    it: a client that has more has seen this piece, one that has fewer has missed some."""

    panel: str
    key: str
    field: str
    offset: int
    text: str


Op = Upsert | Remove | AppendText
