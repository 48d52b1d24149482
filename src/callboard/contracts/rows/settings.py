"""Effective settings of a workspace, in the casing of the Multi-agent runtime specification."""

from __future__ import annotations

from typing import Any

import msgspec

from ..facts.turn import Mode, PermissionMode


class OpenedFolder(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An open workspace. `path` is absolute with symlinks resolved."""

    workspace_id: str
    path: str


class ModelInUse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The default model, and the reason for it."""

    provider: str
    name: str
    reason: str


class LeadSettings(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The agent that leads a new session. `max_iters` limits the model calls of a turn."""

    name: str
    max_iters: int
    permission_mode: PermissionMode | None = None


class Budgets(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Maximum number of children of one agent at work, and of one provider."""

    team: int
    provider: int


class EffectiveSettings(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The effective settings of a workspace."""

    project_root: str
    modes: tuple[Mode, ...]
    permission_modes: tuple[PermissionMode, ...]
    agent: LeadSettings
    model: ModelInUse
    models: tuple[tuple[str, str], ...]
    budgets: Budgets
    rules: tuple[Any, ...]
