"""Rows of processes that go on in the background."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from .base import Row

#: `unknown` where the fact that told the end was erased.
ProcessState = Literal["running", "stopping", "exited", "terminated", "limited", "session_closed", "lost", "unknown"]


class ProcessRow(Row, tag="process", frozen=True, kw_only=True):
    """One process. `order` is the sequence of its start. `output` is what there is of it: the newest of one that runs where it
    is asked for, head and tail of one that is over. Times are in microseconds since the epoch."""

    panel: ClassVar[str] = "processes"
    process_id: str
    thread_id: str
    agent_id: str
    turn_id: str
    tool_call_id: str
    state: ProcessState
    command: Text
    summary: str = ""
    started_at: int
    ended_at: int = 0
    exit_code: int | None = None
    output: Text = Text()
    code: str = ""
    message: str = ""
    reason: str = ""
