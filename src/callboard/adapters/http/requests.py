"""Decoding of requests. Invalid input raises a Refusal that names the field and the accepted value."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

import msgspec
import msgspec.inspect
from starlette.requests import ClientDisconnect, Request

from callboard.contracts.errors import Refusal
from callboard.contracts.scope import Actor

from .problems import WrongMediaError, build_input_refusal

MAX_BODY_BYTES = 4 * 1024 * 1024
KEY_HEADER = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e]{1,128}")
#: Scope key of the sender, `page` or `api`. The guard sets it.
CLIENT = "callboard.client"
#: The sender of requests from the person's own page.
PAGE = "page"
#: Scope key of the page's credential. The guard sets it.
CREDENTIAL = "callboard.credential"

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


def check_uncompressed(request: Request) -> None:
    """Refuse a compressed body, which has no limit before it is expanded. Raises WrongMediaError."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise WrongMediaError(
            "invalid_input",
            "The body is compressed.",
            field="Content-Encoding",
            hint="Send it without compression.",
        )


async def read_json_body(request: Request) -> bytes:
    """Read a JSON body. Raises Refusal `too_large`, or `invalid_input` for another content type."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise WrongMediaError(
            "invalid_input",
            f"The body must be JSON; its content type is {kind[:100] or 'missing'}.",
            field="Content-Type",
            hint="Send Content-Type: application/json.",
        )
    check_uncompressed(request)
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > MAX_BODY_BYTES:
        raise _build_size_refusal()
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            raise _build_size_refusal()
    return bytes(body)


def decode(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """Decode a body. Raises Refusal `invalid_input`."""
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise build_input_refusal(error) from error


def parse_query(request: Request, kind: type[S]) -> S:
    """Decode the query parameters as a Struct. Raises Refusal `invalid_input`.

    A list is a repeated parameter. Unknown parameters, other repeated ones and the value `null` are refused.
    """
    parameters: dict[str, Any] = {}
    lists = _list_fields(kind)
    for name, value in request.query_params.multi_items():
        if name in lists:
            parameters.setdefault(name, []).append(value)
            continue
        if name in parameters:
            raise Refusal(
                "invalid_input", "The parameter occurs more than once.", field=name[:100], hint="Send it once."
            )
        parameters[name] = value
    try:
        query = msgspec.convert(parameters, kind, strict=False)
    except msgspec.MsgspecError as error:
        raise build_input_refusal(error) from error
    for field in msgspec.structs.fields(kind):
        if field.encode_name in parameters and getattr(query, field.name) is None:
            raise Refusal(
                "invalid_input", "Invalid value null.", field=field.encode_name, hint="Leave the parameter out."
            )
    return query


@cache
def _list_fields(kind: type[msgspec.Struct]) -> frozenset[str]:
    """Return the names of list fields, as on the wire."""
    info = msgspec.inspect.type_info(kind)
    fields = info.fields if isinstance(info, msgspec.inspect.StructType) else ()
    return frozenset(field.encode_name for field in fields if _is_list(field.type))


def _is_list(kind: msgspec.inspect.Type) -> bool:
    while isinstance(kind, msgspec.inspect.Metadata):
        kind = kind.type
    return isinstance(kind, msgspec.inspect.VarTupleType)


def read_idempotency_key(request: Request) -> str:
    """Return the idempotency key; empty if the request has none. Raises Refusal `invalid_input`."""
    key = request.headers.get(KEY_HEADER)
    if key is None:
        return ""
    if not _KEY.fullmatch(key):
        raise Refusal(
            "invalid_input", "A key has 1 to 128 visible ASCII characters.", field=KEY_HEADER, hint="Send a UUID."
        )
    return key


def read_actor(request: Request) -> Actor:
    """Return the person who sent the request, through the page or the API."""
    return Actor(kind="person", id=request.scope[CLIENT])


async def cancel_on_disconnect(request: Request, answer: Coroutine[Any, Any, T]) -> T:
    """Await the answer, and cancel it if the client disconnects. Raises ClientDisconnect."""
    work = asyncio.create_task(answer)
    disconnect = asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait((work, disconnect), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ClientDisconnect
        return work.result()
    finally:
        for task in (work, disconnect):
            task.cancel()
        await asyncio.gather(work, disconnect, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _build_size_refusal() -> Refusal:
    return Refusal(
        "too_large",
        f"The body is larger than {MAX_BODY_BYTES} bytes.",
        hint="Put large content into a file of the workspace and send its path.",
    )
