"""Server of the application, started and stopped inside the program's event loop."""

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
from .connections import ACCEPT_BURST, Connections, compute_limits

#: The number of ports after the configured one that are tried before a random free port.
NEXT_PORTS = 20
_HIGHEST_PORT = 65535
#: Time for open requests to end at shutdown before their connections are closed, in seconds.
GRACE = 1.0
#: Time before uvicorn cancels handlers of closed connections, in whole seconds.
_MAX_STOP_SECONDS = 2

#: Connections that the kernel queues until the process accepts them.
_KERNEL_QUEUE = 2048
#: Time that an idle connection stays open, in seconds.
_IDLE_CONNECTION = 65


class HttpServer:
    """A listening server. `url` is its address."""

    def __init__(self, app: HttpApp, listening: socket.socket) -> None:
        self._app = app
        self._socket = listening
        self.bounds = Connections(compute_limits())
        self._server = _Uvicorn(
            uvicorn.Config(
                app,
                # uvicorn only calls this value, with the arguments of a protocol class.
                http=cast("type[asyncio.Protocol]", self.bounds.build_protocol),
                backlog=ACCEPT_BURST,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_keep_alive=_IDLE_CONNECTION,
                timeout_graceful_shutdown=_MAX_STOP_SECONDS,
            )
        )
        self._serving: asyncio.Task[None] | None = None
        host, port = listening.getsockname()[:2]
        self.port: int = port
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}"

    @classmethod
    async def start(cls, app: HttpApp, *, host: str = "127.0.0.1", port: int = 0) -> Self:
        """Start a server on the port; if it is in use, on one of the next ports or on a random one.

        Args:
            host: A loopback address.
            port: The preferred port. 0 is a random free one.
        Raises:
            Refusal: `bad_settings` if the host is not a loopback address.
            OSError: No port is available.
        """
        server = cls(app, bind(host, port))
        await server._begin()
        return server

    async def stop(self) -> None:
        """Stop: refuse new requests, end all streams, and give open requests `GRACE` seconds."""
        if self._serving is None:
            return
        self._app.access.close()
        self._app.end_streams()
        self._server.end()
        await asyncio.wait([self._serving], timeout=GRACE)
        for connection in self.list_connections():
            connection.abort()
        await self._serving
        self._serving = None

    def create_page_link(self, route: str = "") -> PageLink:
        """Return a single-use address that opens the page at a route such as `/s/ses_1`."""
        return self._app.access.codes.issue(self.url, route)

    def list_connections(self) -> list[asyncio.Transport]:
        """Return the open connections."""
        return self._server.list_transports()

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
    """Return a listening socket on the first free port from `port` on.

    Raises:
        Refusal: `bad_settings` if the host is not a loopback address.
        OSError: No port is available.
    """
    address = "127.0.0.1" if host == "localhost" else host
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        ip = None
    if ip is None or not ip.is_loopback:
        raise Refusal(
            "bad_settings",
            f"Callboard listens on loopback addresses only; {host} is not one.",
            field="host",
            hint="Use 127.0.0.1. To connect from another machine, use a tunnel such as ssh -L.",
        )
    family = socket.AF_INET if ip.version == 4 else socket.AF_INET6
    for candidate in range(port, min(port + NEXT_PORTS, _HIGHEST_PORT) + 1) if port else ():
        with contextlib.suppress(OSError):
            return _listen(family, address, candidate)
    return _listen(family, address, 0)


def _listen(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    # Without the protocol number asyncio keeps Nagle's algorithm on, which delays every response by 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        # Only a listening socket owns the port: several bound ones can share it.
        listening.listen()
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


class _Uvicorn(uvicorn.Server):
    """uvicorn without signal handlers and without its main loop, which wakes up ten times a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._ending = asyncio.Event()

    def end(self) -> None:
        self._ending.set()

    def list_transports(self) -> list[asyncio.Transport]:
        return [connection.transport for connection in self.server_state.connections]

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        # asyncio uses the backlog as the kernel's queue and as the number of connections per step. Only the latter is small.
        for listening in sockets or ():
            listening.listen(_KERNEL_QUEUE)
        self.ready.set()

    async def main_loop(self) -> None:
        await self._ending.wait()
