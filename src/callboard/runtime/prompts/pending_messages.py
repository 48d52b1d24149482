"""What other agents sent a thread, as its model is told of it. It stands apart from what a person says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from html import escape

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts import (
    ChannelMessage,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    InboxReserved,
    ReplyEnded,
    ReviewRequested,
    WorkerNotification,
)
from callboard.contracts.handoff_envelope import envelope_of, news_item, written
from callboard.contracts.record import Record
from callboard.control.decide.subagent.children import PLAIN_TEXT

#: How many items wait to be told; older ones were told long ago or belong to a run that never was.
_REMEMBERED = 1000

_ASKS = " It waits for your answer: respond_handoff."
_LOST = " These refs lead to no artifact of this session: "
_TAKEN = " It was accepted on your behalf: work on it now."


def receivers(record: Record) -> tuple[str, ...]:
    """The threads that this was sent to."""
    match record.fact:
        case ChannelMessage(to_threads=threads):
            return threads
        case (
            HandoffRequested(to_thread=thread)
            | HandoffRejected(to_thread=thread)
            | HandoffCompleted(to_thread=thread)
            | WorkerNotification(to_thread=thread)
            | ReviewRequested(to_thread=thread)
            | ReplyEnded(to_thread=thread)
        ):
            return (thread,)
        case _:
            return ()


class PendingMessages:
    """Remembers what was sent to one thread until it is told."""

    def __init__(self, thread: str, whole: Callable[[Text], Awaitable[str]]) -> None:
        self._thread = thread
        self._whole = whole
        self._items: dict[str, str] = {}

    async def apply(self, record: Record) -> None:
        """Remembers the record where it is for this thread."""
        match record.fact:
            case HandoffRequested(to_thread=thread) as fact if thread == self._thread:
                envelope = msgspec.json.encode(
                    written(envelope_of(record.scope.handoff, record.header.at, fact))
                ).decode()
                asks = _ASKS if fact.confirm or fact.ownership else ""
                lost = f"{_LOST}{', '.join(fact.unresolved)}." if fact.unresolved else ""
                said = escape(f"{envelope}{lost}", quote=False)
                self._keep(record.scope.handoff, f"<handoff>{said}{asks}</handoff>")
            case HandoffAccepted(reason=reason) if record.scope.thread == self._thread and not record.scope.run:
                self._accepted(record.scope.handoff, reason)
            case HandoffCompleted(returned=True, to_thread=thread) as fact if thread == self._thread:
                self._keep(
                    news_item(record.scope.handoff, "returned"),
                    f'<handoff-returned id="{record.scope.handoff}" by="{escape(fact.target)}">'
                    f"{escape(fact.reason, quote=False)}</handoff-returned>",
                )
            case ChannelMessage(to_threads=threads) as fact if self._thread in threads:
                text = escape(await self._whole(fact.message), quote=False)
                self._keep(fact.item, f'<message from="{escape(fact.source)}">{text}</message>')
            case WorkerNotification(to_thread=thread) as fact if thread == self._thread and fact.item:
                text = escape(await self._whole(fact.result) or fact.summary, quote=False)
                note = f' note="{PLAIN_TEXT}"' if fact.plain_text else ""
                worker = f'agent="{escape(record.scope.agent)}" task="{record.scope.task}" status="{fact.status}"'
                self._keep(
                    fact.item,
                    f"<worker {worker}{note}>{text}</worker>",
                )
            case ReviewRequested(to_thread=thread) as fact if thread == self._thread and fact.item:
                text = escape(await self._whole(fact.instructions), quote=False)
                refs = " ".join(f"{ref.type}:{ref.ref}" for ref in fact.refs)
                self._keep(
                    fact.item,
                    f'<review id="{record.scope.review}" of="{escape(fact.target)}" refs="{escape(refs)}">{text}</review>',
                )
            case HandoffRejected(to_thread=thread) as fact if thread == self._thread:
                self._keep(
                    news_item(record.scope.handoff, "rejected"),
                    f'<handoff-rejected id="{record.scope.handoff}" by="{escape(fact.target)}">'
                    f"{escape(fact.reason, quote=False)}</handoff-rejected>",
                )
            case ReplyEnded(to_thread=thread, end="expired") if thread == self._thread:
                item = news_item(record.scope.handoff, "expired")
                self._keep(item, f'<no-answer handoff="{record.scope.handoff}">Time is up.</no-answer>')
            case _:
                pass

    def render(self, fact: InboxReserved) -> str:
        """The items that a run is told, in their order. They stay until they are consumed."""
        gone = "<gone>This item is no longer there.</gone>"
        return "\n".join(("<inbox>", *(self._items.get(item, gone) for item in fact.items), "</inbox>"))

    def forget(self, items: tuple[str, ...]) -> None:
        """They were consumed."""
        for item in items:
            self._items.pop(item, None)

    def _accepted(self, handoff: str, reason: str) -> None:
        """Somebody accepted it for this agent, which may have been told of it already."""
        if (said := self._items.get(handoff)) is not None:
            self._items[handoff] = said.replace(_ASKS, "")
        said = escape(reason, quote=False)
        item = news_item(handoff, "accepted")
        self._keep(item, f'<handoff-accepted id="{handoff}">{said}{_TAKEN}</handoff-accepted>')

    def _keep(self, item: str, text: str) -> None:
        self._items[item] = text
        while len(self._items) > _REMEMBERED:
            del self._items[next(iter(self._items))]
