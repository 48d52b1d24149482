"""Model that plays a scenario file, with the real runtime, tools and gate. `scenario` describes the format."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import msgspec

from callboard.contracts.ports.model import (
    Finished,
    ModelEvent,
    ModelFailure,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)

from .result_references import is_due, resolve_quotes
from .scenario import Call, Fail, Part, Scenario, Tool, load
from .turn import find_turn_start, read_text

PROVIDER = "scripted"
_POLL_SECONDS = 0.005
#: Ids are removed before a match: they can contain a text by chance.
_ID = re.compile(r"\b[a-z]{2,5}_[0-9A-Za-z]{22}\b")


class ScenarioPlayer:
    """Play a scenario. There is no state between calls.

    Args:
        folder: Folder of relative paths in the scenario.
        pace: Factor of all waits.
    """

    def __init__(self, scenario: Scenario, folder: Path, provider: str = PROVIDER, pace: float = 1.0) -> None:
        self.provider = provider
        self.name = scenario.name
        self.label = f"scripted · {scenario.name}"
        self.window = scenario.window
        self.images = scenario.images
        self._scenario = scenario
        self._folder = folder
        self._pace = pace / 1000

    @classmethod
    def from_file(cls, path: Path, provider: str = PROVIDER, pace: float = 1.0) -> ScenarioPlayer:
        """Load a scenario file. Raises Refusal `bad_scenario`."""
        return cls(load(path), path.resolve().parent, provider, pace)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream one call. Raises ModelFailure if the scenario fails the call or has no further call."""
        responses = sum(message.role == "assistant" for message in request.messages)
        usage, stop, has_tool_call = Usage(), None, False
        index = 0
        for part in _find_call(self._scenario, request, responses):
            if not is_due(part, request):
                continue
            if part.fail is not None:
                _fail(part.fail, request.attempt)
            elif part.cut:
                return
            elif part.pause is not None:
                await asyncio.sleep(part.pause * self._pace)
            elif part.wait_for is not None:
                await _wait_for(self._folder / part.wait_for)
            elif part.usage is not None:
                usage = Usage(
                    input_tokens=part.usage.input,
                    output_tokens=part.usage.output,
                    cached_tokens=part.usage.cached,
                    reasoning_tokens=part.usage.reasoning,
                )
            elif part.stop is not None:
                stop = part.stop
            else:
                delay = self._scenario.delay_ms if part.delay_ms is None else part.delay_ms
                chunk = self._scenario.chunk if part.chunk is None else part.chunk
                for delta in _build_deltas(
                    resolve_quotes(part, request), chunk, index, f"call_{responses + 1}_{index + 1}"
                ):
                    # Let other tasks run even without a delay, as during a request to a server.
                    await asyncio.sleep(delay * self._pace)
                    yield delta
                    has_tool_call = has_tool_call or part.tool is not None
                index += 1
        yield Finished(stop_reason=stop or ("tool_calls" if has_tool_call else "stop"), usage=usage)


def _find_call(scenario: Scenario, request: ModelRequest, responses: int) -> Call:
    start = find_turn_start(request)
    text = _ID.sub("", read_text(request.messages[start])).casefold() if start >= 0 else ""
    for matched in scenario.match:
        if matched.agent in {"", request.agent} and matched.text.casefold() in text:
            return _select_call(matched.calls, request.iteration - 1, f"in a turn on {matched.text!r}", scenario)
    calls = scenario.agents.get(request.agent, scenario.calls)
    return _select_call(calls, responses, f"of the agent {request.agent!r}", scenario)


def _select_call(calls: tuple[Call, ...], position: int, owner: str, scenario: Scenario) -> Call:
    if position < len(calls):
        return calls[position]
    raise ModelFailure(
        "model_refused_request",
        f"The scenario {scenario.name!r} has no call {position + 1} {owner}; it has {len(calls)}.",
        retryable=False,
    )


def _fail(fail: Fail, attempt: int) -> None:
    if fail.attempts is None or attempt <= fail.attempts:
        raise ModelFailure(fail.code, fail.message, retryable=fail.retryable, retry_after=fail.retry_after)


async def _wait_for(path: Path) -> None:
    while not path.exists():  # noqa: ASYNC110, ASYNC240 another process creates the file, so there is no event to wait for
        await asyncio.sleep(_POLL_SECONDS)


def _build_deltas(
    part: Part, chunk: int, index: int, call_id: str
) -> Iterator[TextDelta | ReasoningDelta | ToolCallDelta]:
    if part.text is not None:
        yield from (TextDelta(index, piece) for piece in _split_text(part.text, chunk))
    elif part.reasoning is not None:
        yield from (ReasoningDelta(index, piece) for piece in _split_text(part.reasoning, chunk))
    elif part.repeat is not None:
        yield from (TextDelta(index, part.repeat.text) for _ in range(part.repeat.times))
    elif part.tool is not None:
        yield ToolCallDelta(index, call_id, part.tool.name)
        yield from (ToolCallDelta(index, arguments=piece) for piece in _split_text(_encode_arguments(part.tool), chunk))


def _encode_arguments(tool: Tool) -> str:
    return tool.arguments if isinstance(tool.arguments, str) else msgspec.json.encode(tool.arguments).decode()


def _split_text(text: str, chunk: int) -> Iterator[str]:
    size = chunk or max(len(text), 1)
    return (text[start : start + size] for start in range(0, len(text), size))
