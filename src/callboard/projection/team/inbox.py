"""What waits in each agent's inbox, as far as it is counted."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import (
    ChannelMessage,
    Fact,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    InboxConsumed,
    ReplyEnded,
    ReviewRequested,
    WorkerNotification,
)
from callboard.contracts.handoff_envelope import news_item
from callboard.contracts.record import Record

#: The facts that change an inbox.
TAKES: frozenset[type[Fact]] = frozenset(
    {
        ChannelMessage,
        HandoffAccepted,
        HandoffCompleted,
        HandoffRejected,
        HandoffRequested,
        InboxConsumed,
        ReplyEnded,
        ReviewRequested,
        WorkerNotification,
    }
)


class Inboxes(msgspec.Struct):
    """`waiting` are the items of each thread; `receivers` the thread of each open handoff."""

    waiting: dict[str, list[str]] = msgspec.field(default_factory=dict[str, list[str]])
    receivers: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def count(self, thread: str) -> int:
        """How many items the thread's next turn will be told."""
        return len(self.waiting.get(thread, ()))

    def apply(self, record: Record) -> tuple[str, ...]:
        """The threads whose inbox the fact changed."""
        handoff = record.scope.handoff
        match record.fact:
            case HandoffRequested() as fact:
                self.receivers[handoff] = fact.to_thread
                return self._put(fact.to_thread, handoff)
            case HandoffAccepted():
                # Somebody else accepted it: the receiver is told that it is to work on it now.
                thread = self.receivers.get(handoff, "")
                return () if record.scope.run else self._put(thread, news_item(handoff, "accepted"))
            case HandoffRejected() as fact:
                return (*self._over(handoff), *self._put(fact.to_thread, news_item(handoff, "rejected")))
            case HandoffCompleted() as fact:
                over = self._over(handoff)
                return (*over, *self._put(fact.to_thread, news_item(handoff, "returned"))) if fact.returned else over
            case ReplyEnded(end="expired") as fact:
                return self._put(fact.to_thread, news_item(handoff, "expired"))
            case ChannelMessage() as fact:
                return tuple(found for thread in fact.to_threads for found in self._put(thread, fact.item))
            case WorkerNotification() | ReviewRequested() as fact if fact.item:
                return self._put(fact.to_thread, fact.item)
            case InboxConsumed() as fact:
                return self._drop(record.scope.thread, *fact.items)
            case _:
                return ()

    def _put(self, thread: str, item: str) -> tuple[str, ...]:
        if not thread:
            return ()
        inbox = self.waiting.setdefault(thread, [])
        if item not in inbox:
            inbox.append(item)
        return (thread,)

    def _over(self, handoff: str) -> tuple[str, ...]:
        return self._drop(self.receivers.pop(handoff, ""), handoff, news_item(handoff, "accepted"))

    def _drop(self, thread: str, *items: str) -> tuple[str, ...]:
        inbox = [item for item in self.waiting.pop(thread, []) if item not in items]
        if inbox:
            self.waiting[thread] = inbox
        return (thread,)
