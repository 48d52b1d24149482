"""Large content by range.

Plain text and four image formats, recognised by their bytes, can be shown; other content is only downloaded. An SVG may hold
scripts, so it is sent as plain text.
"""

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

from callboard.contracts.commands.base import Id
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import BlobStore, Store
from callboard.control.workspace import build_unknown_session
from callboard.tools.files.images import read_image_header

from .commands import API
from .feeds import Position
from .requests import parse_query

#: Size of the pieces in which blobs are read and sent, in bytes.
PIECE = 256 * 1024
#: Bytes at the start of a blob that decide whether it is text.
_SAMPLE = 8 * 1024
_HASH = re.compile(r"[0-9a-f]{64}")


class BlobQuery(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A range of a blob.

    `offset` and `length` are in bytes; without `length` the range extends to the end. With `session`, the blob of a deleted
    session is refused. With `name`, the browser downloads the blob as a file of that name.
    """

    offset: Position = 0
    length: Annotated[int, Meta(ge=1, le=2**53 - 1)] | None = None
    session: Id | None = None
    name: Annotated[str, Meta(max_length=200, pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$(?!\n)")] | None = None


def build_blob_routes(store: Store) -> list[Route]:
    """Build the route of all blobs."""

    async def read(request: Request) -> Response:
        query = parse_query(request, BlobQuery)
        hash: str = request.path_params["hash"]
        if query.session is not None and (await store.facts.read_head(query.session)).sequence == 0:
            raise build_unknown_session(query.session, "session")
        sample = await store.blobs.get_range(hash, offset=0, length=_SAMPLE) if _HASH.fullmatch(hash) else None
        if sample is None:
            raise Refusal("unknown_blob", f"There is no blob {hash[:80]}.", hint="It may have been erased.")
        headers: dict[str, str] = {}
        image = read_image_header(sample)
        is_text = image is None and _is_text(sample)
        if query.name is not None:
            headers["Content-Disposition"] = f'attachment; filename="{query.name}"'
        elif image is None and not is_text:
            headers["Content-Disposition"] = "attachment"
        media = "text/plain; charset=utf-8" if is_text else "application/octet-stream"
        media = media if image is None else image.media
        if query.length is not None and query.length <= PIECE:
            data = await store.blobs.get_range(hash, offset=query.offset, length=query.length)
            return Response(data or b"", headers=headers, media_type=media)
        return StreamingResponse(_read_pieces(store.blobs, hash, query), headers=headers, media_type=media)

    return [Route(f"{API}/blobs/{{hash}}", read, methods=["GET"])]


async def _read_pieces(blobs: BlobStore, hash: str, query: BlobQuery) -> AsyncGenerator[bytes]:
    offset, remaining = query.offset, query.length
    while remaining is None or remaining > 0:
        size = PIECE if remaining is None else min(PIECE, remaining)
        piece = await blobs.get_range(hash, offset=offset, length=size)
        if piece is None:
            raise Refusal(
                "unknown_blob",
                f"The blob {hash} was erased while it was being read.",
                hint="Erased content cannot be read again.",
            )
        if piece:
            yield piece
        if len(piece) < size:
            return
        offset += size
        remaining = None if remaining is None else remaining - size


def _is_text(sample: bytes) -> bool:
    if b"\0" in sample:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) < _SAMPLE)
    except UnicodeDecodeError:
        return False
    return True
