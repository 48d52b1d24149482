"""Rows of handoffs."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from ...entities.handoff_payload import Payload
from ...entities.team import EdgeKind
from ..base import Row
from ..part import Part

HandoffNews = Literal["requested", "accepted", "rejected", "returned", "expired"]


class HandoffPart(Part, tag="agent_handoff", frozen=True, kw_only=True):
    """A handoff that the turn received, or `news` of one.

    News are that another actor accepted it for the agent, or that the sender's handoff was rejected,
    returned or expired. `message` is limited to 400 characters; the handoff lane has all of it.
    """

    handoff_id: str
    source: str
    target: str
    message: str
    ownership: bool = False
    news: HandoffNews = "requested"


HandoffState = Literal[
    "handoff_requested", "accepted", "active", "rejected", "returned", "resumed", "completed", "unknown"
]


class HandoffRow(Row, tag="handoff", frozen=True, kw_only=True):
    """An entry of the handoff lane; the key is the handoff's id.

    Times are in microseconds since the epoch. `artifacts` maps artifact refs to artifacts of the
    session; `unresolved` are the others.
    """

    panel: ClassVar[str] = "handoffs"
    source: str
    target: str
    edge: EdgeKind
    state: HandoffState
    payload: Payload
    artifacts: dict[str, str] | None = None
    unresolved: tuple[str, ...] = ()
    context_ref: str = ""
    meta: dict[str, Any] | None = None
    reason: str = ""
    answer_reason: str = ""
    confirm: bool = False
    ownership: bool = False
    resume_target: str = ""
    context_boundary: int = 0
    requested: int = 0
    accepted: int = 0
    ended: int = 0
    reply_by: int = 0
    reply: Literal["", "awaited", "answered", "expired", "unknown"] = ""
