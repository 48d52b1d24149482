"""Checks of host, origin and credential before any route.

Pages of other sites can send requests to loopback, and their host names can resolve to it. So the Host must be a loopback name
with this server's port, and Origin and Sec-Fetch-Site must name this server. Paths under /api need the API token or the
credential of a page of this origin. Cookies are not used: a browser sends them to every port of a host.
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

#: Accepted names in the Host header.
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HTTP_PORT = 80
_OUTSIDE_PAGE = "Send Authorization: Bearer with the token. Only the page can use its credential."


class Guard:
    """Middleware that accepts requests of the person's own page and of clients with the API token."""

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
            # The body has the code. The route refuses other methods.
            if scope["method"] == "POST":
                _check_sent_by_page(headers, "POST")
        elif under_api:
            self._identify(scope, headers)
            trust_connection(scope)
        await self._app(scope, receive, send)

    def _identify(self, scope: Scope, headers: Headers) -> None:
        """Store whether the page or an API client sent the request. Raises Refusal `unauthenticated`."""
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
            "The request has no valid token or page credential.",
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
            "The Host header does not name this server.",
            field="Host",
            hint=f"Use http://127.0.0.1:{port}.",
        )


def _check_origin(headers: Headers, method: str, *, under_api: bool) -> None:
    origins = headers.getlist("origin")
    if origins and origins != [f"http://{headers['host']}"]:
        raise Refusal(
            "forbidden_origin",
            "A page of another origin sent the request.",
            field="Origin",
            hint="Send the request without Origin, or open the address that callboard prints.",
        )
    site = headers.get("sec-fetch-site", "none")
    if site in ("none", "same-origin") or _is_page_navigation(headers, method, under_api=under_api):
        return
    raise Refusal(
        "forbidden_origin",
        "A page of another site sent the request.",
        field="Sec-Fetch-Site",
        hint="Open the address that callboard prints, or send the request outside a browser.",
    )


def _is_page_navigation(headers: Headers, method: str, *, under_api: bool) -> bool:
    """Return whether a person follows a link to the page. The page itself contains no data."""
    navigates = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return navigates and method == "GET" and not under_api


def _check_sent_by_page(headers: Headers, method: str) -> None:
    """Check the headers that browsers add, and refuse a page credential that another program sends.

    Browsers send Origin with methods that can change data, and most also send Sec-Fetch-Site.
    """
    if method not in ("GET", "HEAD") and "origin" not in headers:
        raise Refusal("forbidden_origin", "The page did not send the request.", field="Origin", hint=_OUTSIDE_PAGE)
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise Refusal(
            "forbidden_origin", "The page did not send the request.", field="Sec-Fetch-Site", hint=_OUTSIDE_PAGE
        )
