"""The commands of trust, rules and permissions."""

from __future__ import annotations

from .base import Declaration

TRUST_TABLE: tuple[Declaration, ...] = ()
