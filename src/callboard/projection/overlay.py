"""Rows of a dead epoch, as readers see them.

A fact states the epoch of a run. The liveness of an epoch is not stored; readers add it to the rows.
Work that waits for a person is not lost.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from callboard.contracts.rows.agent import AgentRow
from callboard.contracts.rows.base import Row
from callboard.contracts.rows.run import RunRow
from callboard.contracts.rows.session import SessionCard, SessionRow
from callboard.contracts.rows.status import StatusRow

AnyRowT = TypeVar("AnyRowT", bound=Row)

#: Details of a status line that apply only to a live epoch.
_AT_WORK = frozenset(
    {
        "submitted",
        "asking_model",
        "reasoning",
        "answering",
        "calling_tool",
        "running_tool",
        "waiting_retry",
        "stopping",
    }
)

#: States of an agent that apply only to a live epoch.
_WORKS = frozenset({"spawning", "running", "waiting"})


def overlay(row: AnyRowT, live_epoch: int | None) -> AnyRowT:
    """Return the row with work of other epochs marked as lost.

    Args:
        live_epoch: The epoch that holds the session's lease. None without a lease.
    """
    match row:
        case StatusRow() if row.epoch != live_epoch and row.detail in _AT_WORK:
            return msgspec.structs.replace(row, status="blocked", detail="lost")
        case SessionCard() | SessionRow() if row.epoch != live_epoch and row.state == "running":
            return msgspec.structs.replace(row, state="lost")
        case AgentRow() if row.epoch != live_epoch and row.current_run and row.state in _WORKS:
            return msgspec.structs.replace(row, state="lost", connection="disconnected", activity="lost", tool="")
        case RunRow() if row.epoch != live_epoch and row.status == "running":
            return msgspec.structs.replace(row, status="failed", detail="lost")
        case _:
            return row
