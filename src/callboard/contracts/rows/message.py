"""Rows of messages: an agent's text and reasoning in a turn, and messages between agents."""

from __future__ import annotations

from typing import ClassVar

from ..content import Text
from .base import Row
from .part import Part, PartState


class TextPart(Part, tag="assistant_text", frozen=True, kw_only=True):
    """A text part of the assistant.

    A `commentary` was followed by a tool call, so it is not the answer. `revised`: the final text
    differs from the streamed one.
    """

    state: PartState
    content: Text
    commentary: bool = False
    revised: bool = False


class ReasoningPart(Part, tag="reasoning_summary", frozen=True, kw_only=True):
    """Reasoning of a model, or its summary."""

    state: PartState
    content: Text


class MessageRow(Row, tag="message", frozen=True, kw_only=True):
    """A message between agents; the key is its item. The panel has the newest two hundred."""

    panel: ClassVar[str] = "messages"
    channel_id: str
    source: str
    participants: tuple[str, ...]
    text: Text
    at: int = 0
