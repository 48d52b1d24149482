"""One request over HTTP and its answer as events."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx2
from openai import AsyncOpenAI
from pydantic_ai import messages as lib
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import StreamedResponse
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.usage import RequestUsage

from callboard.contracts.facts.model import StopReason
from callboard.contracts.ports.model import (
    Finished,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)

from .conversation import messages_of, parameters_of, settings_of
from .endpoint import Endpoint
from .failures import Answer, as_failures, awaited, note_arrival

_STOP_REASONS: dict[lib.FinishReason | None, StopReason] = {
    "stop": "stop",
    "tool_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


_Delta = TextDelta | ReasoningDelta | ToolCallDelta


class Wire:
    """A model of an endpoint, with its connections."""

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        self._endpoint = endpoint
        self._http = _http_client(endpoint)
        client = AsyncOpenAI(
            base_url=endpoint.base_url,
            # The SDK insists on a key; servers that need none ignore this one.
            api_key=endpoint.api_key or "none",
            http_client=self._http,
            max_retries=0,
            timeout=self._http.timeout,
        )
        self._model = OpenAIChatModel(
            name,
            provider=OpenAICompatibleProvider(endpoint.provider, openai_client=client),
            # Without this a stream that breaks off between two events reads as a finished answer.
            profile=OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True),
        )

    async def ask(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Asks once. Yields deltas and then `Finished`. Raises ModelFailure."""
        answer = Answer()
        async with AsyncExitStack() as stack:
            stream = await self._open(stack, request, answer)
            events = aiter(stream)
            called = False
            last = -1
            while (deltas := await self._next(events, answer)) is not None:
                for delta in deltas:
                    called = called or isinstance(delta, ToolCallDelta)
                    last = max(last, delta.index)
                    yield delta
            refusal = (stream.provider_details or {}).get("refusal")
            if isinstance(refusal, str) and refusal:
                yield TextDelta(last + 1, refusal)
            stop_reason = _STOP_REASONS.get(stream.finish_reason, "unknown")
            yield Finished(
                # Some servers say "stop" of an answer that asks for tools.
                stop_reason="tool_calls" if called and stop_reason == "stop" else stop_reason,
                usage=_usage(stream.usage),
                response_id=str(stream.provider_response_id or ""),
            )

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def _open(self, stack: AsyncExitStack, request: ModelRequest, answer: Answer) -> StreamedResponse:
        opening = model_request_stream(
            self._model,
            messages_of(request, self._endpoint.provider),
            model_settings=settings_of(request),
            model_request_parameters=parameters_of(request),
        )
        token = awaited.set(answer)
        try:
            with as_failures(self._endpoint, answer):
                return await stack.enter_async_context(opening)
        finally:
            awaited.reset(token)

    async def _next(
        self, events: AsyncIterator[lib.ModelResponseStreamEvent], answer: Answer
    ) -> tuple[_Delta, ...] | None:
        with as_failures(self._endpoint, answer):
            event = await anext(events, None)
            return None if event is None else tuple(_deltas(event))


def _http_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    timeout = httpx2.Timeout(endpoint.idle_timeout, connect=endpoint.connect_timeout, pool=None)
    return httpx2.AsyncClient(
        timeout=timeout,
        # A team asks in parallel and an answer holds its connection for minutes.
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        # A proxy of the environment is not meant for a server on this machine.
        trust_env=urlsplit(endpoint.base_url).hostname not in _LOOPBACK,
        event_hooks={"response": [note_arrival]},
        follow_redirects=True,
    )


def _deltas(event: lib.ModelResponseStreamEvent) -> Iterator[_Delta]:
    match event:
        case lib.PartStartEvent(index=index, part=lib.TextPart(content=text)):
            if text:
                yield TextDelta(index, text)
        case lib.PartStartEvent(index=index, part=lib.ThinkingPart(content=text, id=field)):
            # Inside tags the first piece is empty and only names the field.
            yield ReasoningDelta(index, text, signature=field or "content")
        case lib.PartStartEvent(index=index, part=lib.ToolCallPart() as call):
            yield ToolCallDelta(index, _text(call.tool_call_id), _text(call.tool_name), _json(call.args))
        case lib.PartDeltaEvent(index=index, delta=lib.TextPartDelta(content_delta=text)):
            if text:
                yield TextDelta(index, text)
        case lib.PartDeltaEvent(index=index, delta=lib.ThinkingPartDelta(content_delta=text)):
            if text:
                yield ReasoningDelta(index, text)
        case lib.PartDeltaEvent(index=index, delta=lib.ToolCallPartDelta() as delta):
            call_id, name = _text(delta.tool_call_id), _text(delta.tool_name_delta)
            yield ToolCallDelta(index, call_id, name, _json(delta.args_delta))
        case _:
            return


def _json(arguments: str | Mapping[str, Any] | None) -> str:
    return json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, Mapping) else _text(arguments)


def _text(value: object) -> str:
    """The SDK types what it has not checked. Raises TypeError."""
    if value is None or isinstance(value, str):
        return value or ""
    raise TypeError(type(value).__name__)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _usage(told: RequestUsage) -> Usage:
    if told.unmeasured_requests:
        return Usage()
    return Usage(
        input_tokens=_count(told.input_tokens),
        output_tokens=_count(told.output_tokens),
        # The library says 0 both of none and of not told.
        cached_tokens=_count(told.cache_read_tokens) or None,
        reasoning_tokens=_count(told.details.get("reasoning_tokens")),
    )
