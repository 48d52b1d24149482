"""What a pack of evidence tells of its models: each run with what it was asked, and each answer with what came of its calls."""

from __future__ import annotations

import zipfile
import zlib
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    CostRecorded,
    Fact,
    MessageText,
    ModelCompleted,
    ModelRequested,
    ReasoningCompleted,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    TurnStarted,
    TurnSubmitted,
)
from callboard.contracts.facts.model import StopReason
from callboard.contracts.ports.model import Usage
from callboard.contracts.record import decode_header, decode_payload
from callboard.contracts.scope import Scope

_FACTS, _BLOBS = "facts.jsonl", "blobs/"
_BROKEN = (OSError, zipfile.BadZipFile, zlib.error, msgspec.MsgspecError, ValueError, KeyError, Refusal)


class _Line(msgspec.Struct, rename="camel"):
    """What is read of a line; the rest of it is for those who verify."""

    header: str
    payload: str = ""
    erased: bool = False


@dataclass(frozen=True)
class RecordedText:
    """A part of an answer: words, or a call with its arguments as JSON text."""

    kind: str
    text: str
    tool: str = ""


@dataclass
class RecordedMessages:
    """What a call came to, as its model was told. Without `result` that was not exactly what it was told again later;
    `before` is what stands before it."""

    tool: str
    result: str | None = None
    before: str = ""


@dataclass
class RecordedAnswer:
    """One answer, with the calls that it made in their order. It is whole once its end is known."""

    said: list[RecordedText] = field(default_factory=list[RecordedText])
    calls: list[RecordedMessages] = field(default_factory=list[RecordedMessages])
    stop_reason: StopReason | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass
class RecordedResult:
    """A run: its agent's definition, its input, how many answers its thread had before it, and its own."""

    agent: str
    input: str
    before: int
    answers: list[RecordedAnswer] = field(default_factory=list[RecordedAnswer])


def read(path: Path) -> list[RecordedResult]:
    """The runs of a pack, in the order in which they began. Raises Refusal `bad_recording`."""
    try:
        with zipfile.ZipFile(path) as pack:
            reader = _Reader(pack)
            for scope, fact in _facts(pack):
                reader.take(scope, fact)
    except _BROKEN as error:
        raise Refusal(
            "bad_recording",
            f"{path} cannot be read as a pack of evidence: {error}",
            field="recording",
            hint="`callboard evidence SESSION` makes one.",
        ) from error
    if not reader.runs:
        raise Refusal("bad_recording", f"{path} holds no run of an agent.", field="recording")
    return list(reader.runs.values())


def _facts(pack: zipfile.ZipFile) -> Iterator[tuple[Scope, Fact]]:
    with pack.open(_FACTS) as lines:
        for raw in lines:
            line = msgspec.json.decode(raw, type=_Line)
            header = decode_header(b64decode(line.header))
            if not line.erased:
                yield header.scope, decode_payload(header.type, line.payload.encode(), header.version)


class _Reader:
    """Puts the facts together. Names are by their ids; what an answer is told of is the call of its run."""

    def __init__(self, pack: zipfile.ZipFile) -> None:
        self.runs: dict[str, RecordedResult] = {}
        self._pack = pack
        self._names = set(pack.namelist())
        self._inputs: dict[str, str] = {}
        self._spoken: dict[str, int] = {}
        self._calls: dict[str, RecordedMessages] = {}
        self._open: dict[str, RecordedAnswer] = {}

    def take(self, scope: Scope, fact: Fact) -> None:
        match fact:
            case TurnSubmitted():
                self._inputs[scope.turn] = self._whole(fact.input)
            case TurnStarted():
                before = self._spoken.get(scope.thread, 0)
                self.runs[scope.run] = RecordedResult(fact.definition, self._inputs.get(scope.turn, ""), before)
            case ModelRequested(purpose="answer"):
                self._open[scope.run] = RecordedAnswer()
            case ModelRequested():
                self._open.pop(scope.run, None)
            case _ if scope.run in self.runs:
                self._answer(scope, fact)
            case _:
                pass

    def _answer(self, scope: Scope, fact: Fact) -> None:
        answer = self._open.get(scope.run)
        match fact:
            case ReasoningCompleted() if answer is not None:
                answer.said.append(RecordedText("reasoning", self._whole(fact.content)))
            case MessageText() if answer is not None:
                answer.said.append(RecordedText("text", self._whole(fact.content)))
            case ModelCompleted() if answer is not None:
                answer.stop_reason = fact.stop_reason
                self.runs[scope.run].answers.append(answer)
                self._spoken[scope.thread] = self._spoken.get(scope.thread, 0) + 1
            case CostRecorded() if answer is not None:
                answer.usage = Usage(
                    input_tokens=fact.input_tokens,
                    output_tokens=fact.output_tokens,
                    cached_tokens=fact.cached_tokens,
                    reasoning_tokens=fact.reasoning_tokens,
                )
            case ToolRequested() if answer is not None:
                answer.said.append(RecordedText("call", self._whole(fact.arguments), fact.tool))
                told = self._calls[scope.tool_call] = RecordedMessages(fact.tool)
                if fact.hooked is not None and fact.hooked.arguments is not None:
                    told.before = fact.hooked.told(self._whole(fact.hooked.arguments))
                answer.calls.append(told)
            case ToolCompleted():
                self._result(scope, self._whole(fact.output))
            case ToolFailed():
                self._result(scope, f"{fact.message}\n{self._whole(fact.output)}".rstrip())
            case ToolRefused():
                self._result(scope, f"Refused: {fact.message}")
            case ToolCancelled() | ToolLost():
                self._result(scope, None)
            case _:
                pass

    def _result(self, scope: Scope, text: str | None) -> None:
        told = self._calls.get(scope.tool_call)
        if told is not None:
            told.result = None if text is None else f"{told.before}{text}"

    def _whole(self, text: Text) -> str:
        name = f"{_BLOBS}{text.ref.hash}" if text.ref is not None else ""
        return self._pack.read(name).decode("utf-8", "replace") if name in self._names else text.text
