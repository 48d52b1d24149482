"""Parts of a conversation: their base class, and the parts that belong to no entity."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Row

PartState = Literal["streaming", "final", "interrupted"]


def compute_part_order(started: int, step: int) -> int:
    """Return the order of a part: an integer that JavaScript represents exactly.

    It combines the sequence of the turn's `turn.started` with the step of the part.
    """
    return (started << 20) | step


class Part(Row, frozen=True, kw_only=True):
    """Base class of parts. `order` is `compute_part_order`: the order in which the parts began, known while they stream."""

    panel: ClassVar[str] = "parts"
    turn_id: str
    thread_id: str
    at: int


class NoticePart(Part, tag="runtime_status", frozen=True, kw_only=True):
    """A milestone, such as a retry of the model, a pause or a warning.

    It is also a message (`agent_message`) or a review request (`review_requested`) of the agent
    `agent_id`. A waiting model call has one notice, with the wait and the number of the next
    `attempt`.
    """

    code: str
    message: str
    hint: str = ""
    agent_id: str = ""
    retry_in_ms: int | None = None
    attempt: int = 0


class ErrorPart(Part, tag="error", frozen=True, kw_only=True):
    """The failure that ended the turn."""

    code: str
    message: str
    hint: str = ""
    retryable: bool = False
