"""Items that a run receives from other agents, shown where the run receives them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
)
from callboard.contracts.facts.exchange.inbox import InboxConsumed, InboxReserved
from callboard.contracts.facts.exchange.review import ReviewRequested
from callboard.contracts.facts.subagent import NotificationStatus, SubagentClosed, WorkerNotification
from callboard.contracts.handoff_envelope import build_news_id
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.exchange.handoff import HandoffNews, HandoffPart
from callboard.contracts.rows.part import NoticePart
from callboard.contracts.rows.subagent import NotificationPart

from ..reducer import Reducer, on, upsert
from .run import OpenRun, build_aside_key

#: Maximum length of an item's text in the conversation, in characters.
_MAX_CHARS = 400


class Handoff(msgspec.Struct, frozen=True, tag="handoff", gc=False):
    """A handoff, or news of it. `receiver` is the thread that it was sent to."""

    handoff: str
    source: str
    target: str
    message: str
    ownership: bool
    receiver: str = ""
    news: HandoffNews = "requested"


class Notification(msgspec.Struct, frozen=True, tag="notification", gc=False):
    """The result of a child."""

    agent: str
    task: str
    status: NotificationStatus
    summary: str
    transcript: str
    plain_text: bool = False


class Notice(msgspec.Struct, frozen=True, tag="notice", gc=False):
    """A message or a review request."""

    agent: str
    code: str
    message: str


Item = Handoff | Notification | Notice
_LaterNews = Literal["accepted", "rejected", "returned", "expired"]
Items = dict[str, Item]


class Waiting(Reducer):
    """The items that wait for each thread in `inboxes`, and the handoffs in progress in `handoffs`."""

    inboxes: dict[str, Items] = msgspec.field(default={})
    handoffs: dict[str, Handoff] = msgspec.field(default={})

    @on
    def notify(self, record: Record, fact: WorkerNotification) -> None:
        note = Notification(
            record.scope.agent,
            record.scope.task,
            fact.status,
            fact.summary[:_MAX_CHARS],
            fact.transcript,
            fact.plain_text,
        )
        self._put(fact.to_thread, fact.item, note)

    @on
    def send_message(self, record: Record, fact: ChannelMessage) -> None:
        for thread in fact.to_threads:
            self._put(thread, fact.item, Notice(fact.source, "agent_message", fact.message.text[:_MAX_CHARS]))

    @on
    def request_review(self, record: Record, fact: ReviewRequested) -> None:
        notice = Notice(fact.target, "review_requested", fact.instructions.text[:_MAX_CHARS])
        self._put(fact.to_thread, fact.item, notice)

    @on
    def consume(self, record: Record, fact: InboxConsumed) -> None:
        self._drop(record.scope.thread, fact.items)

    @on
    def close(self, record: Record, fact: SubagentClosed) -> None:
        self.inboxes.pop(record.scope.thread, None)

    @on
    def request_handoff(self, record: Record, fact: HandoffRequested) -> None:
        key, message = record.scope.handoff, fact.payload.message[:_MAX_CHARS]
        handoff = Handoff(key, fact.source, fact.target, message, fact.ownership, receiver=fact.to_thread)
        self.handoffs[key] = handoff
        self._put(fact.to_thread, key, handoff)

    @on
    def accept_handoff(self, record: Record, fact: HandoffAccepted) -> None:
        handoff = self.handoffs.get(record.scope.handoff)
        # A turn that accepts a handoff itself needs no news.
        if handoff is not None and not record.scope.run:
            self._put_news(handoff.receiver, handoff, "accepted", fact.reason)

    @on
    def reject_handoff(self, record: Record, fact: HandoffRejected) -> None:
        self._end_handoff(record.scope.handoff, fact.to_thread, "rejected", fact.reason)

    @on
    def complete_handoff(self, record: Record, fact: HandoffCompleted) -> None:
        self._end_handoff(record.scope.handoff, fact.to_thread if fact.returned else "", "returned", fact.reason)

    @on
    def end_reply(self, record: Record, fact: ReplyEnded) -> None:
        handoff = self.handoffs.get(record.scope.handoff)
        if handoff is not None and fact.end == "expired":
            self._put_news(fact.to_thread, handoff, "expired", "")

    def _end_handoff(self, key: str, thread: str, news: _LaterNews, reason: str) -> None:
        handoff = self.handoffs.pop(key, None)
        if handoff is None:
            return
        self._drop(handoff.receiver, (key, build_news_id(key, "accepted")))
        if thread:
            self._put_news(thread, handoff, news, reason)

    def _put_news(self, thread: str, handoff: Handoff, news: _LaterNews, reason: str) -> None:
        item = msgspec.structs.replace(handoff, news=news, message=reason[:_MAX_CHARS])
        self._put(thread, build_news_id(handoff.handoff, news), item)

    def _put(self, thread: str, key: str, item: Item) -> None:
        if thread and key:
            self.inboxes.setdefault(thread, {})[key] = item

    def _drop(self, thread: str, keys: tuple[str, ...]) -> None:
        inbox = self.inboxes.get(thread)
        if inbox is None:
            return
        for key in keys:
            inbox.pop(key, None)
        if not inbox:
            del self.inboxes[thread]


@on
def receive(waiting: Waiting, record: Record, fact: InboxReserved, run: OpenRun) -> list[Op]:
    """Return the parts of the items that the run receives, in their order."""
    inbox = waiting.inboxes.get(run.position.thread, {})
    prefix = build_aside_key(run.position.run, record.sequence)
    ops: list[Op] = []
    for number, key in enumerate(fact.items):
        item = inbox.get(key)
        if item is not None:
            ops += upsert(_build_part(item, run.position.build_fields(record, f"{prefix}.{number:04}", run.step)))
    return ops


def _build_part(item: Item, fields: dict[str, Any]) -> HandoffPart | NotificationPart | NoticePart:
    match item:
        case Handoff():
            return HandoffPart(
                **fields,
                handoff_id=item.handoff,
                source=item.source,
                target=item.target,
                message=item.message,
                ownership=item.ownership,
                news=item.news,
            )
        case Notification():
            return NotificationPart(
                **fields,
                agent_id=item.agent,
                task_id=item.task,
                status=item.status,
                summary=item.summary,
                transcript=item.transcript,
                plain_text=item.plain_text,
            )
        case Notice():
            return NoticePart(**fields, code=item.code, message=item.message, agent_id=item.agent)
