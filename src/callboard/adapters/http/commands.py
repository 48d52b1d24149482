"""One route a command, made from the table of commands and from nothing else."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callboard.contracts.commands import TABLE, Declaration
from callboard.contracts.ports.runtime import CommandService

from .access import PageAccess
from .access.granting import grants_permission
from .requests import PAGE, cancel_on_disconnect, decode, idempotency_key, parse_query, read_json_body, request_actor

API = "/api/v1"
_encoder = msgspec.json.Encoder()


def command_path(row: Declaration) -> str:
    """Where a command is given, or a query asked."""
    return f"{API}/{'queries' if row.query else 'commands'}/{row.name}"


def command_routes(commands: CommandService, access: PageAccess) -> list[Route]:
    """A POST for each command and a GET for each query. From the page, what grants more permission needs a confirmation."""
    return [_query(row, commands) if row.query else _command(row, commands, access) for row in TABLE]


def json_response(value: object) -> Response:
    """The value as JSON."""
    return Response(_encoder.encode(value), media_type="application/json")


def _command(row: Declaration, commands: CommandService, access: PageAccess) -> Route:
    decoder = msgspec.json.Decoder(row.command)

    async def give(request: Request) -> Response:
        key = idempotency_key(request)
        actor = request_actor(request)
        body = await read_json_body(request)
        command = decode(decoder, body)
        if actor.id == PAGE and grants_permission(command):
            access.confirm(request, row.name, body)
        return json_response(await commands.submit(command, key=key, actor=actor))

    return Route(command_path(row), give, methods=["POST"])


def _query(row: Declaration, commands: CommandService) -> Route:
    async def ask(request: Request) -> Response:
        command = parse_query(request, row.command)
        asking = commands.submit(command, actor=request_actor(request))
        return json_response(await (cancel_on_disconnect(request, asking) if row.waits else asking))

    return Route(command_path(row), ask, methods=["GET"])
