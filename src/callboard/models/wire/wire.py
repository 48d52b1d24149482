"""One request over HTTP and its answer as events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx2
from pydantic_ai import messages as lib
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import StreamedResponse
from pydantic_ai.settings import ModelSettings

from callboard.contracts.facts.model import StopReason
from callboard.contracts.ports.model import Finished, ModelEvent, ModelRequest, TextDelta, ToolCallDelta

from .conversation import Conversation, parameters_of
from .endpoint import Endpoint
from .failures import Answer, as_failures, awaited, cut, ended_badly, note_arrival
from .formats import open_model
from .pieces import Delta, deltas, seals
from .price import usage_of, window_of
from .quota import quota_of

_STOP_REASONS: dict[lib.FinishReason | None, StopReason] = {
    "stop": "stop",
    "tool_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Wire:
    """A model of an endpoint, with its connections."""

    def __init__(self, endpoint: Endpoint, name: str, *, images: bool) -> None:
        self._endpoint = endpoint
        self._name = name
        self._by = f"{endpoint.provider}/{name}"
        self._http = _http_client(endpoint)
        self._model, self._settings = open_model(endpoint, name, self._http)
        self._conversation = Conversation(self._by, self._model.system, images=images)
        self.window = endpoint.window or window_of(endpoint, name)

    async def ask(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Asks once. Yields deltas and then `Finished`. Raises ModelFailure."""
        answer = Answer()
        async with AsyncExitStack() as stack:
            stream = await self._open(stack, request, answer)
            events = aiter(stream)
            called = False
            last = -1
            while (found := await self._next(events, answer)) is not None:
                for delta in found:
                    called = called or isinstance(delta, ToolCallDelta)
                    last = max(last, delta.index)
                    yield delta
            details = stream.provider_details or {}
            self._must_be_whole(stream, details)
            for delta in seals(self._by, list(stream.get().parts)):
                yield delta
            refusal = details.get("refusal")
            if isinstance(refusal, str) and refusal:
                yield TextDelta(last + 1, refusal)
            stop_reason = _STOP_REASONS.get(stream.finish_reason, "unknown")
            yield Finished(
                # Some servers say "stop" of an answer that asks for tools, or what no other says.
                stop_reason="tool_calls" if called and stop_reason in {"stop", "unknown"} else stop_reason,
                usage=usage_of(stream.usage, details, self._endpoint, self._name),
                response_id=str(stream.provider_response_id or ""),
                quota=quota_of(answer.headers),
            )

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    def _must_be_whole(self, stream: StreamedResponse, details: dict[str, Any]) -> None:
        """A stream can end without an error and without an end. Raises ModelFailure."""
        if stream.finish_reason is None and not details.get("finish_reason"):
            raise cut(self._endpoint, "the stream ended before the answer did")
        if stream.finish_reason == "error":
            raise ended_badly(self._endpoint, str(details.get("finish_reason") or "error"))

    def _options(self, request: ModelRequest) -> ModelSettings:
        told = self._settings(request)
        if self._endpoint.reasoning is not None:
            told["thinking"] = False if self._endpoint.reasoning == "off" else self._endpoint.reasoning
        return told

    async def _open(self, stack: AsyncExitStack, request: ModelRequest, answer: Answer) -> StreamedResponse:
        opening = model_request_stream(
            self._model,
            self._conversation.of(request),
            model_settings=self._options(request),
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
    ) -> tuple[Delta, ...] | None:
        with as_failures(self._endpoint, answer):
            event = await anext(events, None)
            return None if event is None else tuple(deltas(event))


def _http_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    timeout = httpx2.Timeout(endpoint.idle_timeout, connect=endpoint.connect_timeout, pool=None)
    return httpx2.AsyncClient(
        timeout=timeout,
        # A team asks in parallel and an answer holds its connection for minutes.
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        # A proxy of the environment is not meant for a server on this machine.
        trust_env=urlsplit(endpoint.base_url).hostname not in _LOOPBACK,
        event_hooks={"response": [note_arrival]},
        # What is asked holds a person's files: it goes to the address that they set, and to no other.
        follow_redirects=False,
    )
