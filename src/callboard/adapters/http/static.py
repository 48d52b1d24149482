"""The built page: one document for every route of the page, and assets named by their content."""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from .failures import build_method_response, build_route_problem
from .problems import build_problem_response

_ASSETS = "assets"
_IMMUTABLE = "public, max-age=31536000, immutable"
#: The browser validates its copy on each use, so that a new version of the page appears immediately.
_REVALIDATED = "no-cache"
_MEDIA = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"}
_NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Callboard</title>
<h1>The page is not built</h1>
<p>Callboard is running from a source tree without a built page.</p>
<p>Build it with <code>make page</code> and reload.</p>
</html>
"""


class StaticPage:
    """ASGI application of all paths outside the API.

    Args:
        folder: Folder of the built page.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._build_response(scope)(scope, receive, send)

    def _build_response(self, scope: Scope) -> Response:
        path: str = scope["path"]
        if path == "/api" or path.startswith("/api/"):
            return build_problem_response(build_route_problem(path))
        if scope["method"] not in ("GET", "HEAD"):
            return build_method_response(scope, "GET, HEAD")
        file = self._find_file(path)
        if file is not None and file.name != "index.html":
            is_asset = file.parent.name == _ASSETS and file.parent.parent == self._folder
            return _build_file_response(file, Headers(scope=scope), _IMMUTABLE if is_asset else _REVALIDATED)
        if "." in path.rpartition("/")[2] and path != "/index.html":
            return build_problem_response(build_route_problem(path))
        index = self._find_file("/index.html")
        if index is None:
            return HTMLResponse(_NOT_BUILT, 503)
        return _build_file_response(index, Headers(scope=scope), _REVALIDATED)

    def _find_file(self, path: str) -> Path | None:
        """Return the file at that path; None if it does not exist or is outside the folder."""
        try:
            file = (self._folder / path.lstrip("/")).resolve()
            return file if file.is_relative_to(self._folder) and file.is_file() else None
        except (ValueError, OSError):
            return None


def _build_file_response(file: Path, headers: Headers, cache_control: str) -> Response:
    media = _MEDIA.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    fields = {"Cache-Control": cache_control, "Vary": "Accept-Encoding"}
    compressed = file.with_name(f"{file.name}.gz")
    if _is_gzip_accepted(headers) and compressed.is_file():
        file = compressed
        fields["Content-Encoding"] = "gzip"
    # The files are small: reading them without a thread makes the first paint faster.
    data = file.read_bytes()
    fields["ETag"] = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    if _is_cached(headers, fields["ETag"]):
        return Response(status_code=304, headers=fields)
    return Response(data, headers=fields, media_type=media)


def _is_cached(headers: Headers, tag: str) -> bool:
    offers = (offer.strip().removeprefix("W/") for offer in headers.get("if-none-match", "").split(","))
    return any(offer in (tag, "*") for offer in offers)


def _is_gzip_accepted(headers: Headers) -> bool:
    """Return whether the client lists gzip with a weight above 0."""
    for offer in headers.get("accept-encoding", "").split(","):
        name, _, weight = offer.partition(";")
        if name.strip().lower() == "gzip":
            return weight.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
