"""Redacted diagnostics of servers and hooks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from callboard.contracts.ports.secrets import StreamRedaction

MAX_CHARS = 8192
#: Length of the text before the visible part. It is kept to recognise a secret across the boundary,
#: and never shown.
_BEFORE = MAX_CHARS


class PlainText:
    """A redactor without secrets."""

    def add(self, piece: str) -> str:
        """Return the piece."""
        return piece

    def release_harmless(self) -> str:
        """Return nothing: no text is withheld."""
        return ""

    def read_withheld(self) -> str:
        """Return nothing: no text is withheld."""
        return ""


class ServerLog:
    """The end of a server's diagnostics. `reason` states why it ended, if known."""

    def __init__(self, new_redactor: Callable[[], StreamRedaction] = PlainText) -> None:
        self.reason = ""
        self._new_redactor = new_redactor
        self._pieces: deque[str] = deque()
        self._size = 0

    def add(self, text: str) -> None:
        """Add text."""
        text = text[-MAX_CHARS - _BEFORE :]
        self._pieces.append(text)
        self._size += len(text)
        while self._size - len(self._pieces[0]) > MAX_CHARS + _BEFORE:
            self._size -= len(self._pieces.popleft())

    def read_text(self) -> str:
        """Return the kept text, redacted before it is truncated."""
        whole = "".join(self._pieces)[-MAX_CHARS - _BEFORE :]
        redactor = self._new_redactor()
        if len(whole) > MAX_CHARS:
            redactor.add(whole[:-MAX_CHARS])
        return redactor.add(whole[-MAX_CHARS:]) + redactor.read_withheld()

    def redact(self, text: str) -> str:
        """Return another text redacted."""
        redactor = self._new_redactor()
        return redactor.add(text) + redactor.read_withheld()

    def find_last_line(self) -> str:
        """Return the last line with content."""
        return next((line.strip() for line in reversed(self.read_text().splitlines()) if line.strip()), "")
