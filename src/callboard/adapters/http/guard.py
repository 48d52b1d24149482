"""Host, origin and token, before anything else is looked at.

A page of another site may send requests to loopback, and a name of its own may be made to point there. So the Host must be
a loopback name with the port of this server, an Origin must be this server, and what the browser says of a request's
origin must fit. Everything under /api needs the token.
"""

from __future__ import annotations

import secrets
from typing import Literal
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from callboard.contracts.errors import Refusal

from .reading import CLIENT

#: The names under which this machine may be asked.
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HTTP_PORT = 80
_STALE_LINK = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Callboard</title>
<h1>This link no longer opens Callboard</h1>
<p>Its token is not the one of the Callboard that runs here. Run <code>callboard</code> again
and open the address it prints.</p>
</html>
"""


class Guard:
    """Lets requests through that the person's own page, or a holder of the token, has sent."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        port: int = scope["server"][1]
        path: str = scope["path"]
        under_api = path == "/api" or path.startswith("/api/")
        _check_host(headers, port)
        _check_origin(headers, scope["method"], under_api=under_api)
        if under_api:
            scope[CLIENT] = self._client(headers, port)
        elif b"token=" in scope["query_string"] and scope["method"] in ("GET", "HEAD"):
            await self._exchange(scope, receive, send, port)
            return
        await self._app(scope, receive, send)

    def _client(self, headers: Headers, port: int) -> Literal["page", "api"]:
        """Through which door a request comes. Raises Refusal `unauthenticated`."""
        authorization = headers.get("authorization")
        if authorization is not None:
            scheme, _, given = authorization.partition(" ")
            if scheme.lower() == "bearer" and self._fits(given.strip()):
                return "api"
        elif self._fits(cookie_parser(headers.get("cookie", "")).get(cookie_name(port), "")):
            return "page"
        raise Refusal(
            "unauthenticated",
            "This needs the token of the Callboard that runs here.",
            hint="Open the address that callboard prints, or send Authorization: Bearer with the token.",
        )

    async def _exchange(self, scope: Scope, receive: Receive, send: Send, port: int) -> None:
        """A link with the token becomes a cookie, and the token leaves the address."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if not given:
            await self._app(scope, receive, send)
            return
        if not self._fits(given[-1]):
            await HTMLResponse(_STALE_LINK, 401)(scope, receive, send)
            return
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope["path"].lstrip("/\\")
        response = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        response.set_cookie(cookie_name(port), given[-1], httponly=True, samesite="strict", path="/")
        await response(scope, receive, send)

    def _fits(self, given: str) -> bool:
        return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), self._token)


def cookie_name(port: int) -> str:
    """Cookies are shared between the ports of a host, so the name holds the port."""
    return f"callboard_{port}"


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
