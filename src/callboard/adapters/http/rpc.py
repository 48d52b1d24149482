"""JSON-RPC 2.0 over the same commands.

A method is the name of a command or query, or an alias of the Subagents specification. Params are the command's fields, and
an error's data is the problem. A call without an id is a notification, which runs without a response. Calls of a batch run in
their order.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callboard.contracts.commands.base import COMMANDS, Declaration
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.ports.runtime import CommandService
from callboard.contracts.scope import Actor
from callboard.contracts.vocabulary import SUBAGENT_CONTROLS

from .commands import API, build_json_response
from .problems import build_input_refusal, record_incident
from .requests import read_actor, read_idempotency_key, read_json_body

PATH = f"{API}/rpc"
#: The largest number of calls in a batch.
MAX_BATCH = 100
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
#: Code of a refusal for which JSON-RPC defines none.
REFUSED = -32000
_CODES = {"unknown_command": METHOD_NOT_FOUND, "invalid_input": INVALID_PARAMS, "internal": INTERNAL}
#: The command of each method.
METHODS: dict[str, Declaration] = {
    **COMMANDS,
    **{alias: COMMANDS[name] for alias, name in SUBAGENT_CONTROLS.items() if name in COMMANDS},
}
_ID = str | int | float | None

Json = dict[str, Any]


class _Call(msgspec.Struct, frozen=True):
    """A call. `id` is unset for a notification."""

    jsonrpc: str
    method: str
    params: Any = msgspec.UNSET
    id: _ID | msgspec.UnsetType = msgspec.UNSET


def build_rpc_route(commands: CommandService) -> Route:
    """Build the route of all calls."""

    async def call(request: Request) -> Response:
        key, actor = read_idempotency_key(request), read_actor(request)
        answer = await _answer(commands, await read_json_body(request), key, actor)
        return Response(status_code=204) if answer is None else build_json_response(answer)

    return Route(PATH, call, methods=["POST"])


async def _answer(commands: CommandService, body: bytes, key: str, actor: Actor) -> Json | list[Json] | None:
    try:
        sent: Any = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _build_error(None, PARSE_ERROR, build_input_refusal(error).problem)
    if not isinstance(sent, list):
        return await _answer_call(commands, sent, key, actor)
    calls = cast("list[Any]", sent)
    if not 0 < len(calls) <= MAX_BATCH:
        problem = Problem(
            code="invalid_input", message=f"The batch has {len(calls)} calls.", hint=f"Send 1 to {MAX_BATCH} calls."
        )
        return _build_error(None, INVALID_REQUEST, problem)
    answers = [
        await _answer_call(commands, call, f"{key}:{number}" if key else "", actor)
        for number, call in enumerate(calls, 1)
    ]
    return [answer for answer in answers if answer is not None] or None


async def _answer_call(commands: CommandService, sent: Any, key: str, actor: Actor) -> Json | None:
    try:
        call = msgspec.convert(sent, _Call)
    except msgspec.MsgspecError as error:
        return _build_error(_find_id(sent), INVALID_REQUEST, build_input_refusal(error).problem)
    if call.jsonrpc != "2.0":
        problem = Problem(
            code="invalid_input",
            message="Invalid version of JSON-RPC.",
            field="jsonrpc",
            hint="Set jsonrpc to 2.0, as text.",
        )
        return _build_error(_find_id(sent), INVALID_REQUEST, problem)
    try:
        result = await _run_call(commands, call, key, actor)
    except Refusal as refusal:
        problem = refusal.problem
    except Exception as error:
        problem = record_incident(error, f"POST {PATH} {call.method[:100]}")
    else:
        return None if call.id is msgspec.UNSET else {"jsonrpc": "2.0", "id": call.id, "result": result}
    return None if call.id is msgspec.UNSET else _build_error(call.id, _CODES.get(problem.code, REFUSED), problem)


async def _run_call(commands: CommandService, call: _Call, key: str, actor: Actor) -> Any:
    """Run the command of a call. Raises Refusal."""
    declaration = METHODS.get(call.method)
    if declaration is None:
        raise Refusal(
            "unknown_command",
            f"There is no method {call.method[:100]}.",
            field="method",
            hint="A method is the name of a command or query; GET /api/v1/openapi.json lists them.",
        )
    params: Any = {} if call.params is msgspec.UNSET else call.params
    if not isinstance(params, dict):
        raise Refusal(
            "invalid_input",
            "params is not an object.",
            field="params",
            hint="Send an object with the command's fields.",
        )
    try:
        command = msgspec.convert(params, declaration.command)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise build_input_refusal(error, field="params") from error
    return await commands.submit(command, key="" if declaration.query else key, actor=actor)


def _find_id(sent: Any) -> _ID:
    """Return the id of an invalid call; None if it has no valid id."""
    id = cast("Json", sent).get("id") if isinstance(sent, dict) else None
    return id if isinstance(id, str | int | float) and not isinstance(id, bool) else None


def _build_error(call: _ID, code: int, problem: Problem) -> Json:
    return {"jsonrpc": "2.0", "id": call, "error": {"code": code, "message": problem.message, "data": problem}}
