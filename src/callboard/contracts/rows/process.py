"""Rows of background processes."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from .base import Row

#: `unknown` if the fact of the end was erased.
ProcessState = Literal["running", "stopping", "exited", "terminated", "limited", "session_closed", "lost", "unknown"]


class ProcessRow(Row, tag="process", frozen=True, kw_only=True):
    """A background process.

    `order` is the sequence of its start. `output` is the newest output of a running process on
    request, or the head and tail of an ended one. Times are in microseconds since the epoch.
    """

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
