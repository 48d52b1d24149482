"""The built page: the same document for every route of the page, and assets whose names change with their content."""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from .failures import method_not_allowed, unknown_route
from .problems import problem_response

_ASSETS = "assets"
_FOR_EVER = "public, max-age=31536000, immutable"
#: Kept, and asked for again each time, so that a new version of the page is seen at once.
_CHECKED = "no-cache"
_MEDIA = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"}
_NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Callboard</title>
<h1>The page is not built</h1>
<p>Callboard runs, and its page is missing: this is a source tree in which it was not built yet.</p>
<p>Build it with <code>make page</code> and reload.</p>
</html>
"""


class StaticPage:
    """Everything that is no route of the API."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._response(scope)(scope, receive, send)

    def _response(self, scope: Scope) -> Response:
        path: str = scope["path"]
        if path == "/api" or path.startswith("/api/"):
            return problem_response(unknown_route(path))
        if scope["method"] not in ("GET", "HEAD"):
            return method_not_allowed(scope, "GET, HEAD")
        file = self._file(path)
        if file is not None and file.name != "index.html":
            kept = file.parent.name == _ASSETS and file.parent.parent == self._folder
            return _sent(file, Headers(scope=scope), _FOR_EVER if kept else _CHECKED)
        if "." in path.rpartition("/")[2] and path != "/index.html":
            return problem_response(unknown_route(path))
        index = self._file("/index.html")
        return HTMLResponse(_NOT_BUILT, 503) if index is None else _sent(index, Headers(scope=scope), _CHECKED)

    def _file(self, path: str) -> Path | None:
        """The file of the page at that path; None where there is none, also for a path that leads out of the page."""
        try:
            file = (self._folder / path.lstrip("/")).resolve()
            return file if file.is_relative_to(self._folder) and file.is_file() else None
        except (ValueError, OSError):
            return None


def _sent(file: Path, headers: Headers, kept: str) -> Response:
    media = _MEDIA.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    sent = {"Cache-Control": kept, "Vary": "Accept-Encoding"}
    packed = file.with_name(f"{file.name}.gz")
    if _takes_gzip(headers) and packed.is_file():
        file = packed
        sent["Content-Encoding"] = "gzip"
    # Read here and at once: the files are small, and every turn of a thread for them delays the first paint.
    data = file.read_bytes()
    sent["ETag"] = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    if _has(headers, sent["ETag"]):
        return Response(status_code=304, headers=sent)
    return Response(data, headers=sent, media_type=media)


def _has(headers: Headers, tag: str) -> bool:
    """True where the client keeps what the tag names."""
    offers = (offer.strip().removeprefix("W/") for offer in headers.get("if-none-match", "").split(","))
    return any(offer in (tag, "*") for offer in offers)


def _takes_gzip(headers: Headers) -> bool:
    """True where the client names gzip and does not weigh it with nothing."""
    for offer in headers.get("accept-encoding", "").split(","):
        name, _, weight = offer.partition(";")
        if name.strip().lower() == "gzip":
            return weight.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
