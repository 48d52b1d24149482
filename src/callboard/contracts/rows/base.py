"""Rows of panels, and the three operations that change them."""

from __future__ import annotations

from typing import ClassVar

import msgspec


class Row(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="kind", gc=False):
    """A keyed entry of a panel.

    `key` is unique within the panel. `order` sorts the panel, ties by key.

    `sequence` is the newest fact that changed the row.
    """

    panel: ClassVar[str] = ""
    key: str
    order: int
    sequence: int


class Upsert(msgspec.Struct, frozen=True, tag_field="op", tag="upsert", gc=False):
    """Add the row, or replace the row with its key."""

    panel: str
    row: Row


class Remove(msgspec.Struct, frozen=True, tag_field="op", tag="remove", gc=False):
    """Remove the row with this key."""

    panel: str
    key: str


class AppendText(msgspec.Struct, frozen=True, tag_field="op", tag="append", gc=False):
    """Append to a field of a row, a `Text`.

    `offset` is the length of the field before, in code points: a client with a longer field has
    this piece already, one with a shorter field missed some.
    """

    panel: str
    key: str
    field: str
    offset: int
    text: str


Op = Upsert | Remove | AppendText
