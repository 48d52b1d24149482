"""The commands of settings, secrets and models."""

from __future__ import annotations

from .base import Declaration

SETTINGS_TABLE: tuple[Declaration, ...] = ()
