"""The commands of artifacts."""

from __future__ import annotations

from .base import Declaration

ARTIFACT_TABLE: tuple[Declaration, ...] = ()
