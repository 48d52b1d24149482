"""The commands of what models are told beside the words."""

from __future__ import annotations

from .base import Declaration

CONTEXT_TABLE: tuple[Declaration, ...] = ()
