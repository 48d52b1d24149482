"""The rows, in the order of the table."""

from __future__ import annotations

from bench.harness import Row
from bench.rows import (
    appends,
    calls,
    event_loop,
    fanout,
    idle_sessions,
    opening,
    profile,
    projection,
    restart,
    scale,
    size,
    streaming,
    submit,
    team,
    turn,
    waiting,
    wire_turn,
)

ROWS: tuple[Row, ...] = (
    appends.ROW,
    turn.ROW,
    wire_turn.ROW,
    scale.ROW,
    profile.ROW,
    team.ROW,
    submit.ROW,
    fanout.ROW,
    size.ROW,
    opening.ROW,
    waiting.ROW,
    projection.ROW,
    restart.ROW,
    calls.ROW,
    event_loop.ROW,
    idle_sessions.ROW,
    streaming.ROW,
)
