"""Messages of other agents to a thread, rendered apart from people's messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from html import escape

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
)
from callboard.contracts.facts.exchange.inbox import InboxReserved
from callboard.contracts.facts.exchange.review import ReviewRequested
from callboard.contracts.facts.subagent import WorkerNotification
from callboard.contracts.handoff_envelope import build_envelope, build_news_id, encode_envelope
from callboard.contracts.record import Record
from callboard.control.decide.subagent.children import PLAIN_TEXT

#: Facts that another agent's thread may receive.
RECEIVED: frozenset[type[Fact]] = frozenset(
    {
        ChannelMessage,
        HandoffRequested,
        HandoffAccepted,
        HandoffRejected,
        HandoffCompleted,
        WorkerNotification,
        ReviewRequested,
        ReplyEnded,
    }
)
#: Number of stored items. Older ones were delivered, or their run never started.
_MAX_ITEMS = 1000

_ANSWER_REQUIRED = " Answer it with respond_handoff."
_UNRESOLVED = " These refs name no artifact of this session: "
_ACCEPTED = " It was accepted for you. Work on it now."


def list_receivers(record: Record) -> tuple[str, ...]:
    """Return the threads that receive the record."""
    if type(record.fact) not in RECEIVED:
        return ()
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
    """Stores the items sent to one thread until they are consumed. `items` holds their texts, oldest first."""

    def __init__(
        self, thread: str, whole: Callable[[Text], Awaitable[str]], items: Mapping[str, str] | None = None
    ) -> None:
        self._thread = thread
        self._read_text = whole
        self.items = dict(items or {})

    async def apply(self, record: Record) -> None:
        """Store the record if it was sent to this thread."""
        match record.fact:
            case HandoffRequested(to_thread=thread) as fact if thread == self._thread:
                envelope = msgspec.json.encode(
                    encode_envelope(build_envelope(record.scope.handoff, record.header.at, fact))
                ).decode()
                request = _ANSWER_REQUIRED if fact.confirm or fact.ownership else ""
                unresolved = f"{_UNRESOLVED}{', '.join(fact.unresolved)}." if fact.unresolved else ""
                body = escape(f"{envelope}{unresolved}", quote=False)
                self._store(record.scope.handoff, f"<handoff>{body}{request}</handoff>")
            case HandoffAccepted(reason=reason) if record.scope.thread == self._thread and not record.scope.run:
                self._add_acceptance(record.scope.handoff, reason)
            case HandoffCompleted(returned=True, to_thread=thread) as fact if thread == self._thread:
                self._store(
                    build_news_id(record.scope.handoff, "returned"),
                    f'<handoff-returned id="{record.scope.handoff}" by="{escape(fact.target)}">'
                    f"{escape(fact.reason, quote=False)}</handoff-returned>",
                )
            case ChannelMessage(to_threads=threads) as fact if self._thread in threads:
                text = escape(await self._read_text(fact.message), quote=False)
                self._store(fact.item, f'<message from="{escape(fact.source)}">{text}</message>')
            case WorkerNotification(to_thread=thread) as fact if thread == self._thread and fact.item:
                text = escape(await self._read_text(fact.result) or fact.summary, quote=False)
                note = f' note="{PLAIN_TEXT}"' if fact.plain_text else ""
                worker = f'agent="{escape(record.scope.agent)}" task="{record.scope.task}" status="{fact.status}"'
                self._store(
                    fact.item,
                    f"<worker {worker}{note}>{text}</worker>",
                )
            case ReviewRequested(to_thread=thread) as fact if thread == self._thread and fact.item:
                text = escape(await self._read_text(fact.instructions), quote=False)
                refs = " ".join(f"{ref.type}:{ref.ref}" for ref in fact.refs)
                self._store(
                    fact.item,
                    f'<review id="{record.scope.review}" of="{escape(fact.target)}" refs="{escape(refs)}">{text}</review>',
                )
            case HandoffRejected(to_thread=thread) as fact if thread == self._thread:
                self._store(
                    build_news_id(record.scope.handoff, "rejected"),
                    f'<handoff-rejected id="{record.scope.handoff}" by="{escape(fact.target)}">'
                    f"{escape(fact.reason, quote=False)}</handoff-rejected>",
                )
            case ReplyEnded(to_thread=thread, end="expired") if thread == self._thread:
                item = build_news_id(record.scope.handoff, "expired")
                self._store(item, f'<no-answer handoff="{record.scope.handoff}">No answer came in time.</no-answer>')
            case _:
                pass

    def render(self, fact: InboxReserved) -> str:
        """Return the items of a run's inbox, in order. They stay until they are consumed."""
        missing = "<missing>This item no longer exists.</missing>"
        return "\n".join(("<inbox>", *(self.items.get(item, missing) for item in fact.items), "</inbox>"))

    def forget(self, items: tuple[str, ...]) -> None:
        """Drop consumed items."""
        for item in items:
            self.items.pop(item, None)

    def _add_acceptance(self, handoff: str, reason: str) -> None:
        """Add a notice of a handoff accepted for this agent, which may have received the handoff already."""
        if (text := self.items.get(handoff)) is not None:
            self.items[handoff] = text.replace(_ANSWER_REQUIRED, "")
        text = escape(reason, quote=False)
        item = build_news_id(handoff, "accepted")
        self._store(item, f'<handoff-accepted id="{handoff}">{text}{_ACCEPTED}</handoff-accepted>')

    def _store(self, item: str, text: str) -> None:
        self.items[item] = text
        while len(self.items) > _MAX_ITEMS:
            del self.items[next(iter(self.items))]
