"""What waits in each agent's inbox, as far as it is counted. Items that wait for an answer first are not told yet."""

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
    """`waiting` has the items of each thread, with whether one is held; `receivers` the thread of each open handoff."""

    waiting: dict[str, dict[str, bool]] = msgspec.field(default_factory=dict[str, dict[str, bool]])
    receivers: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def count(self, thread: str) -> int:
        """How many items the thread's next turn will be told."""
        return sum(not held for held in self.waiting.get(thread, {}).values())

    def apply(self, record: Record) -> tuple[str, ...]:
        """The threads whose inbox the fact changed."""
        handoff = record.scope.handoff
        match record.fact:
            case HandoffRequested() as fact:
                self.receivers[handoff] = fact.to_thread
                return self._put(fact.to_thread, handoff, held=fact.confirm or fact.ownership)
            case HandoffAccepted():
                return self._release(self.receivers.get(handoff, ""), handoff)
            case HandoffRejected() as fact:
                return (
                    *self._drop(self.receivers.pop(handoff, ""), handoff),
                    *self._put(fact.to_thread, handoff),
                )
            case HandoffCompleted():
                return self._drop(self.receivers.pop(handoff, ""), handoff)
            case ReplyEnded(end="expired") as fact:
                return self._put(fact.to_thread, handoff)
            case ChannelMessage() as fact:
                return tuple(found for thread in fact.to_threads for found in self._put(thread, fact.item))
            case WorkerNotification() | ReviewRequested() as fact if fact.item:
                return self._put(fact.to_thread, fact.item)
            case InboxConsumed() as fact:
                return self._drop(record.scope.thread, *fact.items)
            case _:
                return ()

    def _put(self, thread: str, item: str, *, held: bool = False) -> tuple[str, ...]:
        self.waiting.setdefault(thread, {})[item] = held
        return (thread,)

    def _release(self, thread: str, item: str) -> tuple[str, ...]:
        inbox = self.waiting.get(thread, {})
        if item not in inbox:
            return ()
        inbox[item] = False
        return (thread,)

    def _drop(self, thread: str, *items: str) -> tuple[str, ...]:
        inbox = self.waiting.get(thread, {})
        for item in items:
            inbox.pop(item, None)
        if not inbox:
            self.waiting.pop(thread, None)
        return (thread,)
