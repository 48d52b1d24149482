"""Uploads of attachments: one file per request, with its bytes as the body."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.uploads import MAX_UPLOAD_BYTES, Uploads

from .commands import API, build_json_response
from .requests import check_uncompressed, parse_query

PATH = f"{API}/uploads"


class UploadQuery(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """`name` is the file name without a folder."""

    name: Annotated[str, Meta(min_length=1, max_length=255, pattern=r"^[^/\\\x00-\x1f\x7f]+$(?!\n)")]


def build_upload_routes(uploads: Uploads | None) -> list[Route]:
    """Build the route of uploads. Without `uploads` it refuses every file."""

    async def receive(request: Request) -> Response:
        query = parse_query(request, UploadQuery)
        check_uncompressed(request)
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > MAX_UPLOAD_BYTES:
            raise Refusal(
                "too_large",
                f"The attachment is larger than {MAX_UPLOAD_BYTES:,} bytes.",
                field="body",
                hint="Copy the file into the folder and mention it with @.",
            )
        if uploads is None:
            raise Refusal(
                "unknown_route",
                "This server does not accept attachments.",
                hint="Copy the file into the folder and mention it with @.",
            )
        return build_json_response(await uploads.receive(query.name, request.stream()))

    return [Route(PATH, receive, methods=["POST"])]
