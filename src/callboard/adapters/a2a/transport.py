"""HTTP transport that limits the size of responses and of server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

import httpx

#: The largest response, and the largest event of a stream, in bytes.
MAX_RESPONSE_BYTES = 8 * 1024 * 1024
_EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")


class TooLargeError(httpx.ReadError):
    """A response or an event exceeds its size limit."""


class BoundedTransport(httpx.AsyncBaseTransport):
    """A transport that fails a response once it exceeds its limit.

    Args:
        inner: The transport that sends the requests.
        max_bytes: The limit of a response, or of each event of a stream, in bytes.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport | None = None, max_bytes: int = MAX_RESPONSE_BYTES) -> None:
        self._inner = inner or httpx.AsyncHTTPTransport()
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request. Raises httpx.TransportError."""
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise TooLargeError("The response is compressed although the request forbade it.", request=request)
        is_event_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        stream = cast("httpx.AsyncByteStream", response.stream)
        response.stream = _BoundedStream(stream, self._max_bytes, has_events=is_event_stream)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


class _BoundedStream(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, max_bytes: int, *, has_events: bool) -> None:
        self._stream = stream
        self._max_bytes = max_bytes
        self._has_events = has_events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, tail = 0, b""
        async for chunk in self._stream:
            window = tail + chunk
            end = max(map(window.rfind, _EVENT_ENDS)) if self._has_events else -1
            size = len(window) - end if end >= 0 else size + len(chunk)
            if size > self._max_bytes:
                raise TooLargeError(f"The response has more than {self._max_bytes} bytes in one piece.")
            tail = window[-3:]
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def build_client(timeout: float, max_bytes: int = MAX_RESPONSE_BYTES) -> httpx.AsyncClient:
    """Build a client that follows no redirects and ignores proxies and passwords of the environment.

    Args:
        timeout: Timeout of a request in seconds.
        max_bytes: The limit of a response, or of each event of a stream, in bytes.
    """
    return httpx.AsyncClient(
        transport=BoundedTransport(max_bytes=max_bytes),
        timeout=timeout,
        follow_redirects=False,
        trust_env=False,
        headers={"Accept-Encoding": "identity"},
    )
