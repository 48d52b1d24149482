"""The commands of tools, their servers and processes."""

from __future__ import annotations

from .base import Declaration

TOOLING_TABLE: tuple[Declaration, ...] = ()
