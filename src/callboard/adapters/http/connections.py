"""Limits on open connections, so that clients without a credential cannot exhaust the file descriptors.

A connection is unknown until a request on it carries a credential. Unknown and trusted connections have separate limits. If
the limit of unknown ones is reached, a new connection replaces the oldest idle one. Every request head must be complete
within a few seconds.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import MutableMapping
from functools import partial
from typing import Any, NamedTuple, cast

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from callboard.contracts.errors import Problem

#: Time limit for a complete request head, in seconds from the connection or the head's first byte.
HEAD_SECONDS = 10.0
#: The most connections of each kind, if the limit of open files allows it.
MAX_UNKNOWN, MAX_TRUSTED = 256, 512
#: Divisors of the limit of open files for each kind; the store, tools and models need the rest.
_UNKNOWN_PART, _TRUSTED_PART = 8, 4
#: Connections accepted in one step of the event loop. A burst must not open more files than are available.
ACCEPT_BURST = 32
#: The key of the connection in an ASGI scope.
CONNECTION = "callboard.connection"


class ConnectionLimits(NamedTuple):
    """The most open connections without and with a credential."""

    unknown: int
    trusted: int


def compute_limits() -> ConnectionLimits:
    """Return limits that fit the process's soft limit of open files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return ConnectionLimits(MAX_UNKNOWN, MAX_TRUSTED)
    return ConnectionLimits(
        min(MAX_UNKNOWN, max(8, soft // _UNKNOWN_PART)), min(MAX_TRUSTED, max(8, soft // _TRUSTED_PART))
    )


class Connections:
    """The open connections of one listener, oldest first."""

    def __init__(self, limits: ConnectionLimits, head_s: float = HEAD_SECONDS) -> None:
        self.limits = limits
        self.head_s = head_s
        self._unknown: dict[BoundedProtocol, None] = {}
        self._trusted: dict[BoundedProtocol, None] = {}

    @property
    def unknown(self) -> int:
        """The number of open connections without a credential."""
        return len(self._unknown)

    @property
    def trusted(self) -> int:
        """The number of open connections with a credential."""
        return len(self._trusted)

    def build_protocol(self, **arguments: Any) -> BoundedProtocol:
        """Build the protocol of a new connection. uvicorn calls this with the arguments of a protocol class."""
        return BoundedProtocol(connections=self, **arguments)

    def admit(self, connection: BoundedProtocol) -> None:
        """Count a new connection. At the limit, close the oldest unknown one, idle ones first."""
        if len(self._unknown) >= self.limits.unknown:
            idle = next((other for other in self._unknown if not other.in_request), None)
            self._end(idle or next(iter(self._unknown)))
        self._unknown[connection] = None

    def trust(self, connection: BoundedProtocol) -> None:
        """Move a connection with a credential to the trusted ones.

        At the limit, the longest idle trusted connection is closed. If none is idle, the connection stays unknown.
        """
        if connection not in self._unknown:
            return
        if len(self._trusted) >= self.limits.trusted:
            idle = next((other for other in self._trusted if not other.in_request), None)
            if idle is None:
                return
            self._end(idle)
        del self._unknown[connection]
        self._trusted[connection] = None

    def release(self, connection: BoundedProtocol) -> None:
        """Forget a connection that was closed."""
        self._unknown.pop(connection, None)
        self._trusted.pop(connection, None)

    def _end(self, connection: BoundedProtocol) -> None:
        self.release(connection)
        connection.abort()


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with a time limit for request heads, counted among the connections of its listener."""

    def __init__(self, *, connections: Connections, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._all = connections
        self._head: asyncio.TimerHandle | None = None
        self.app = partial(_run_with_connection, self.app, self)

    @property
    def in_request(self) -> bool:
        """True from a complete request head to the end of its response."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is not None and not cycle.response_complete

    def trust(self) -> None:
        """Count this connection as one with a credential."""
        self._all.trust(self)

    def abort(self) -> None:
        """Close the connection and discard unsent data."""
        self._stop_head_timer()
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._all.admit(self)
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        self._all.release(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.in_request:
            self._stop_head_timer()
        elif self._head is None and not self.transport.is_closing():
            self._start_head_timer()

    def send_400_response(self, msg: str) -> None:
        """Respond to invalid HTTP with a problem."""
        hint = "Send an HTTP/1.1 request whose address and headers have at most 64 KiB."
        body = msgspec.json.encode(Problem(code="invalid_input", message=msg, hint=hint))
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(f"{head}connection: close\r\n\r\n".encode() + body)
        self.transport.close()

    def _start_head_timer(self) -> None:
        self._head = self.loop.call_later(self._all.head_s, self.abort)

    def _stop_head_timer(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None


async def _run_with_connection(
    app: ASGIApp, connection: BoundedProtocol, scope: Scope, receive: Receive, send: Send
) -> None:
    scope[CONNECTION] = connection
    await app(scope, receive, send)


def trust_connection(scope: MutableMapping[str, Any]) -> None:
    """Count the connection of a request that carries a credential as trusted."""
    connection = scope.get(CONNECTION)
    if isinstance(connection, BoundedProtocol):
        connection.trust()
