"""Encoded conversations: each part is encoded once and used in all later requests."""

from __future__ import annotations

from .encoder import HistoryEncoder

__all__ = ["HistoryEncoder"]
