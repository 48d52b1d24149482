"""Model that repeats the recorded responses of an earlier run.

It returns the response with the same number of a run of the same agent with the same input. Before that, it
compares the results of the calls so far with the recorded results. Ids are new in every run: an id that
replaces a recorded one in a result also replaces it in later responses.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

from callboard.contracts.ports.model import (
    Finished,
    ModelEvent,
    ModelFailure,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolResultContent,
)

from .recording import RecordedResponse, RecordedRun, RecordedText, read_runs
from .turn import find_turn_start, read_text

_ID = re.compile(r"\b[a-z]{2,5}_[0-9A-Za-z]{22}\b")
_QUOTE = 60
#: The compared part of a long result, in characters.
_HEAD = 10_000


class RecordingPlayer:
    """Repeat the responses of an evidence pack. There is no state between calls."""

    def __init__(self, runs: list[RecordedRun], name: str, provider: str) -> None:
        self.provider = provider
        self.name = name
        self.label = f"recorded · {name}"
        self.window: int | None = None
        self.images = False
        self._runs = runs

    @classmethod
    def from_file(cls, path: Path, provider: str) -> RecordingPlayer:
        """Load the model of an evidence pack. Raises Refusal `bad_recording`."""
        return cls(read_runs(path), path.stem, provider)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream one response. Raises ModelFailure `bad_recording` if the request differs from the recorded one."""
        run = self._run(request)
        number = request.iteration - 1
        ids = _map_ids(run.responses[:number], request)
        if number >= len(run.responses):
            raise _build_failure(request, f"the recorded turn has only {len(run.responses)} responses")
        response = run.responses[number]
        for index, part in enumerate(response.parts):
            # Let other tasks run, as during a request to a server.
            await asyncio.sleep(0)
            yield _build_delta(index, part, ids, f"call_{request.iteration}_{index + 1}")
        yield Finished(stop_reason=response.stop_reason or "unknown", usage=response.usage)

    def _run(self, request: ModelRequest) -> RecordedRun:
        agent_runs = [run for run in self._runs if run.agent == request.agent]
        if not agent_runs:
            agents = ", ".join(sorted({run.agent for run in self._runs}))
            raise _build_failure(request, f"it has no run of the agent {request.agent!r}, only of {agents}")
        text, before = _find_input(request)
        matching = [run for run in agent_runs if _mask_ids(run.input) in _mask_ids(text)]
        if not matching:
            raise _build_failure(
                request, f"the recorded input is {_shorten(agent_runs[0].input)}, the new one {_shorten(text)}"
            )
        # Skip runs that ended without a response: a later run repeated their input.
        matching = [run for run in matching if run.responses] or matching
        return next((run for run in matching if run.before == before), matching[0])


def _find_input(request: ModelRequest) -> tuple[str, int]:
    """Return the input of the run, and the number of earlier responses in its thread."""
    start = find_turn_start(request)
    before = sum(message.role == "assistant" for message in request.messages[: max(start, 0)])
    texts: list[str] = []
    for message in reversed(request.messages[: start + 1]):
        if message.role != "user":
            break
        texts.append(read_text(message))
    return "\n".join(reversed(texts)), before


def _map_ids(responses: list[RecordedResponse], request: ModelRequest) -> dict[str, str]:
    """Return the new id of each recorded id. Raises ModelFailure at the first result that differs from the recorded one."""
    start = find_turn_start(request)
    results = [
        part
        for message in request.messages[start + 1 :]
        for part in message.content
        if isinstance(part, ToolResultContent)
    ]
    calls = [call for response in responses for call in response.calls]
    ids: dict[str, str] = {}
    for number, (recorded, current) in enumerate(zip(calls, results, strict=False), 1):
        if recorded.tool != current.tool:
            raise _build_failure(
                request, f"call {number} is one of {current.tool}, the recorded one of {recorded.tool}"
            )
        if recorded.result is None:
            continue
        # A model gets only a part of a long result.
        limit = _HEAD if len(recorded.result) > _HEAD else None
        before, after = recorded.result[:limit], current.text[:limit]
        if _mask_ids(before) != _mask_ids(after):
            difference = _describe_difference(before, after)
            raise _build_failure(request, f"the result of call {number} of {recorded.tool} differs: {difference}")
        ids.update(zip(_ID.findall(before), _ID.findall(after), strict=True))
    if len(calls) != len(results):
        raise _build_failure(request, f"{len(calls)} calls had a result in the recording, {len(results)} have one now")
    return ids


def _build_delta(
    index: int, part: RecordedText, ids: dict[str, str], call_id: str
) -> TextDelta | ReasoningDelta | ToolCallDelta:
    text = _ID.sub(lambda match: ids.get(match[0], match[0]), part.text)
    match part.kind:
        case "text":
            return TextDelta(index, text)
        case "reasoning":
            return ReasoningDelta(index, text)
        case _:
            return ToolCallDelta(index, call_id, part.tool, text)


def _mask_ids(text: str) -> str:
    return " ".join(_ID.sub("ID", text).split())


def _describe_difference(recorded: str, current: str) -> str:
    """Describe the first difference of two results."""
    before, after = _mask_ids(recorded), _mask_ids(current)
    pairs = enumerate(zip(before, after, strict=False))
    first = next((index for index, (a, b) in pairs if a != b), min(len(before), len(after)))
    start = max(0, first - 20)
    return f"recorded {_shorten(before[start:])}, now {_shorten(after[start:])}"


def _shorten(text: str) -> str:
    return repr(text if len(text) <= _QUOTE else f"{text[:_QUOTE]}…")


def _build_failure(request: ModelRequest, reason: str) -> ModelFailure:
    call = f"call {request.iteration} of the agent {request.agent!r}"
    return ModelFailure("bad_recording", f"The run differs from its recording at {call}: {reason}.", retryable=False)
