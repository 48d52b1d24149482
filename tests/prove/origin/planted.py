"""The product with a fault, so that the proof of origins can fail: `planted.py FAULT COMMAND…`.

cookie      the page sets a cookie with the token, which opens the API
argv        the browser starts with the address and its code
any-origin  a credential is accepted from every origin
"""

from __future__ import annotations

import sys
import threading
from http.cookies import SimpleCookie
from typing import Any

if __name__ == "__main__":
    # The product's imports must not find the proofs beside this file.
    sys.path.pop(0)

from callboard.adapters.http import guard, server
from callboard.adapters.http.access.credentials import PageCredentials
from callboard.adapters.http.app import HttpApp
from callboard.app.cli import up
from callboard.app.cli.main import main

FAULTS = ("cookie", "argv", "any-origin")


def plant(fault: str) -> None:
    """Add the fault."""
    assert fault in FAULTS, fault
    {"cookie": _set_cookies, "argv": _open_by_address, "any-origin": _take_every_origin}[fault]()


def _set_cookies() -> None:
    right = HttpApp.__call__
    tokens: dict[int, str] = {}
    make = guard.Guard.__init__

    def remember(self: Any, app: Any, token: str, access: Any) -> None:
        tokens[0] = token
        make(self, app, token, access)

    async def call(self: HttpApp, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        received = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get("callboard")
        if received is not None and b"authorization" not in headers:
            scope["headers"] = [*scope["headers"], (b"authorization", f"Bearer {received.value}".encode())]

        async def with_cookie(message: Any) -> None:
            if message["type"] == "http.response.start" and scope["path"] == "/":
                cookie = f"callboard={tokens[0]}; Path=/; HttpOnly; SameSite=strict"
                message = {**message, "headers": [*message["headers"], (b"set-cookie", cookie.encode())]}
            await send(message)

        await right(self, scope, receive, with_cookie)

    guard.Guard.__init__ = remember
    HttpApp.__call__ = call


def _open_by_address() -> None:
    import webbrowser

    links: list[str] = []
    right = server.HttpServer.create_page_link

    def page_link(self: Any, route: str = "") -> Any:
        issued = right(self, route)
        links.append(issued.link)
        return issued

    def open_page(_: str) -> None:
        threading.Thread(target=webbrowser.open, args=(links[-1],), daemon=True).start()

    server.HttpServer.create_page_link = page_link
    setattr(up, "open_page", open_page)  # noqa: B010 - the verb imports it by name


def _take_every_origin() -> None:
    right = PageCredentials.use

    def use(self: PageCredentials, value: str, origin: str) -> Any:
        for credential in self._valid.values():
            credential.origin = origin
        return right(self, value, origin)

    def check(*_: Any, **__: Any) -> None:
        """Accept every origin."""

    PageCredentials.use = use
    guard._check_origin = guard._check_sent_by_page = check


if __name__ == "__main__":
    plant(sys.argv[1])
    sys.exit(main(sys.argv[2:]))
