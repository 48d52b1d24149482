"""Real facts, batches, frames and rows for tests of the log."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import uuid_utils

from callboard.contracts.content import Blob, Text, fit_text, make_blob
from callboard.contracts.facts.message import MessageText, OutputFinal
from callboard.contracts.facts.model import Candidate, CostRecorded, ModelCompleted, ModelRequested, RoutingResolved
from callboard.contracts.facts.permission import Check, PermissionEvaluated
from callboard.contracts.facts.tool import SandboxApplied, ToolCompleted, ToolRequested, ToolStarted
from callboard.contracts.facts.turn import PromptRef, TurnCompleted, TurnStarted, TurnSubmitted
from callboard.contracts.ids import IdKind, render
from callboard.contracts.live import Frame, PartialKind
from callboard.contracts.ports.conversation_store import StoredConversation
from callboard.contracts.ports.store import Append, Store, StoredAnswer
from callboard.contracts.record import NewFact, Origin, Record, encode_payload
from callboard.contracts.rows.turn import TurnRow
from callboard.contracts.scope import PERSON, Scope

T = TypeVar("T")

STREAM = "ses_one"
AT = 1_763_700_000_000_000
SCOPE = Scope(agent="agt_a", thread="thr_a", turn="trn_a", run="run_a", step=1)
WORDS = "the agent reads one file and writes what it found into a report that a person can see".split()


def new_id(kind: IdKind) -> str:
    """Return a new id like those of the runtime."""
    return render(kind, uuid_utils.uuid7().int)


def text_fact(text: str, scope: Scope = SCOPE) -> NewFact:
    """Return a fact with a finished text."""
    return NewFact(MessageText(content=Text(text=text)), scope)


def long_text_fact(text: str, scope: Scope = SCOPE) -> tuple[NewFact, tuple[Blob, ...]]:
    """Return a fact with a finished text, and its blob if the text is large."""
    content, blobs = fit_text(text)
    return NewFact(MessageText(content=content), scope), blobs


def batch(
    expected: int,
    *facts: NewFact,
    stream: str = STREAM,
    epoch: int = 1,
    at: int = AT,
    key: str = "",
    blobs: tuple[Blob, ...] = (),
    closed: tuple[str, ...] = (),
    ends: tuple[str, ...] = (),
    followed: bool = False,
) -> Append:
    """Return a batch. With a key, it has the answer of its command."""
    answer = StoredAnswer(key=key, body_hash=hash_text(key), answer=f'"{key}"'.encode()) if key else None
    origin = Origin(at=at, command_id="cmd_a", actor=PERSON)
    return Append(
        stream=stream,
        expected=expected,
        epoch=epoch,
        facts=facts,
        origin=origin,
        answer=answer,
        blobs=blobs,
        closed=closed,
        ends=ends,
        followed=followed,
    )


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def fill(store: Store, count: int, stream: str = STREAM) -> tuple[Record, ...]:
    """Append the first facts of a stream in one batch."""
    facts = (text_fact(f"text {number}") for number in range(1, count + 1))
    return await store.facts.append(batch(0, *facts, stream=stream, epoch=await store.facts.acquire_lease(stream)))


def frame(text: str, offset: int = 0, *, step: int = 1, kind: PartialKind = "text", tool: str = "") -> Frame:
    """Return a frame of a partial text."""
    scope = Scope(agent="agt_a", thread="thr_a", turn="trn_a", run="run_a", step=step)
    return Frame(kind=kind, scope=scope, offset=offset, text=text, tool=tool)


def turn_row(key: str, order: int, *, sequence: int = 1, text: str = "hello") -> TurnRow:
    """Return a row of the panel `turns`."""
    return TurnRow(
        key=key,
        order=order,
        sequence=sequence,
        turn_id=key,
        thread_id="thr_a",
        agent_id="agt_a",
        state="completed",
        input=Text(text=text),
        mode="chat",
        permission_mode="ask",
        submitted_at=AT,
    )


def stored_conversation(thread: str, *parts: bytes, sequence: int = 3, fingerprint: str = "1") -> StoredConversation:
    """Return the conversation of a thread, with one part by default."""
    return StoredConversation(
        thread=thread, sequence=sequence, link=b"l" * 32, fingerprint=fingerprint, parts=parts or (b"part",)
    )


async def wait_until(condition: Callable[[], Awaitable[bool] | bool], seconds: float = 60.0) -> None:
    """Wait until the condition is true. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while True:
            is_met = condition()
            if is_met if isinstance(is_met, bool) else await is_met:
                return
            await asyncio.sleep(0.02)


async def first(batches: AsyncIterator[tuple[T, ...]], count: int, seconds: float = 60.0) -> list[T]:
    """Return the first entries of batches."""
    entries: list[T] = []
    async with asyncio.timeout(seconds):
        while len(entries) < count:
            entries += await anext(batches)
    return entries


