"""Rows of queued turns, and of input steered into a running turn."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from ..facts.turn import Mode
from ..refs import ContextRef, MissingRef
from .base import Row
from .part import Part


class SteerPart(Part, tag="user_text", frozen=True, kw_only=True):
    """Input steered into a running turn."""

    steer_id: str
    outcome: Literal["pending", "accepted", "rejected"]
    content: Text
    reason: str = ""
    given: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()


class QueueRow(Row, tag="queued_turn", frozen=True, kw_only=True):
    """A queued turn. `order` is its position."""

    panel: ClassVar[str] = "queue"
    turn_id: str
    thread_id: str
    input: Text
    mode: Mode
    submitted_at: int
