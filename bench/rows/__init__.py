"""The rows, in the order of the table."""

from __future__ import annotations

from bench.harness import Row

from . import (
    appends,
    calls,
    fanout,
    held,
    holds,
    opening,
    projection,
    restart,
    size,
    streaming,
    submit,
    team,
    turn,
    waiting,
)

ROWS: tuple[Row, ...] = (
    appends.ROW,
    turn.ROW,
    team.ROW,
    submit.ROW,
    fanout.ROW,
    size.ROW,
    opening.ROW,
    waiting.ROW,
    projection.ROW,
    restart.ROW,
    calls.ROW,
    holds.ROW,
    held.ROW,
    streaming.ROW,
)
