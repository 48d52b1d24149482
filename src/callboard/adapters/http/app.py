"""The routes behind the guard, as one ASGI application."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from .access import ConfirmedCommands, access_routes
from .agentruns import agent_run_routes
from .blobs import blob_routes
from .commands import API, command_routes, json_response
from .dependencies import HttpDependencies
from .failures import ErrorResponses
from .feeds import feed_routes
from .guard import Guard
from .headers import SecurityHeaders
from .openapi import openapi_document
from .rpc import rpc_route
from .static import StaticPage
from .streams import SseResponses
from .uploads import upload_routes
from .vocabularies import vocabulary_routes


class HttpApp:
    """Takes HTTP only; it has no start-up and no websockets."""

    def __init__(self, given: HttpDependencies) -> None:
        self.access = given.access
        commands = ConfirmedCommands(given.commands)
        confined = replace(given, commands=commands)
        self._streams = SseResponses(given.keep_alive)
        router = Router(
            [
                *command_routes(given.commands, given.access),
                rpc_route(commands),
                *access_routes(given.access),
                *feed_routes(given, self._streams),
                *vocabulary_routes(given, self._streams),
                *blob_routes(given.store),
                *upload_routes(given.uploads),
                *agent_run_routes(confined, self._streams),
                *_plain_routes(given),
            ],
            redirect_slashes=False,
            default=StaticPage(given.page),
        )
        self._app = SecurityHeaders(ErrorResponses(Guard(router, given.token, given.access)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Starlette tells routes that stand alone from routes of an application by this key: the latter raise.
        await self._app({**scope, "app": self}, receive, send)

    def end_streams(self) -> None:
        """Ends every stream of events, so that a server that stops need not wait for them."""
        self._streams.end()


def _plain_routes(given: HttpDependencies) -> list[Route]:
    async def meta(_: Request) -> Response:
        return json_response(await given.about())

    async def openapi(_: Request) -> Response:
        return json_response(openapi_document())

    async def health(_: Request) -> Response:
        return json_response({"ok": True})

    return [
        Route(f"{API}/meta", meta, methods=["GET"]),
        Route(f"{API}/openapi.json", openapi, methods=["GET"]),
        Route("/healthz", health, methods=["GET"]),
    ]
