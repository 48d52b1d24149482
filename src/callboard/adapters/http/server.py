"""The app on a socket of its own, started and stopped inside the program's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Generator
from typing import Self, cast

import uvicorn

from callboard.contracts.errors import Refusal

from .access import PageLink
from .app import HttpApp
from .connections import ACCEPT_BURST, Connections, default_limits

#: How many ports after the wanted one are tried before any free one is taken.
NEXT_PORTS = 20
_HIGHEST_PORT = 65535
#: How long open requests may take to end, in seconds, before their connections are cut.
GRACE = 1.0
#: How long, in whole seconds, before uvicorn cancels what still runs for a connection that was cut.
_LONGEST_STOP = 2

#: Connections that the kernel keeps waiting for the process to accept them.
_KERNEL_QUEUE = 2048
#: How long a connection is kept for a client's next request, in seconds.
_IDLE_CONNECTION = 65


class HttpServer:
    """A server that listens. `url` is its address."""

    def __init__(self, app: HttpApp, listening: socket.socket) -> None:
        self._app = app
        self._socket = listening
        self.bounds = Connections(default_limits())
        self._server = _Uvicorn(
            uvicorn.Config(
                app,
                # uvicorn only calls it, with the arguments of a protocol class.
                http=cast("type[asyncio.Protocol]", self.bounds.protocol),
                backlog=ACCEPT_BURST,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_keep_alive=_IDLE_CONNECTION,
                timeout_graceful_shutdown=_LONGEST_STOP,
            )
        )
        self._serving: asyncio.Task[None] | None = None
        host, port = listening.getsockname()[:2]
        self.port: int = port
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}"

    @classmethod
    async def start(cls, app: HttpApp, *, host: str = "127.0.0.1", port: int = 0) -> Self:
        """Listens on the port, or where it is taken on one of the next, or on any; port 0 is any.

        Raises Refusal `bad_settings` where the host is not this machine alone.
        """
        server = cls(app, bind(host, port))
        await server._begin()
        return server

    async def stop(self) -> None:
        """Takes no more requests, ends all streams, and lets requests that are open end for a moment."""
        if self._serving is None:
            return
        self._app.access.close()
        self._app.end_streams()
        self._server.end()
        await asyncio.wait([self._serving], timeout=GRACE)
        for connection in self.connections():
            connection.abort()
        await self._serving
        self._serving = None

    def page_link(self, route: str = "") -> PageLink:
        """Return an address that opens the page once, at a place in it such as `/s/ses_1`."""
        return self._app.access.codes.issue(self.url, route)

    def connections(self) -> list[asyncio.Transport]:
        """The connections that are open."""
        return self._server.transports()

    async def _begin(self) -> None:
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        ready = asyncio.create_task(self._server.ready.wait())
        try:
            await asyncio.wait([self._serving, ready], return_when=asyncio.FIRST_COMPLETED)
            if self._serving.done():
                await self._serving
        except BaseException:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
            raise
        finally:
            ready.cancel()


def bind(host: str, port: int) -> socket.socket:
    """A socket on the first free port of those wanted. Raises Refusal `bad_settings`, and OSError where none can be had."""
    address = "127.0.0.1" if host == "localhost" else host
    try:
        version = ipaddress.ip_address(address)
    except ValueError:
        version = None
    if version is None or not version.is_loopback:
        raise Refusal(
            "bad_settings",
            f"Callboard listens on this machine alone, and {host} is not it.",
            field="host",
            hint="Use 127.0.0.1; from elsewhere, come through a tunnel such as ssh -L.",
        )
    family = socket.AF_INET if version.version == 4 else socket.AF_INET6
    wanted = range(port, min(port + NEXT_PORTS, _HIGHEST_PORT) + 1) if port else ()
    for one in wanted:
        with contextlib.suppress(OSError):
            return _bound(family, address, one)
    return _bound(family, address, 0)


def _bound(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    # Without the protocol's number asyncio leaves Nagle's algorithm on, and every answer waits 40 ms for an acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address, port))
        # Only a listening socket takes the port for certain: two that are merely bound may share it.
        bound.listen()
    except OSError:
        bound.close()
        raise
    bound.setblocking(False)
    return bound


class _Uvicorn(uvicorn.Server):
    """uvicorn without signal handlers, and without waking up ten times a second to see whether it should stop."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._ending = asyncio.Event()

    def end(self) -> None:
        self._ending.set()

    def transports(self) -> list[asyncio.Transport]:
        return [connection.transport for connection in self.server_state.connections]

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        # asyncio's backlog is both the kernel's queue and how many connections one step accepts: only the latter is small.
        for one in sockets or ():
            one.listen(_KERNEL_QUEUE)
        self.ready.set()

    async def main_loop(self) -> None:
        await self._ending.wait()