class Session:
    """A session of many turns as the runtime writes it: two model calls and one tool a turn, in four batches.

    `facts` counts them so far, `content` the bytes of their payloads and of the blobs that are new with them.
    """

    def __init__(self, stream: str, epoch: int, seed: int = 1) -> None:
        self.stream = stream
        self.content = self.facts = 0
        self._epoch = epoch
        self._random = random.Random(seed)
        self._thread = new_id("thread")
        self._prompt = make_blob(self._words(900).encode())
        self._sequence = 0
        self._at = AT

    def turn(self) -> list[Append]:
        """Return the batches of another turn."""
        turn, run, call = new_id("turn"), new_id("run"), new_id("call")
        model = Candidate(provider="openai", model="gpt-5.1-mini")
        prompt_ref = PromptRef(layer="system", hash=self._prompt.ref.hash, size=self._prompt.ref.size)

        def scoped(step: int = 0, tool: str = "") -> Scope:
            return Scope(agent="agt_main", thread=self._thread, turn=turn, run=run, step=step, tool_call=tool)

        def asks(iteration: int, step: int) -> NewFact:
            request = ModelRequested(
                provider="openai",
                model="gpt-5.1-mini",
                iteration=iteration,
                context_through=self._sequence,
            )
            return NewFact(request, scoped(step))

        spent = CostRecorded(input_tokens=5120, output_tokens=212, cached_tokens=4096)
        checks = tuple(Check(name=name, verdict="allow") for name in ("tools", "policy", "mode", "paths", "rules"))
        arguments = json.dumps({"path": "docs/report.md", "offset": 0})
        evaluated = PermissionEvaluated(
            tool="Read", verdict="allow", risk="low", arguments_hash=hash_text(arguments), checks=checks
        )
        prompt = TurnSubmitted(input=Text(text=self._words(30)), mode="chat", permission_mode="ask")
        started = TurnStarted(
            mode="chat",
            permission_mode="ask",
            max_iters=20,
            definition="main",
            definition_hash=hash_text("main"),
            workspace_sequence=4,
            prompts=(prompt_ref,),
            tools=("Read", "Write", "Edit", "Bash", "Glob", "Grep"),
        )
        routed = RoutingResolved(candidates=(model,), chosen=model, reason="the only one that is configured")
        output, blobs = fit_text(self._words(self._random.choice((40, 120, 400, 2500))))
        return [
            self._batch(
                NewFact(prompt, Scope(agent="agt_main", thread=self._thread, turn=turn)),
                NewFact(started, scoped()),
                NewFact(routed, scoped()),
                asks(1, 1),
                blobs=(self._prompt,),
                key=new_id("command"),
            ),
            self._batch(
                NewFact(MessageText(content=Text(text=self._words(25))), scoped(2)),
                NewFact(ModelCompleted(stop_reason="tool_calls", first_ms=320, duration_ms=1800), scoped(1)),
                NewFact(spent, scoped(1)),
                NewFact(
                    ToolRequested(tool="Read", arguments=Text(text=arguments), summary="Read docs/report.md"),
                    scoped(3, call),
                ),
                NewFact(evaluated, scoped(3, call)),
                NewFact(SandboxApplied(level="paths", network=False), scoped(3, call)),
                NewFact(ToolStarted(tool="Read"), scoped(3, call)),
            ),
            self._batch(
                NewFact(ToolCompleted(output=output, duration_ms=12), scoped(3, call)),
                asks(2, 4),
                blobs=blobs,
                closed=(call,),
            ),
            self._batch(
                NewFact(MessageText(content=Text(text=self._words(120))), scoped(5)),
                NewFact(ModelCompleted(stop_reason="stop", first_ms=320, duration_ms=2900), scoped(4)),
                NewFact(spent, scoped(4)),
                NewFact(OutputFinal(parts=(5,)), scoped()),
                NewFact(TurnCompleted(iterations=2), scoped()),
                closed=(turn,),
            ),
        ]

    def _batch(
        self, *facts: NewFact, blobs: tuple[Blob, ...] = (), closed: tuple[str, ...] = (), key: str = ""
    ) -> Append:
        self._at += 1_000_000
        append = Append(
            stream=self.stream,
            expected=self._sequence,
            epoch=self._epoch,
            facts=facts,
            origin=Origin(at=self._at, command_id=key, actor=PERSON if key else None),
            blobs=blobs,
            closed=closed,
            answer=StoredAnswer(key=key, body_hash=hash_text(key), answer=b'{"turnId":"' + key.encode() + b'"}')
            if key
            else None,
        )
        self._sequence += len(facts)
        self.facts += len(facts)
        self.content += sum(len(encode_payload(new.fact)) for new in facts)
        self.content += sum(
            len(blob.data) for blob in blobs if blob is not self._prompt or self._sequence == len(facts)
        )
        return append

    def _words(self, count: int) -> str:
        return " ".join(self._random.choice(WORDS) for _ in range(count))
