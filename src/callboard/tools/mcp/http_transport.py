"""Transport to a server at an address, without compression and redirects, and with limits on size."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import cast

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from .server_log import ServerLog

#: Maximum size of a response, and of an event of a stream, in bytes.
MAX_RESPONSE_BYTES = 16 * 1024 * 1024
#: Status codes that end the connection.
_FINAL_STATUS = frozenset({401, 403, 404, 410})


class _TooLargeError(httpx2.ReadError):
    """The response is too large."""


@asynccontextmanager
async def connect_address(
    url: str, headers: Mapping[str, str], log: ServerLog, end: asyncio.Event
) -> AsyncGenerator[TransportStreams, None]:
    """Return the message streams of an address. Ignores proxy settings and stored passwords.

    If a response is too large, `end` is set and `log.reason` states the reason.
    """
    async with (
        httpx2.AsyncClient(
            transport=_Bounded(httpx2.AsyncHTTPTransport(), log, end),
            timeout=httpx2.Timeout(30.0, read=None),
            follow_redirects=False,
            trust_env=False,
            headers={"Accept-Encoding": "identity", **headers},
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MAX_RESPONSE_BYTES) as streams,
    ):
        yield streams


class _Bounded(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport, log: ServerLog, end: asyncio.Event) -> None:
        self._inner = inner
        self._log = log
        self._end = end

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response. Raises httpx2.TransportError."""
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise self._refuse("it sent a compressed response without being asked", request)
        # Other codes concern one request, and the body explains them.
        if request.method == "POST" and (response.status_code in _FINAL_STATUS or response.status_code >= 500):
            advice = ": it requires authorisation" if response.status_code in (401, 403) else ""
            self._log.reason = f"it responded with {response.status_code}{advice}"
        # The protocol's package limits each event of a stream.
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Counted(cast("httpx2.AsyncByteStream", response.stream), self, request)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()

    def _refuse(self, reason: str, request: httpx2.Request) -> _TooLargeError:
        self._log.reason = reason
        self._end.set()
        return _TooLargeError(reason, request=request)

    def refuse_large(self, request: httpx2.Request) -> _TooLargeError:
        """Return the error for a response that is too large."""
        return self._refuse(f"it sent a response of more than {MAX_RESPONSE_BYTES:,} bytes", request)


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, transport: _Bounded, request: httpx2.Request) -> None:
        self._stream = stream
        self._transport = transport
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_RESPONSE_BYTES:
                raise self._transport.refuse_large(self._request)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
