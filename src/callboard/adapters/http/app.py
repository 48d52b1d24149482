"""ASGI application: all routes behind the guard."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from .access import ConfirmedCommands, build_access_routes
from .agentruns import build_agent_run_routes
from .blobs import build_blob_routes
from .commands import API, build_command_routes, build_json_response
from .dependencies import HttpDependencies
from .failures import ErrorResponses
from .feeds import build_feed_routes
from .guard import Guard
from .headers import SecurityHeaders
from .openapi import build_openapi_document
from .rpc import build_rpc_route
from .static import StaticPage
from .streams import SseResponses
from .uploads import build_upload_routes
from .vocabularies import build_vocabulary_routes


class HttpApp:
    """The application. It serves HTTP only: no lifespan events and no websockets."""

    def __init__(self, dependencies: HttpDependencies) -> None:
        self.access = dependencies.access
        commands = ConfirmedCommands(dependencies.commands)
        confirmed = replace(dependencies, commands=commands)
        self._streams = SseResponses(dependencies.keep_alive)
        router = Router(
            [
                *build_command_routes(dependencies.commands, dependencies.access),
                build_rpc_route(commands),
                *build_access_routes(dependencies.access),
                *build_feed_routes(dependencies, self._streams),
                *build_vocabulary_routes(dependencies, self._streams),
                *build_blob_routes(dependencies.store),
                *build_upload_routes(dependencies.uploads),
                *build_agent_run_routes(confirmed, self._streams),
                *_build_plain_routes(dependencies),
            ],
            redirect_slashes=False,
            default=StaticPage(dependencies.page),
        )
        self._app = SecurityHeaders(ErrorResponses(Guard(router, dependencies.token, dependencies.access)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # With this key Starlette raises unknown routes as exceptions instead of responding in plain text.
        await self._app({**scope, "app": self}, receive, send)

    def end_streams(self) -> None:
        """End every event stream, so that the server can stop without waiting for clients."""
        self._streams.end()


def _build_plain_routes(dependencies: HttpDependencies) -> list[Route]:
    async def read_meta(_: Request) -> Response:
        return build_json_response(await dependencies.read_meta())

    async def read_openapi(_: Request) -> Response:
        return build_json_response(build_openapi_document())

    async def report_health(_: Request) -> Response:
        return build_json_response({"ok": True})

    return [
        Route(f"{API}/meta", read_meta, methods=["GET"]),
        Route(f"{API}/openapi.json", read_openapi, methods=["GET"]),
        Route("/healthz", report_health, methods=["GET"]),
    ]
