"""The number of items in each agent's inbox."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
)
from callboard.contracts.facts.exchange.inbox import InboxConsumed
from callboard.contracts.facts.exchange.review import ReviewRequested
from callboard.contracts.facts.subagent import WorkerNotification
from callboard.contracts.handoff_envelope import build_news_id
from callboard.contracts.record import Record

from ..reducer import Reducer, on

Threads = tuple[str, ...]


class Inboxes(Reducer):
    """The items of each thread in `waiting`, and the receiving thread of each open handoff in `receivers`.

    Each handler returns the threads with a changed inbox.
    """

    waiting: dict[str, list[str]] = msgspec.field(default={})
    receivers: dict[str, str] = msgspec.field(default={})

    def count(self, thread: str) -> int:
        """Return the number of items for the thread's next turn."""
        return len(self.waiting.get(thread, ()))

    def apply(self, record: Record) -> Threads:
        """Return the threads whose inbox the fact changed."""
        return self.handle(record) or ()

    @on
    def request_handoff(self, record: Record, fact: HandoffRequested) -> Threads:
        self.receivers[record.scope.handoff] = fact.to_thread
        return self._put(fact.to_thread, record.scope.handoff)

    @on
    def accept_handoff(self, record: Record, fact: HandoffAccepted) -> Threads:
        if record.scope.run:
            return ()
        # A person accepted the handoff for its receiver, which starts now.
        handoff = record.scope.handoff
        return self._put(self.receivers.get(handoff, ""), build_news_id(handoff, "accepted"))

    @on
    def reject_handoff(self, record: Record, fact: HandoffRejected) -> Threads:
        handoff = record.scope.handoff
        return (*self._end(handoff), *self._put(fact.to_thread, build_news_id(handoff, "rejected")))

    @on
    def complete_handoff(self, record: Record, fact: HandoffCompleted) -> Threads:
        handoff = record.scope.handoff
        changed = self._end(handoff)
        return (*changed, *self._put(fact.to_thread, build_news_id(handoff, "returned"))) if fact.returned else changed

    @on
    def end_reply(self, record: Record, fact: ReplyEnded) -> Threads:
        item = build_news_id(record.scope.handoff, "expired")
        return self._put(fact.to_thread, item) if fact.end == "expired" else ()

    @on
    def send_message(self, record: Record, fact: ChannelMessage) -> Threads:
        return tuple(changed for thread in fact.to_threads for changed in self._put(thread, fact.item))

    @on
    def send_item(self, record: Record, fact: WorkerNotification | ReviewRequested) -> Threads:
        return self._put(fact.to_thread, fact.item) if fact.item else ()

    @on
    def consume(self, record: Record, fact: InboxConsumed) -> Threads:
        return self._drop(record.scope.thread, *fact.items)

    def _put(self, thread: str, item: str) -> Threads:
        if not thread:
            return ()
        inbox = self.waiting.setdefault(thread, [])
        if item not in inbox:
            inbox.append(item)
        return (thread,)

    def _end(self, handoff: str) -> Threads:
        return self._drop(self.receivers.pop(handoff, ""), handoff, build_news_id(handoff, "accepted"))

    def _drop(self, thread: str, *items: str) -> Threads:
        inbox = [item for item in self.waiting.pop(thread, []) if item not in items]
        if inbox:
            self.waiting[thread] = inbox
        return (thread,)
