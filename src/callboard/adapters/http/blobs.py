"""Large content by range. Plain text and images of four kinds, known by their bytes, can be shown; all else is only downloaded.
An SVG is a document that may hold scripts, so it is told as the text that it is."""

from __future__ import annotations

import codecs
import re
from collections.abc import AsyncGenerator
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from callboard.contracts.commands.turns import Id
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import BlobStore, Store
from callboard.tools.files.images import begins_as_image

from .commands import API
from .feeds import Position
from .requests import parse_query

#: Blobs are read and sent in pieces of this size.
PIECE = 256 * 1024
#: How much of the beginning tells text from anything else.
_SAMPLE = 8 * 1024
_HASH = re.compile(r"[0-9a-f]{64}")


class BlobQuery(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """`offset` and `length` are in bytes; without `length`, to the end. `session` is the one that refers to the blob: where it
    is given and gone, so is the blob. With `name` it is downloaded, as a file of that name."""

    offset: Position = 0
    length: Annotated[int, Meta(ge=1, le=2**53 - 1)] | None = None
    session: Id | None = None
    name: Annotated[str, Meta(max_length=200, pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$(?!\n)")] | None = None


def blob_routes(store: Store) -> list[Route]:
    """One route for all blobs."""

    async def read(request: Request) -> Response:
        query = parse_query(request, BlobQuery)
        hash: str = request.path_params["hash"]
        if query.session is not None and (await store.facts.head(query.session)).sequence == 0:
            raise Refusal("unknown_session", f"There is no session {query.session}.", field="session")
        sample = await store.blobs.get_range(hash, offset=0, length=_SAMPLE) if _HASH.fullmatch(hash) else None
        if sample is None:
            raise Refusal("unknown_blob", f"There is no blob {hash[:80]}.", hint="It may have been erased.")
        headers: dict[str, str] = {}
        shown = begins_as_image(sample)
        if query.name is not None:
            headers["Content-Disposition"] = f'attachment; filename="{query.name}"'
        elif shown is None and not _is_text(sample):
            headers["Content-Disposition"] = "attachment"
        media = "text/plain; charset=utf-8" if _is_text(sample) else "application/octet-stream"
        media = shown.media if shown is not None else media
        if query.length is not None and query.length <= PIECE:
            data = await store.blobs.get_range(hash, offset=query.offset, length=query.length)
            return Response(data or b"", headers=headers, media_type=media)
        return StreamingResponse(_pieces(store.blobs, hash, query), headers=headers, media_type=media)

    return [Route(f"{API}/blobs/{{hash}}", read, methods=["GET"])]


async def _pieces(blobs: BlobStore, hash: str, query: BlobQuery) -> AsyncGenerator[bytes]:
    offset, left = query.offset, query.length
    while left is None or left > 0:
        wanted = PIECE if left is None else min(PIECE, left)
        piece = await blobs.get_range(hash, offset=offset, length=wanted)
        if piece is None:
            raise Refusal("unknown_blob", f"The blob {hash} was erased while it was being read.")
        if piece:
            yield piece
        if len(piece) < wanted:
            return
        offset += wanted
        left = None if left is None else left - wanted


def _is_text(sample: bytes) -> bool:
    if b"\0" in sample:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) < _SAMPLE)
    except UnicodeDecodeError:
        return False
    return True
