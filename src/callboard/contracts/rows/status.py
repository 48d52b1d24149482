"""The status line of a thread."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..facts.session import PauseCause
from .base import Row

RuntimeStatus = Literal[
    "idle", "accepted", "routing", "preparing", "streaming", "blocked", "retrying", "failed", "done"
]
#: Phases of a status. Clients localise them.
StatusDetail = Literal[
    "ready",
    "submitted",
    "asking_model",
    "reasoning",
    "answering",
    "calling_tool",
    "running_tool",
    "waiting_approval",
    "waiting_retry",
    "stopping",
    "paused",
    "completed",
    "failed",
    "interrupted",
    "lost",
]


class StatusRow(Row, tag="status", frozen=True, kw_only=True):
    """The status line of a thread at the fact `sequence`.

    `since` is that fact's time in microseconds.

    A running status is valid while `epoch` is alive; afterwards readers show `lost`.
    """

    panel: ClassVar[str] = "status"
    thread_id: str
    agent_id: str
    agent_name: str
    status: RuntimeStatus
    detail: StatusDetail
    since: int
    turn_id: str = ""
    run_id: str = ""
    tool: str = ""
    provider: str = ""
    model: str = ""
    iteration: int = 0
    max_iters: int = 0
    paused: PauseCause | None = None
    epoch: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
