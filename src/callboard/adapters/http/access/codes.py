"""Single-use codes that open the page.

The code is in the fragment of the page's address, which browsers do not send to servers. Every user of the machine can read
command lines, so the browser is started with a file of mode 0600 that redirects to the address. The file is removed when the
code is used or expires.
"""

from __future__ import annotations

import asyncio
import hashlib
import html
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

#: Lifetime of a code, in seconds.
CODE_SECONDS = 60
#: The most unused codes; one more ends the oldest.
MAX_CODES = 64
_CODE_BYTES = 24
_FILES = "open-*.html"
_REDIRECT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Callboard</title>
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}">
<p><a href="{link}">Open Callboard</a></p>
</html>
"""


class PageLink(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A single-use address that opens the page within `expires_in_s` seconds.

    `opener` is the path of a file that redirects to it, for the command line of a browser, or empty.
    """

    link: str
    opener: str
    expires_in_s: int


@dataclass
class _Code:
    ends: float
    file: Path | None
    timer: asyncio.TimerHandle | None = None


class LoginCodes:
    """The codes that wait for their use. `folder` is where files that open the page are written."""

    def __init__(self, folder: Path | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._now = now
        self._codes: dict[bytes, _Code] = {}
        if folder is not None:
            for left in folder.glob(_FILES):
                left.unlink(missing_ok=True)

    def issue(self, url: str, route: str) -> PageLink:
        """Issue a code for the page at `url`.

        Args:
            route: The path in the page, such as `/s/ses_1`.
        """
        while len(self._codes) >= MAX_CODES:
            self._end(next(iter(self._codes)))
        code = secrets.token_urlsafe(_CODE_BYTES)
        link = f"{url}/#open={code}{route}"
        file = self._write(link)
        key = _digest(code)
        self._codes[key] = _Code(self._now() + CODE_SECONDS, file)
        if file is not None:
            self._codes[key].timer = asyncio.get_running_loop().call_later(CODE_SECONDS, self._end, key)
        return PageLink(link=link, opener=str(file or ""), expires_in_s=CODE_SECONDS)

    def redeem(self, code: str) -> bool:
        """Use a code up. False if it was used, has expired or was never issued."""
        key = _digest(code)
        issued = self._codes.get(key)
        if issued is None:
            return False
        self._end(key)
        return self._now() < issued.ends

    def close(self) -> None:
        """End every code and remove its file."""
        for key in list(self._codes):
            self._end(key)

    def _end(self, key: bytes) -> None:
        issued = self._codes.pop(key, None)
        if issued is None:
            return
        if issued.timer is not None:
            issued.timer.cancel()
        if issued.file is not None:
            issued.file.unlink(missing_ok=True)

    def _write(self, link: str) -> Path | None:
        """Write the file. None if there is no folder or it is not writable: the printed address opens the page then."""
        if self._folder is None:
            return None
        path = self._folder / f"open-{secrets.token_hex(8)}.html"
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(_REDIRECT.format(link=html.escape(link)))
        except OSError:
            path.unlink(missing_ok=True)
            return None
        return path


def _digest(code: str) -> bytes:
    # Codes are looked up by digest, so the time of a look-up reveals nothing about the code.
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).digest()
