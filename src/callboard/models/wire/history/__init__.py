"""A conversation as bytes of a wire format: each part of it is encoded once, and joins the body of every later request."""

from __future__ import annotations

from .encoder import HistoryEncoder

__all__ = ["HistoryEncoder"]
