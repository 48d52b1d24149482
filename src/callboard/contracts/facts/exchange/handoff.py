"""Facts of handoffs (Communication specification)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from ...entities.handoff_payload import Payload
from ...entities.team import EdgeKind
from ...scope import ScopeKey
from ..base import UNKNOWN, ErasedForm, Fact

#: The scope's agent is the one that caused the fact, sender or receiver.
_HANDOFF: tuple[ScopeKey, ...] = ("handoff",)


#: What ended the wait for a reply.
ReplyEnd = Literal["answered", "expired"]


class HandoffRequested(Fact, frozen=True, kw_only=True):
    """An agent sent an envelope to the receiver's inbox.

    `source` and `target` are agents, `to_thread` is the receiver's thread.

    `ownership` requests the ownership of the session for the target. `resume_target` then names the
    agent that gets it back, and `context_boundary` is the last sequence that the target receives.
    `reply_by` is the deadline of a required reply (microseconds since the epoch, 0 for none).
    `hops` counts the agents in the chain since a person's input. `artifacts` maps each artifact ref
    to an artifact of the session; `unresolved` are the other artifact refs.
    `contracts.handoff_envelope.build_envelope` returns the canonical envelope.
    """

    type: ClassVar[str] = "handoff.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _HANDOFF
    erased: ClassVar[ErasedForm] = {
        "source": UNKNOWN,
        "target": UNKNOWN,
        "to_thread": "",
        "edge": "report",
        "payload": Payload(message=""),
    }
    source: str
    target: str
    to_thread: str
    edge: EdgeKind
    payload: Payload
    context_ref: str = ""
    meta: dict[str, Any] | None = None
    reason: str = ""
    confirm: bool = False
    ownership: bool = False
    resume_target: str = ""
    context_boundary: int = 0
    reply_by: int = 0
    hops: int = 0
    artifacts: dict[str, str] | None = None
    unresolved: tuple[str, ...] = ()


class HandoffAccepted(Fact, frozen=True, kw_only=True):
    """The receiver accepted the handoff: by consuming it or, if confirmation is required, by an answer."""

    type: ClassVar[str] = "handoff.accepted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _HANDOFF
    erased: ClassVar[ErasedForm] = {"source": UNKNOWN, "target": UNKNOWN}
    source: str
    target: str
    ownership: bool = False
    resume_target: str = ""
    reason: str = ""


class HandoffRejected(Fact, frozen=True, kw_only=True):
    """The receiver rejected the handoff. The sender, in `to_thread`, receives the reason."""

    type: ClassVar[str] = "handoff.rejected"
    needs: ClassVar[tuple[ScopeKey, ...]] = _HANDOFF
    closes: ClassVar[ScopeKey | None] = "handoff"
    erased: ClassVar[ErasedForm] = {"source": UNKNOWN, "target": UNKNOWN, "to_thread": ""}
    source: str
    target: str
    to_thread: str
    reason: str = ""


class HandoffCompleted(Fact, frozen=True, kw_only=True):
    """The receiver's turn ended, or the ownership was returned.

    Then the agent that resumes, in `to_thread`, is notified.
    """

    type: ClassVar[str] = "handoff.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _HANDOFF
    closes: ClassVar[ScopeKey | None] = "handoff"
    erased: ClassVar[ErasedForm] = {"source": UNKNOWN, "target": UNKNOWN}
    source: str
    target: str
    returned: bool = False
    to_thread: str = ""
    reason: str = ""


class ReplyEnded(Fact, frozen=True, kw_only=True):
    """The required reply arrived, or its deadline passed. Then the sender, in `to_thread`, is notified."""

    type: ClassVar[str] = "handoff.reply.ended"
    needs: ClassVar[tuple[ScopeKey, ...]] = _HANDOFF
    erased: ClassVar[ErasedForm] = {"end": UNKNOWN, "to_thread": ""}
    end: ReplyEnd
    to_thread: str
    by: str = ""


HandoffFact = HandoffRequested | HandoffAccepted | HandoffRejected | HandoffCompleted | ReplyEnded
