"""Logs of a thread with every kind of fact that its conversation depends on."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from callboard.contracts.content import Blob, Text, fit_text, make_blob
from callboard.contracts.entities.handoff_payload import Payload
from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.agent import RemoteTaskChanged
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.context import CompactionCompleted, ContextResolved, Quote
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
from callboard.contracts.facts.message import MessageInterrupted, MessageText, ReasoningCompleted
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.permission import HookOutcome
from callboard.contracts.facts.queue import QueueEdited, SteerAccepted, SteerRequested
from callboard.contracts.facts.subagent import SubagentIsolated, WorkerNotification
from callboard.contracts.facts.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
)
from callboard.contracts.facts.turn import TurnStarted, TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.refs import ContextRef, MissingRef
from callboard.contracts.scope import Scope
from callboard.control.state.context import MAX_RESULT_BYTES
from callboard.log.memory import MemoryBlobs
from tests.projection.runs import Log

THREAD, OTHER = "thr_a", "thr_b"
KINDS = (
    *("submit", "start", "start", "ask", "ask", "text", "text", "call", "call", "end", "end"),
    *("edit", "pin", "steer", "accept", "interrupted", "reason", "send", "send", "reserve", "consume"),
    *("compact", "isolate", "remote", "foreign"),
)
#: The kinds of facts in order, each with a number that chooses its content.
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 11)), min_size=25, max_size=70)


class RandomHistory:
    """A log of a thread, with its blobs. The facts are in any order, also in some that no decider writes."""

    def __init__(self, steps: list[tuple[str, int]]) -> None:
        self.blobs = MemoryBlobs()
        self._log = Log()
        self._turn = 0
        self._iteration = 0
        self._starts: list[int] = [0]
        self._people: list[int] = []
        self._items: list[str] = []
        for kind, number in steps:
            method: Callable[[int], None] = getattr(self, f"_{kind}")
            method(number)

    @property
    def records(self) -> list[Record]:
        """The facts in order."""
        return [item for item in self._log.items if isinstance(item, Record)]

    async def read(self, sequence: int) -> Record | None:
        """Return a fact."""
        return self.records[sequence - 1] if 0 < sequence <= len(self.records) else None

    def _add(self, fact: Fact, turn: int = 0, thread: str = THREAD, call: int = 0) -> int:
        scope = Scope(
            agent="agt_a",
            thread=thread,
            turn=f"trn_{turn or self._turn}",
            run=f"run_{self._turn}",
            step=1,
            tool_call=f"call_{call}",
            task="tsk_a",
            channel="chn_a",
            review="rvw_a",
            handoff=f"hnd_{call}",
            parent_session="ses_a",
            parent_thread=OTHER,
            parent_run="run_0",
        )
        return self._log.add(fact, scope).sequence

    def _store(self, *blobs: Blob) -> None:
        self.blobs.store("ses_a", 1, blobs, [], 1)

    def _fit(self, number: int) -> Text:
        """Return a text; every fourth one is in a blob."""
        text, blobs = fit_text(f"text {number} <&> 😀" * (600 if number % 4 == 3 else 1))
        self._store(*blobs)
        return text

    def _refs(self, number: int, *, pinned: bool = False) -> tuple[ContextRef, ...]:
        """Return up to two references; some are images."""
        refs: list[ContextRef] = []
        for at in range(number % 3):
            is_image = (number + at) % 4 == 3
            blob = make_blob(f"content {number % 2 + at}".encode(), "image/png" if is_image else "text/plain")
            self._store(blob)
            kind, source = "image" if is_image else "text", "pinned" if pinned else "attached"
            refs.append(ContextRef(ref=f"file{at}", kind=kind, source=source, content=blob.ref))
        return tuple(refs)

    def _submit(self, number: int) -> None:
        missing = (MissingRef(ref="gone", source="mentioned", reason="not_found"),) if number % 5 == 4 else ()
        fact = TurnSubmitted(
            input=self._fit(number),
            mode="chat",
            permission_mode="ask",
            given=self._refs(number),
            missing=missing,
            resumes=number % 6 == 5,
        )
        self._people.append(self._add(fact, turn=self._turn + 1 + number % 2))

    def _edit(self, number: int) -> None:
        fact = QueueEdited(input=self._fit(number), given=self._refs(number))
        self._people.append(self._add(fact, turn=self._turn + 1 + number % 2))

    def _start(self, number: int) -> None:
        self._turn += 1
        fact = TurnStarted(
            mode="chat",
            permission_mode="ask",
            max_iters=9,
            definition="main",
            definition_hash="hash",
            workspace_sequence=1,
        )
        self._starts.append(self._add(fact))
        self._iteration = 0

    def _ask(self, number: int) -> None:
        self._iteration += number % 3 > 0
        after = self._starts[max(len(self._starts) - 3, 0)] if number % 4 == 3 else 0
        purpose = "compaction" if number == 11 else "answer"
        self._add(
            ModelRequested(
                provider="p",
                model="m",
                iteration=self._iteration,
                context_through=1,
                context_after=after,
                purpose=purpose,
            )
        )

    def _text(self, number: int) -> None:
        self._add(MessageText(content=self._fit(number)))

    def _interrupted(self, number: int) -> None:
        self._add(MessageInterrupted(content=self._fit(number)))

    def _reason(self, number: int) -> None:
        self._add(ReasoningCompleted(content=self._fit(number), signature="sig" * (number % 2)))

    def _call(self, number: int) -> None:
        hooked = (
            HookOutcome(verdict="allow", detail="Shorter.", arguments=self._fit(number)) if number % 3 == 2 else None
        )
        self._add(ToolRequested(tool="Read", arguments=self._fit(number), hooked=hooked), call=number % 4)

    def _end(self, number: int) -> None:
        output, call = self._fit(number), number % 4
        if number in (8, 9):
            output, blobs = fit_text("long output " * (MAX_RESULT_BYTES // 10))
            self._store(*blobs)
        image = make_blob(b"pixels", "image/png")
        self._store(image)
        ends: tuple[Fact, ...] = (
            ToolCompleted(output=output),
            ToolFailed(code="failed", message="It failed.", output=output),
            ToolRefused(code="denied", message="No."),
            ToolCancelled(started=True),
            ToolLost(),
            ToolCompleted(output=output, images=(image.ref,)),
        )
        self._add(ends[0] if number in (8, 9) else ends[number % 6], call=call)

    def _pin(self, number: int) -> None:
        self._add(ContextResolved(refs=self._refs(number, pinned=True)))

    def _steer(self, number: int) -> None:
        fact = SteerRequested(steer_id=f"str_{number % 3}", input=self._fit(number), given=self._refs(number))
        self._people.append(self._add(fact))

    def _accept(self, number: int) -> None:
        self._add(SteerAccepted(steer_id=f"str_{number % 3}"))

    def _send(self, number: int) -> None:
        item = f"item_{len(self._items)}"
        self._items.append(item)
        text = self._fit(number)
        facts: tuple[Fact, ...] = (
            ChannelMessage(item=item, source="b", participants=("a", "b"), to_threads=(THREAD,), message=text),
            WorkerNotification(item=item, to_thread=THREAD, status="completed", summary="Done.", result=text),
            ReviewRequested(
                reviewer="a",
                target="b",
                item=item,
                to_thread=THREAD,
                instructions=text,
                refs=(Ref(type="artifact", ref="art_1"),),
            ),
            HandoffRejected(source="a", target="b", to_thread=THREAD, reason="No."),
            HandoffCompleted(source="a", target="b", returned=True, to_thread=THREAD, reason="Done."),
            ReplyEnded(end="expired", to_thread=THREAD),
            HandoffRequested(
                source="b",
                target="a",
                to_thread=THREAD,
                edge="handoff",
                payload=Payload(message="Go."),
                confirm=number > 6,
            ),
        )
        self._add(facts[number % 7], thread=OTHER, call=number % 2)
        self._items.append(f"hnd_{number % 2}")
        if number == 11:
            self._log.add(
                HandoffAccepted(source="a", target="b", reason="Yes."),
                Scope(thread=THREAD, handoff=f"hnd_{number % 2}", agent="agt_a"),
            )

    def _reserve(self, number: int) -> None:
        self._add(InboxReserved(items=tuple(self._items[-1 - number % 4 :])))

    def _consume(self, number: int) -> None:
        self._add(InboxConsumed(items=tuple(self._items[number % 4 :: 3])))

    def _compact(self, number: int) -> None:
        quotes = tuple(Quote(sequence=sequence, size=20 + number) for sequence in self._people[-1 - number % 3 :])
        through = max(self._log.sequence - number, 0)
        self._add(CompactionCompleted(summary=self._fit(number), through=through, said=quotes))

    def _isolate(self, number: int) -> None:
        self._add(SubagentIsolated(path=f"/tree/{number}", branch="b", base="c"))

    def _remote(self, number: int) -> None:
        self._add(RemoteTaskChanged(remote_task_id=f"rmt_{number % 3}", state="working"))

    def _foreign(self, number: int) -> None:
        self._add(MessageText(content=self._fit(number)), thread=OTHER)
