"""Facts of what agents send each other: handoffs, the inbox they wait in, and channels (Communication specification)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from ..content import Text
from ..entities.handoff_payload import Payload
from ..entities.team import EdgeKind
from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact

#: Handoffs move between the sender's and the receiver's agent; the scope is of whoever caused the fact.
_HANDOFF: tuple[ScopeKey, ...] = ("handoff",)
#: What ended the wait for an answer.
ReplyEnd = Literal["answered", "expired"]


class HandoffRequested(Fact, frozen=True, kw_only=True):
    """An envelope waits in the receiver's inbox until its next turn. `source` and `target` are agents, `to_thread` the
    receiver's thread.

    `ownership` asks for the session to be the target's; `resume_target` then names who takes it back, and `context_boundary`
    the sequence up to which the target is told. `reply_by` is in microseconds since the Unix epoch, 0 where no answer is
    required. `envelope.envelope_of` makes the canonical envelope of it. `artifacts` names the artifact of the session that each
    ref of one leads to; `unresolved` are the refs of artifacts that lead to none.
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
    """The receiver took it: by consuming it, or, where ownership moves or the edge says so, by an answer."""

    type: ClassVar[str] = "handoff.accepted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _HANDOFF
    erased: ClassVar[ErasedForm] = {"source": UNKNOWN, "target": UNKNOWN}
    source: str
    target: str
    ownership: bool = False
    resume_target: str = ""
    reason: str = ""


class HandoffRejected(Fact, frozen=True, kw_only=True):
    """The receiver did not take it; its sender, in `to_thread`, is told why."""

    type: ClassVar[str] = "handoff.rejected"
    needs: ClassVar[tuple[ScopeKey, ...]] = _HANDOFF
    closes: ClassVar[ScopeKey | None] = "handoff"
    erased: ClassVar[ErasedForm] = {"source": UNKNOWN, "target": UNKNOWN, "to_thread": ""}
    source: str
    target: str
    to_thread: str
    reason: str = ""


class HandoffCompleted(Fact, frozen=True, kw_only=True):
    """What was handed over is done: the receiver's turn ended, or the ownership is back; then whoever resumes, in
    `to_thread`, is told."""

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
    """The answer that a handoff required came, or its time ran out; then its sender, in `to_thread`, is told."""

    type: ClassVar[str] = "handoff.reply.ended"
    needs: ClassVar[tuple[ScopeKey, ...]] = _HANDOFF
    erased: ClassVar[ErasedForm] = {"end": UNKNOWN, "to_thread": ""}
    end: ReplyEnd
    to_thread: str
    by: str = ""


class ChannelOpened(Fact, frozen=True, kw_only=True):
    """A structured conversation between agents of the session. `participants` are agents."""

    type: ClassVar[str] = "channel.opened"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("channel",)
    participants: tuple[str, ...]
    subject: str = ""


class ChannelMessage(Fact, frozen=True, kw_only=True):
    """A message in a channel, on its way to the inboxes of `to_threads`; each gets it under `item`."""

    type: ClassVar[str] = "channel.message"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("channel",)
    item: str
    source: str
    participants: tuple[str, ...]
    to_threads: tuple[str, ...]
    message: Text
    hops: int = 0


class ChannelClosed(Fact, frozen=True, kw_only=True):
    """Nothing more is said in the channel."""

    type: ClassVar[str] = "channel.closed"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("channel",)
    closes: ClassVar[ScopeKey | None] = "channel"
    participants: tuple[str, ...]
    reason: str = ""


class InboxReserved(Fact, frozen=True, kw_only=True):
    """The run in the scope was told these items. They are not consumed before its model answered."""

    type: ClassVar[str] = "inbox.reserved"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    items: tuple[str, ...]


class InboxConsumed(Fact, frozen=True, kw_only=True):
    """The model of the run in the scope answered: these items are consumed, once and in this order."""

    type: ClassVar[str] = "inbox.consumed"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    items: tuple[str, ...]


HandoffFact = (
    HandoffRequested
    | HandoffAccepted
    | HandoffRejected
    | HandoffCompleted
    | ReplyEnded
    | ChannelOpened
    | ChannelMessage
    | ChannelClosed
    | InboxReserved
    | InboxConsumed
)
