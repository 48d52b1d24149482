"""What a row reads at the edge where the process that wrote it is dead.

Facts say under which epoch something runs. Whether that epoch is alive is no fact, so it is laid over the rows where they are
read and never stored. What only waits for a person is not lost: its answer can be given at any time.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from callboard.contracts.rows import AgentRow, Row, RunRow, SessionCard, SessionRow, StatusRow

AnyRowT = TypeVar("AnyRowT", bound=Row)

#: Details of a status line that hold only while somebody is at work.
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

#: States of an agent that hold only while somebody is at work.
_WORKS = frozenset({"spawning", "running", "waiting"})


def overlay(row: AnyRowT, live_epoch: int | None) -> AnyRowT:
    """The row as it reads while `live_epoch` holds the session (None: nobody does): what another epoch runs is lost."""
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
