"""Rows of runs, and their records in the casing of the Multi-agent runtime specification (Run model)."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..entities.team import (
    WorkUsage,
)
from ..facts.session import AgentKind
from ..facts.turn import PromptRef
from .base import Row

#: Status of a run as the Multi-agent runtime specification records it.
RunStatus = Literal["running", "completed", "failed", "cancelled"]


class RunRow(Row, tag="run", frozen=True, kw_only=True):
    """A run (Multi-agent runtime specification, Run model); the key is its id.

    `detail` is a code or a cause. `prompts` are the layers of its prompt, as blobs.

    A running status is valid while `epoch` is alive; afterwards readers show it as failed, `lost`.
    """

    panel: ClassVar[str] = "runs"
    agent_id: str
    agent_kind: AgentKind
    thread_id: str
    turn_id: str
    status: RunStatus
    parent_run_id: str = ""
    task_id: str = ""
    detail: str = ""
    started: int = 0
    ended: int = 0
    usage: WorkUsage = WorkUsage()
    prompts: tuple[PromptRef, ...] = ()
    epoch: int = 0


class AgentRunRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A run.

    Times are RFC 3339 in UTC; `ended_at` is null while it runs. `detail` is the code or cause of
    its end. `agent_kind` is `subagent` for an agent with a parent.
    """

    run_id: str
    repo_path: str
    session_id: str
    agent_id: str
    agent_kind: Literal["main", "subagent"]
    parent_run_id: str | None = None
    status: RunStatus
    detail: str | None = None
    started_at: str
    ended_at: str | None = None


class LocatedRun(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A run with the position of its facts in its session: from `first` to `last`, 0 while it runs."""

    record: AgentRunRecord
    thread_id: str
    turn_id: str
    first: int
    last: int = 0
