"""What a server says beside its answers, as much of its end as is kept, without secrets."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from callboard.contracts.ports.secrets import StreamRedaction

MOST = 8192
#: So much is kept before what is told: a secret that begins in it and ends in what is told is known as one. What stands at its
#: own beginning may be the rest of a secret, and is not told.
_BEFORE = MOST


class PlainText:
    """A veil over nothing, where no secrets are known."""

    def add(self, piece: str) -> str:
        """What may be shown now."""
        return piece

    def release_harmless(self) -> str:
        """What is held back."""
        return ""

    def pending(self) -> str:
        """What is held back."""
        return ""


class ServerLog:
    """The end of what a server wrote to its diagnostics, in the order in which it came, and why it is gone where that is known
    better than from the connection."""

    def __init__(self, veil: Callable[[], StreamRedaction] = PlainText) -> None:
        self.reason = ""
        self._veil = veil
        self._pieces: deque[str] = deque()
        self._size = 0

    def add(self, text: str) -> None:
        """More of it."""
        text = text[-MOST - _BEFORE :]
        self._pieces.append(text)
        self._size += len(text)
        while self._size - len(self._pieces[0]) > MOST + _BEFORE:
            self._size -= len(self._pieces.popleft())

    def text(self) -> str:
        """What is kept, secrets replaced before it is cut."""
        whole = "".join(self._pieces)[-MOST - _BEFORE :]
        veil = self._veil()
        if len(whole) > MOST:
            veil.add(whole[:-MOST])
        return veil.add(whole[-MOST:]) + veil.pending()

    def safe(self, text: str) -> str:
        """Another text without secrets."""
        veil = self._veil()
        return veil.add(text) + veil.pending()

    def last_line(self) -> str:
        """The last line that says anything."""
        return next((line.strip() for line in reversed(self.text().splitlines()) if line.strip()), "")
