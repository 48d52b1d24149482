"""Rows of recorded sessions, and their filled fields."""

from __future__ import annotations

from functools import cache

import msgspec

from callboard.contracts.record import Record
from callboard.contracts.rows.base import Row, Upsert
from callboard.projection.view import SessionView
from tests.projection.artifact_sessions import artifact_session
from tests.projection.histories import random_history
from tests.projection.team.scenarios import all_sessions
from tests.projection.test_context import compacting_session

#: A session with an artifact, and one whose context was resolved and is being summarised.
_STORIES = (artifact_session, compacting_session)
_HISTORY = random_history(11, moves=400, threads=2)


@cache
def _cached_rows() -> tuple[Row, ...]:
    sessions: list[tuple[Record, ...]] = [story.records() for story in all_sessions()]
    sessions += [story().records() for story in _STORIES]
    rows: list[Row] = []
    for records in (*sessions, _HISTORY.records):
        view = SessionView()
        ops = [op for record in records for op in view.apply(record)]
        rows += (op.row for op in ops if isinstance(op, Upsert))
    return tuple(rows)


def recorded_rows() -> list[Row]:
    """Return every row in each of its states."""
    return list(_cached_rows())


def filled_fields(rows: list[Row]) -> dict[type[Row], set[str]]:
    """Return the fields of each row class with a value in some row, nested ones after a dot."""
    names: dict[type[Row], set[str]] = {}
    for row in rows:
        names.setdefault(type(row), set()).update(_filled_names(row, ""))
    return names


def _filled_names(struct: msgspec.Struct, before: str) -> list[str]:
    names: list[str] = []
    for field in msgspec.structs.fields(type(struct)):
        value = getattr(struct, field.name)
        if value or field.required:
            names.append(f"{before}{field.name}")
        if isinstance(value, msgspec.Struct) and not before:
            names += _filled_names(value, f"{field.name}.")
    return names
