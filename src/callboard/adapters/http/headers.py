"""What protects every answer, whoever made it."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: No inline script or style, nothing from elsewhere, and no framing.
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
_UNKEPT = (b"cache-control", b"no-store")


class SecurityHeaders:
    """Sets the headers on every answer, and forbids keeping one unless it says that it may be kept."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                own: list[tuple[bytes, bytes]] = message.get("headers", [])
                headers = [*own, *_ALWAYS]
                if not any(name == b"cache-control" for name, _ in own):
                    headers.append(_UNKEPT)
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, protected)
