"""Runs as the Multi-agent runtime specification records them, in its own casing, and answers of their reads."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..facts.turn import Mode, PermissionMode
from .team import RunStatus


class AgentRunRecord(msgspec.Struct, frozen=True, kw_only=True):
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


class LocatedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run with the position of its facts in its session: from `first` to `last`, 0 while it runs."""

    record: AgentRunRecord
    thread_id: str
    turn_id: str
    first: int
    last: int = 0


class OpenedFolder(msgspec.Struct, frozen=True, kw_only=True):
    """An open workspace. `path` is absolute with symlinks resolved."""

    workspace_id: str
    path: str


class ModelInUse(msgspec.Struct, frozen=True, kw_only=True):
    """The default model, and the reason for it."""

    provider: str
    name: str
    reason: str


class LeadSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The agent that leads a new session. `max_iters` limits the model calls of a turn."""

    name: str
    max_iters: int
    permission_mode: PermissionMode | None = None


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """Maximum number of children of one agent at work, and of one provider."""

    team: int
    provider: int


class EffectiveSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The effective settings of a workspace."""

    project_root: str
    modes: tuple[Mode, ...]
    permission_modes: tuple[PermissionMode, ...]
    agent: LeadSettings
    model: ModelInUse
    models: tuple[tuple[str, str], ...]
    budgets: Budgets
    rules: tuple[Any, ...]
