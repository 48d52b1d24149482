"""What may come over the wire: an answer has a largest size, and so has each event of a stream. Nothing is unpacked, and nobody
is sent elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

import httpx

#: The largest answer, and the largest event of a stream, in bytes.
LARGEST = 8 * 1024 * 1024
_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")


class TooLargeError(httpx.ReadError):
    """More came than is taken."""


class BoundedTransport(httpx.AsyncBaseTransport):
    """A transport whose answers are cut off at their bound."""

    def __init__(self, inner: httpx.AsyncBaseTransport | None = None, largest: int = LARGEST) -> None:
        self._inner = inner or httpx.AsyncHTTPTransport()
        self._largest = largest

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The answer. Raises httpx.TransportError."""
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise TooLargeError("It sent what is packed, though it was asked not to.", request=request)
        events = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = _Counted(cast("httpx.AsyncByteStream", response.stream), self._largest, events=events)
        return response

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._inner.aclose()


class _Counted(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, largest: int, *, events: bool) -> None:
        self._stream = stream
        self._largest = largest
        self._events = events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, tail = 0, b""
        async for chunk in self._stream:
            seen = tail + chunk
            end = max((seen.rfind(one) for one in _ENDS), default=-1) if self._events else -1
            size = len(seen) - end if end >= 0 else size + len(chunk)
            if size > self._largest:
                raise TooLargeError(f"It sent more than {self._largest} bytes at once.")
            tail = seen[-3:]
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def build_client(timeout: float, largest: int = LARGEST) -> httpx.AsyncClient:
    """A client that follows no redirect and takes no setting of the surroundings: no proxy, no stored password."""
    return httpx.AsyncClient(
        transport=BoundedTransport(largest=largest),
        timeout=timeout,
        follow_redirects=False,
        trust_env=False,
        headers={"Accept-Encoding": "identity"},
    )
