"""Model responses in an evidence pack: runs with their inputs, and responses with the results of their calls."""

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
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.message import MessageText, ReasoningCompleted
from callboard.contracts.facts.model import CostRecorded, ModelCompleted, ModelRequested, StopReason
from callboard.contracts.facts.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
)
from callboard.contracts.facts.turn import TurnStarted, TurnSubmitted
from callboard.contracts.ports.model import Usage
from callboard.contracts.record import decode_header, decode_payload
from callboard.contracts.scope import Scope

_FACTS, _BLOBS = "facts.jsonl", "blobs/"
_BROKEN = (OSError, zipfile.BadZipFile, zlib.error, msgspec.MsgspecError, ValueError, KeyError, Refusal)


class _Line(msgspec.Struct, rename="camel"):
    """The fields of a line that are needed here; the others are for verification."""

    header: str
    payload: str = ""
    erased: bool = False


@dataclass(frozen=True)
class RecordedText:
    """A part of a response: text, reasoning, or a call with its arguments as JSON text."""

    kind: str
    text: str
    tool: str = ""


@dataclass
class RecordedCall:
    """A call and its result, as the model received it.

    `result` is None if the exact text is not in the pack. `before` is the text that a hook adds in front of the result.
    """

    tool: str
    result: str | None = None
    before: str = ""


@dataclass
class RecordedResponse:
    """A response with its calls in order. It is complete once `stop_reason` is set."""

    parts: list[RecordedText] = field(default_factory=list[RecordedText])
    calls: list[RecordedCall] = field(default_factory=list[RecordedCall])
    stop_reason: StopReason | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass
class RecordedRun:
    """A run: the definition of its agent, its input, the number of earlier responses in its thread, and its responses."""

    agent: str
    input: str
    before: int
    responses: list[RecordedResponse] = field(default_factory=list[RecordedResponse])


def read_runs(path: Path) -> list[RecordedRun]:
    """Read the runs of a pack in the order of their start. Raises Refusal `bad_recording`."""
    try:
        with zipfile.ZipFile(path) as pack:
            reader = _Reader(pack)
            for scope, fact in _read_facts(pack):
                reader.apply(scope, fact)
    except _BROKEN as error:
        raise Refusal(
            "bad_recording",
            f"{path} is not a readable evidence pack: {error}",
            field="recording",
            hint="Create a pack with `callboard evidence SESSION`.",
        ) from error
    if not reader.runs:
        raise Refusal(
            "bad_recording",
            f"{path} contains no run of an agent.",
            field="recording",
            hint="Create a pack of a session in which an agent has run.",
        )
    return list(reader.runs.values())


def _read_facts(pack: zipfile.ZipFile) -> Iterator[tuple[Scope, Fact]]:
    with pack.open(_FACTS) as lines:
        for raw in lines:
            line = msgspec.json.decode(raw, type=_Line)
            header = decode_header(b64decode(line.header))
            if not line.erased:
                yield header.scope, decode_payload(header.type, line.payload.encode(), header.version)


class _Reader:
    """Build the runs from the facts."""

    def __init__(self, pack: zipfile.ZipFile) -> None:
        self.runs: dict[str, RecordedRun] = {}
        self._pack = pack
        self._names = set(pack.namelist())
        self._inputs: dict[str, str] = {}
        self._response_counts: dict[str, int] = {}
        self._calls: dict[str, RecordedCall] = {}
        self._open: dict[str, RecordedResponse] = {}

    def apply(self, scope: Scope, fact: Fact) -> None:
        match fact:
            case TurnSubmitted():
                self._inputs[scope.turn] = self._read_full_text(fact.input)
            case TurnStarted():
                before = self._response_counts.get(scope.thread, 0)
                self.runs[scope.run] = RecordedRun(fact.definition, self._inputs.get(scope.turn, ""), before)
            case ModelRequested(purpose="answer"):
                self._open[scope.run] = RecordedResponse()
            case ModelRequested():
                self._open.pop(scope.run, None)
            case _ if scope.run in self.runs:
                self._apply_to_run(scope, fact)
            case _:
                pass

    def _apply_to_run(self, scope: Scope, fact: Fact) -> None:
        response = self._open.get(scope.run)
        match fact:
            case ReasoningCompleted() if response is not None:
                response.parts.append(RecordedText("reasoning", self._read_full_text(fact.content)))
            case MessageText() if response is not None:
                response.parts.append(RecordedText("text", self._read_full_text(fact.content)))
            case ModelCompleted() if response is not None:
                response.stop_reason = fact.stop_reason
                self.runs[scope.run].responses.append(response)
                self._response_counts[scope.thread] = self._response_counts.get(scope.thread, 0) + 1
            case CostRecorded() if response is not None:
                response.usage = Usage(
                    input_tokens=fact.input_tokens,
                    output_tokens=fact.output_tokens,
                    cached_tokens=fact.cached_tokens,
                    reasoning_tokens=fact.reasoning_tokens,
                )
            case ToolRequested() if response is not None:
                response.parts.append(RecordedText("call", self._read_full_text(fact.arguments), fact.tool))
                call = self._calls[scope.tool_call] = RecordedCall(fact.tool)
                if fact.hooked is not None and fact.hooked.arguments is not None:
                    call.before = fact.hooked.describe_rewrite(self._read_full_text(fact.hooked.arguments))
                response.calls.append(call)
            case ToolCompleted():
                self._set_result(scope, self._read_full_text(fact.output))
            case ToolFailed():
                self._set_result(scope, f"{fact.message}\n{self._read_full_text(fact.output)}".rstrip())
            case ToolRefused():
                self._set_result(scope, f"Refused: {fact.message}")
            case ToolCancelled() | ToolLost():
                self._set_result(scope, None)
            case _:
                pass

    def _set_result(self, scope: Scope, text: str | None) -> None:
        call = self._calls.get(scope.tool_call)
        if call is not None:
            call.result = None if text is None else f"{call.before}{text}"

    def _read_full_text(self, text: Text) -> str:
        name = f"{_BLOBS}{text.ref.hash}" if text.ref is not None else ""
        return self._pack.read(name).decode("utf-8", "replace") if name in self._names else text.text
