"""One route for each command and query, built from the table of commands."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callboard.contracts.commands import TABLE
from callboard.contracts.commands.base import Declaration
from callboard.contracts.ports.runtime import CommandService

from .access import PageAccess
from .access.confirmed_commands import is_permission_grant
from .requests import PAGE, cancel_on_disconnect, decode, parse_query, read_actor, read_idempotency_key, read_json_body

API = "/api/v1"
_encoder = msgspec.json.Encoder()


def build_command_path(row: Declaration) -> str:
    """Return the path of a command's or query's route."""
    return f"{API}/{'queries' if row.query else 'commands'}/{row.name}"


def build_command_routes(commands: CommandService, access: PageAccess) -> list[Route]:
    """Build a POST route for each command and a GET route for each query.

    A command from the page that grants more permissions needs a confirmation.
    """
    return [
        _build_query_route(row, commands) if row.query else _build_command_route(row, commands, access) for row in TABLE
    ]


def build_json_response(value: object) -> Response:
    """Return a JSON response with the value."""
    return Response(_encoder.encode(value), media_type="application/json")


def _build_command_route(row: Declaration, commands: CommandService, access: PageAccess) -> Route:
    decoder = msgspec.json.Decoder(row.command)

    async def submit(request: Request) -> Response:
        key = read_idempotency_key(request)
        actor = read_actor(request)
        body = await read_json_body(request)
        command = decode(decoder, body)
        if actor.id == PAGE and is_permission_grant(command):
            access.confirm(request, row.name, body)
        return build_json_response(await commands.submit(command, key=key, actor=actor))

    return Route(build_command_path(row), submit, methods=["POST"])


def _build_query_route(row: Declaration, commands: CommandService) -> Route:
    async def query(request: Request) -> Response:
        command = parse_query(request, row.command)
        answer = commands.submit(command, actor=read_actor(request))
        return build_json_response(await (cancel_on_disconnect(request, answer) if row.waits else answer))

    return Route(build_command_path(row), query, methods=["GET"])
