"""What a turn was told by others: it stands at the place where the run was told it, apart from what a person says."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts import (
    ChannelMessage,
    Fact,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    InboxConsumed,
    InboxReserved,
    ReplyEnded,
    ReviewRequested,
    SubagentClosed,
    WorkerNotification,
)
from callboard.contracts.facts.subagent import NotificationStatus
from callboard.contracts.handoff_envelope import news_item
from callboard.contracts.record import Record
from callboard.contracts.rows import HandoffPart, NoticePart, NotificationPart, Op
from callboard.contracts.rows.conversation import HandoffNews

from ..ops import upsert
from .run import OpenRun, aside_key

#: How much of what was said stands in the conversation, in characters.
SHOWN = 400


class Handoff(msgspec.Struct, frozen=True, tag="handoff"):
    """News of a handoff. `receiver` is the thread that it was sent to."""

    handoff: str
    source: str
    target: str
    message: str
    ownership: bool
    receiver: str = ""
    news: HandoffNews = "requested"


class Notification(msgspec.Struct, frozen=True, tag="notification"):
    """What became of a child."""

    agent: str
    task: str
    status: NotificationStatus
    summary: str
    transcript: str
    plain_text: bool = False


class Notice(msgspec.Struct, frozen=True, tag="notice"):
    """Something else that another agent sent."""

    agent: str
    code: str
    message: str


Item = Handoff | Notification | Notice
Items = dict[str, Item]


class Waiting(msgspec.Struct):
    """`inboxes` are the items that wait to be told, by thread; `handoffs` those that are not over."""

    inboxes: dict[str, Items] = msgspec.field(default_factory=dict[str, Items])
    handoffs: dict[str, Handoff] = msgspec.field(default_factory=dict[str, Handoff])

    def take(self, record: Record) -> None:
        """Takes in what was sent, and what was read."""
        scope = record.scope
        match record.fact:
            case WorkerNotification() as fact if fact.item:
                note = Notification(
                    scope.agent, scope.task, fact.status, _glance(fact.summary), fact.transcript, fact.plain_text
                )
                self._put(fact.to_thread, fact.item, note)
            case ChannelMessage() as fact:
                for thread in fact.to_threads:
                    self._put(thread, fact.item, Notice(fact.source, "agent_message", _said(fact.message)))
            case ReviewRequested() as fact if fact.item:
                self._put(fact.to_thread, fact.item, Notice(fact.target, "review_requested", _said(fact.instructions)))
            case InboxConsumed() as fact:
                self._drop(scope.thread, fact.items)
            case SubagentClosed():
                self.inboxes.pop(scope.thread, None)
            case _:
                self._handoff(record)

    def told(self, run: OpenRun, record: Record, fact: InboxReserved) -> list[Op]:
        """The parts of the items that a run is told, in their order."""
        inbox = self.inboxes.get(run.place.thread, {})
        ops: list[Op] = []
        for number, item in enumerate(fact.items):
            found = inbox.get(item)
            if found is not None:
                ops += upsert(_part(found, _common(run, record, number)))
        return ops

    def _handoff(self, record: Record) -> None:
        handoff = record.scope.handoff
        match record.fact:
            case HandoffRequested() as fact:
                said = _glance(fact.payload.message)
                one = Handoff(handoff, fact.source, fact.target, said, fact.ownership, receiver=fact.to_thread)
                self.handoffs[handoff] = one
                self._put(fact.to_thread, handoff, one)
            case HandoffAccepted() as fact:
                one = self.handoffs.get(handoff)
                if one is not None and not record.scope.run:
                    self._put(one.receiver, news_item(handoff, "accepted"), _news(one, "accepted", fact.reason))
            case HandoffRejected() as fact:
                self._over(handoff, fact.to_thread, "rejected", fact.reason)
            case HandoffCompleted() as fact:
                self._over(handoff, fact.to_thread if fact.returned else "", "returned", fact.reason)
            case ReplyEnded(end="expired") as fact:
                one = self.handoffs.get(handoff)
                if one is not None:
                    self._put(fact.to_thread, news_item(handoff, "expired"), _news(one, "expired", ""))
            case _:
                pass

    def _over(self, handoff: str, to: str, news: Literal["rejected", "returned"], reason: str) -> None:
        one = self.handoffs.pop(handoff, None)
        if one is None:
            return
        self._drop(one.receiver, (handoff, news_item(handoff, "accepted")))
        if to:
            self._put(to, news_item(handoff, news), _news(one, news, reason))

    def _put(self, thread: str, item: str, what: Item) -> None:
        if thread and item:
            self.inboxes.setdefault(thread, {})[item] = what

    def _drop(self, thread: str, items: tuple[str, ...]) -> None:
        inbox = self.inboxes.get(thread)
        if inbox is None:
            return
        for item in items:
            inbox.pop(item, None)
        if not inbox:
            del self.inboxes[thread]


#: The facts that say what waits to be told.
TAKES: frozenset[type[Fact]] = frozenset(
    {
        WorkerNotification,
        ChannelMessage,
        ReviewRequested,
        InboxConsumed,
        SubagentClosed,
        HandoffRequested,
        HandoffAccepted,
        HandoffRejected,
        HandoffCompleted,
        ReplyEnded,
    }
)


def _part(item: Item, common: dict[str, Any]) -> HandoffPart | NotificationPart | NoticePart:
    match item:
        case Handoff():
            return HandoffPart(
                **common,
                handoff_id=item.handoff,
                source=item.source,
                target=item.target,
                message=item.message,
                ownership=item.ownership,
                news=item.news,
            )
        case Notification():
            return NotificationPart(
                **common,
                agent_id=item.agent,
                task_id=item.task,
                status=item.status,
                summary=item.summary,
                transcript=item.transcript,
                plain_text=item.plain_text,
            )
        case Notice():
            return NoticePart(**common, code=item.code, message=item.message, agent_id=item.agent)


def _common(run: OpenRun, record: Record, number: int) -> dict[str, Any]:
    return {
        "key": f"{aside_key(run.place.run, record.sequence)}.{number:04}",
        "order": run.place.order(run.step),
        "sequence": record.sequence,
        "turn_id": run.place.turn,
        "thread_id": run.place.thread,
        "at": record.header.at,
    }


def _news(one: Handoff, news: HandoffNews, message: str) -> Handoff:
    return msgspec.structs.replace(one, news=news, message=_glance(message))


def _glance(text: str) -> str:
    return text[:SHOWN]


def _said(text: Text) -> str:
    return _glance(text.text)
