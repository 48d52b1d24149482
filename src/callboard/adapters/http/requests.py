"""What was sent, as what it means. Whatever does not fit is a Refusal that names the field and what was expected."""

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

from .problems import WrongMediaError, invalid_input

LARGEST_BODY = 4 * 1024 * 1024
KEY_HEADER = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e]{1,128}")
#: Set by the guard: through which door the request came, `page` or `api`.
CLIENT = "callboard.client"
#: The door of the person's own page.
PAGE = "page"
#: Set by the guard of a request from the page: its credential.
CREDENTIAL = "callboard.credential"

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


async def read_json_body(request: Request) -> bytes:
    """The JSON of the request. Raises Refusal `too_large`, and `invalid_input` where it is sent as something else."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise WrongMediaError(
            "invalid_input",
            f"The body must be JSON, and is sent as {kind[:100] or 'nothing'}.",
            field="Content-Type",
            hint="Send Content-Type: application/json.",
        )
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise WrongMediaError("invalid_input", "The body must not be compressed.", field="Content-Encoding")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > LARGEST_BODY:
        raise _too_large()
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_BODY:
            raise _too_large()
    return bytes(body)


def decode(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """The body as the decoder's type."""
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise invalid_input(error) from error


def parse_query(request: Request, kind: type[S]) -> S:
    """The query's parameters as a Struct. One that is unknown, there twice or the word null is refused; a list is a parameter
    that may be there more than once."""
    sent: dict[str, Any] = {}
    lists = _lists(kind)
    for name, value in request.query_params.multi_items():
        if name in lists:
            sent.setdefault(name, []).append(value)
            continue
        if name in sent:
            raise Refusal("invalid_input", "The parameter is there more than once.", field=name[:100])
        sent[name] = value
    try:
        found = msgspec.convert(sent, kind, strict=False)
    except msgspec.MsgspecError as error:
        raise invalid_input(error) from error
    for field in msgspec.structs.fields(kind):
        if field.encode_name in sent and getattr(found, field.name) is None:
            raise Refusal("invalid_input", "Leave the parameter out instead.", field=field.encode_name)
    return found


@cache
def _lists(kind: type[msgspec.Struct]) -> frozenset[str]:
    """The fields that hold more than one value, by the names under which they are sent."""
    found = msgspec.inspect.type_info(kind)
    fields = found.fields if isinstance(found, msgspec.inspect.StructType) else ()
    return frozenset(field.encode_name for field in fields if _holds_several(field.type))


def _holds_several(kind: msgspec.inspect.Type) -> bool:
    while isinstance(kind, msgspec.inspect.Metadata):
        kind = kind.type
    return isinstance(kind, msgspec.inspect.VarTupleType)


def idempotency_key(request: Request) -> str:
    """The idempotency key, empty where there is none."""
    key = request.headers.get(KEY_HEADER)
    if key is None:
        return ""
    if not _KEY.fullmatch(key):
        raise Refusal(
            "invalid_input", "A key is 1 to 128 visible ASCII characters.", field=KEY_HEADER, hint="A UUID will do."
        )
    return key


def request_actor(request: Request) -> Actor:
    """Who asks: the holder of the token, through the page or through the API."""
    return Actor(kind="person", id=request.scope[CLIENT])


async def cancel_on_disconnect(request: Request, asked: Coroutine[Any, Any, T]) -> T:
    """What was asked for; it is no longer worked on once the client has gone, which raises ClientDisconnect."""
    work = asyncio.create_task(asked)
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ClientDisconnect
        return work.result()
    finally:
        for task in (work, gone):
            task.cancel()
        await asyncio.gather(work, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _too_large() -> Refusal:
    return Refusal(
        "too_large",
        f"The body is larger than {LARGEST_BODY} bytes.",
        hint="Put what is large into a file of the workspace and name it.",
    )
