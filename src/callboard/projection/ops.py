"""The two operations that facts lead to."""

from __future__ import annotations

from callboard.contracts.rows import Op, Remove, Row, Upsert


def upsert(*rows: Row) -> list[Op]:
    """The rows as they now are."""
    return [Upsert(panel=row.panel, row=row) for row in rows]


def remove(kind: type[Row], key: str) -> list[Op]:
    """The row of that kind and key is gone."""
    return [Remove(panel=kind.panel, key=key)]
