"""Host, origin and credential, before anything else is looked at.

A page of another site may send requests to loopback, and a name of its own may be made to point there. So the Host must be
a loopback name with the port of this server, an Origin must be this server, and what the browser says of a request's
origin must fit. Everything under /api needs the API token, or the credential of a page of this very origin. No cookie is
read or set: a browser sends the cookies of one port to every port of its host.
"""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from callboard.contracts.errors import Refusal

from .access import PageAccess
from .access.routes import CREDENTIALS
from .connections import trust_connection
from .requests import CLIENT, CREDENTIAL, PAGE

#: The names under which this machine may be asked.
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HTTP_PORT = 80


class Guard:
    """Lets requests through that the person's own page, or a holder of the token, has sent."""

    def __init__(self, app: ASGIApp, token: str, access: PageAccess) -> None:
        self._app = app
        self._token = token.encode()
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        port: int = scope["server"][1]
        path: str = scope["path"]
        under_api = path == "/api" or path.startswith("/api/")
        _check_host(headers, port)
        _check_origin(headers, scope["method"], under_api=under_api)
        if path == CREDENTIALS:
            # The body has the code. Every other method is answered by what the route has.
            if scope["method"] == "POST":
                _check_sent_by_page(headers, "POST")
        elif under_api:
            self._identify(scope, headers)
            trust_connection(scope)
        await self._app(scope, receive, send)

    def _identify(self, scope: Scope, headers: Headers) -> None:
        """Note through which door a request comes. Raises Refusal `unauthenticated`."""
        scheme, _, value = headers.get("authorization", "").partition(" ")
        value = value.strip()
        if scheme.lower() == "bearer":
            if secrets.compare_digest(value.encode("utf-8", "surrogatepass"), self._token):
                scope[CLIENT] = "api"
                return
            credential = self._access.credentials.use(value, f"http://{headers['host'].lower()}")
            if credential is not None:
                _check_sent_by_page(headers, scope["method"])
                scope[CLIENT], scope[CREDENTIAL] = PAGE, credential
                return
        raise Refusal(
            "unauthenticated",
            "This needs the token of the Callboard that runs here, or an open page.",
            hint="Run callboard again and open the address that it prints, or send Authorization: Bearer with the token.",
        )


def _check_host(headers: Headers, port: int) -> None:
    allowed = {f"{name}:{port}" for name in LOOPBACK}
    if port == _HTTP_PORT:
        allowed.update(LOOPBACK)
    hosts = headers.getlist("host")
    if len(hosts) != 1 or hosts[0].lower() not in allowed:
        raise Refusal(
            "forbidden_origin",
            "The Host of the request is not this server.",
            field="Host",
            hint=f"Use http://127.0.0.1:{port}.",
        )


def _check_origin(headers: Headers, method: str, *, under_api: bool) -> None:
    origins = headers.getlist("origin")
    if origins and origins != [f"http://{headers['host']}"]:
        raise Refusal("forbidden_origin", "The request comes from a page of another origin.", field="Origin")
    site = headers.get("sec-fetch-site", "none")
    if site in ("none", "same-origin") or _opens_the_page(headers, method, under_api=under_api):
        return
    raise Refusal("forbidden_origin", "The request comes from a page of another site.", field="Sec-Fetch-Site")


def _opens_the_page(headers: Headers, method: str, *, under_api: bool) -> bool:
    """True where a person follows a link to the page, as from a terminal in a browser. The page alone tells nothing."""
    navigates = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return navigates and method == "GET" and not under_api


def _check_sent_by_page(headers: Headers, method: str) -> None:
    """Check what a browser adds to a request of this origin: a credential that is sent from elsewhere is refused.

    Every browser sends the Origin with a method that may change something, and Sec-Fetch-Site where it knows it.
    """
    if method not in ("GET", "HEAD") and "origin" not in headers:
        raise Refusal("forbidden_origin", "The request does not come from the page.", field="Origin")
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise Refusal("forbidden_origin", "The request does not come from the page.", field="Sec-Fetch-Site")
