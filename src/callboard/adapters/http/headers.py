"""Security headers of every response."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: No inline scripts or styles, no other origins, no framing.
_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
)
CONTENT_SECURITY_POLICY = "; ".join(_POLICY)
_ALWAYS = [
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_NO_STORE = (b"cache-control", b"no-store")


class SecurityHeaders:
    """Middleware that adds the headers, and forbids caching unless the response sets Cache-Control."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                route_headers: list[tuple[bytes, bytes]] = message.get("headers", [])
                headers = [*route_headers, *_ALWAYS]
                if not any(name == b"cache-control" for name, _ in route_headers):
                    headers.append(_NO_STORE)
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, send_with_headers)
