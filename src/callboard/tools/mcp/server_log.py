"""Diagnostics of a server: the end of its output, redacted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from callboard.contracts.ports.secrets import StreamRedaction

MOST = 8192
#: Text kept in front of the visible part, so that a secret across the boundary is recognised. Its
#: own beginning may be part of a secret and is never shown.
_BEFORE = MOST


class PlainText:
    """A redactor without secrets."""

    def add(self, piece: str) -> str:
        """Return the piece."""
        return piece

    def release_harmless(self) -> str:
        """Return nothing: no text is withheld."""
        return ""

    def pending(self) -> str:
        """Return nothing: no text is withheld."""
        return ""


class ServerLog:
    """The end of a server's diagnostics. `reason` is why it ended, if known better than from the
    connection.
    """

    def __init__(self, veil: Callable[[], StreamRedaction] = PlainText) -> None:
        self.reason = ""
        self._veil = veil
        self._pieces: deque[str] = deque()
        self._size = 0

    def add(self, text: str) -> None:
        """Add text."""
        text = text[-MOST - _BEFORE :]
        self._pieces.append(text)
        self._size += len(text)
        while self._size - len(self._pieces[0]) > MOST + _BEFORE:
            self._size -= len(self._pieces.popleft())

    def text(self) -> str:
        """Return the kept text, redacted before it is truncated."""
        whole = "".join(self._pieces)[-MOST - _BEFORE :]
        veil = self._veil()
        if len(whole) > MOST:
            veil.add(whole[:-MOST])
        return veil.add(whole[-MOST:]) + veil.pending()

    def redact(self, text: str) -> str:
        """Return another text redacted."""
        veil = self._veil()
        return veil.add(text) + veil.pending()

    def last_line(self) -> str:
        """Return the last line with content."""
        return next((line.strip() for line in reversed(self.text().splitlines()) if line.strip()), "")
