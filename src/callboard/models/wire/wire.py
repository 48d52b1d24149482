"""A request over HTTP and the events of its response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, cast
from urllib.parse import urlsplit

import anyio.lowlevel
import httpx2
import msgspec
from pydantic_ai import messages as lib
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import StreamedResponse
from pydantic_ai.settings import ModelSettings

from callboard.contracts.ports.model import (
    Finished,
    ModelEvent,
    ModelMessage,
    ModelRequest,
    TextContent,
    TextDelta,
    ToolCallDelta,
)

from .conversation import Conversation, build_parameters
from .endpoint import Endpoint
from .failures import ResponseProgress, check_response, convert_failures, current_response
from .finish import read_ending
from .formats import open_model
from .history import HistoryEncoder
from .history.body import FIELDS, Capture, Expand, RequestHook, apply_plan
from .history.rounds import Messages
from .images import Images
from .pieces import Delta, convert_event, list_seals
from .price import compute_usage, find_window
from .quota import read_quota
from .thinking import ThinkingSplitter

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Wire:
    """A model of an endpoint, with its connections."""

    def __init__(self, endpoint: Endpoint, name: str, *, images: bool) -> None:
        self._endpoint = endpoint
        self._name = name
        self._by = f"{endpoint.provider}/{name}"
        self._images = Images(url_safe=endpoint.format == "google")
        self._http = _build_http_client(endpoint, self._images.expand)
        self._model, self._settings = open_model(endpoint, name, self._http)
        self._conversation = Conversation(self._by, self._model.system, images=self._images if images else None)
        self._history = HistoryEncoder(self._convert_messages, self._images.expand)
        self.window = endpoint.window or find_window(endpoint, name)

    async def ask(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Send the request once. Yield deltas, then `Finished`. Raises ModelFailure."""
        progress = ResponseProgress()
        async with AsyncExitStack() as stack:
            splice, rest = await self._history.encode(request)
            await self._images.prepare(rest)
            # Let other work run: the library builds a request without a pause.
            await asyncio.sleep(0)
            with apply_plan(splice):
                stream = await self._open(stack, msgspec.structs.replace(request, messages=rest), progress)
            events = aiter(stream)
            called = False
            last = -1
            tags = ThinkingSplitter(looks=self._endpoint.format == "openai-compatible")
            while (pieces := await self._read_next(events, progress)) is not None:
                for delta in (delta for piece in pieces for delta in tags.split(piece)):
                    called = called or isinstance(delta, ToolCallDelta)
                    last = max(last, delta.index)
                    yield delta
            details = stream.provider_details or {}
            stop_reason, provider_reason = read_ending(self._endpoint, stream.finish_reason, details, called=called)
            for delta in tags.finish():
                last = max(last, delta.index)
                yield delta
            for delta in list_seals(self._by, list(stream.get().parts)):
                yield tags.move(delta)
            refusal = details.get("refusal")
            if isinstance(refusal, str) and refusal:
                yield TextDelta(last + 1, refusal)
            yield Finished(
                stop_reason=stop_reason,
                provider_reason=provider_reason,
                usage=compute_usage(stream.usage, details, self._endpoint, self._name),
                response_id=str(stream.provider_response_id or ""),
                quota=read_quota(progress.headers),
            )

    async def rehearse(self) -> None:
        """Build a request without sending it, so that the libraries load what the first request needs."""
        # Loads the backend of connections, which the first one would load on the event loop.
        await anyio.lowlevel.checkpoint()
        hello = ModelMessage(role="user", content=(TextContent("hello"),))
        await self._capture((hello,), Capture(built=True))

    async def _convert_messages(self, messages: Messages) -> list[Any]:
        """Return the messages as the library's items of the wire format."""
        await self._images.prepare(messages)
        return await self._capture(messages, Capture())

    async def _capture(self, messages: Messages, capture: Capture) -> list[Any]:
        request = ModelRequest(model=self._name, system=(), messages=messages)
        # Without cache marks, which belong to the end of a conversation.
        settings = {name: value for name, value in self._build_options(request).items() if "_cache_" not in name}
        with apply_plan(capture):
            try:
                async with AsyncExitStack() as stack:
                    await stack.enter_async_context(self._open_stream(request, cast("ModelSettings", settings)))
            except Exception:
                # Some libraries replace CapturedError.
                if capture.items is None:
                    raise
        return capture.items or []

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _build_options(self, request: ModelRequest) -> ModelSettings:
        settings = self._settings(request)
        if self._endpoint.reasoning is not None:
            settings["thinking"] = False if self._endpoint.reasoning == "off" else self._endpoint.reasoning
        return settings

    def _open_stream(
        self, request: ModelRequest, settings: ModelSettings
    ) -> AbstractAsyncContextManager[StreamedResponse]:
        return model_request_stream(
            self._model,
            self._conversation.convert(request),
            model_settings=settings,
            model_request_parameters=build_parameters(request),
        )

    async def _open(self, stack: AsyncExitStack, request: ModelRequest, progress: ResponseProgress) -> StreamedResponse:
        opening = self._open_stream(request, self._build_options(request))
        token = current_response.set(progress)
        try:
            with convert_failures(self._endpoint, progress):
                return await stack.enter_async_context(opening)
        finally:
            current_response.reset(token)

    async def _read_next(
        self, events: AsyncIterator[lib.ModelResponseStreamEvent], progress: ResponseProgress
    ) -> tuple[Delta, ...] | None:
        with convert_failures(self._endpoint, progress):
            event = await anext(events, None)
            return None if event is None else tuple(convert_event(event))


def _build_http_client(endpoint: Endpoint, expand: Expand) -> httpx2.AsyncClient:
    timeout = httpx2.Timeout(endpoint.idle_timeout, connect=endpoint.connect_timeout, pool=None)
    return httpx2.AsyncClient(
        timeout=timeout,
        # Agents of a team call in parallel, and a response uses its connection for minutes.
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        # No proxy from the environment for a server on this machine.
        trust_env=urlsplit(endpoint.base_url).hostname not in _LOOPBACK,
        event_hooks={"request": [RequestHook(FIELDS[endpoint.format], expand)], "response": [check_response]},
        # A request contains a user's files, so it goes to the configured address only.
        follow_redirects=False,
    )
