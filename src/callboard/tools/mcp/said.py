"""What a server says beside its answers, as much of its end as is kept."""

from __future__ import annotations

from collections import deque

MOST = 8192


class Said:
    """The end of what a server wrote to its diagnostics, in the order in which it came, and why it is gone where that is known
    better than from the connection."""

    def __init__(self) -> None:
        self.reason = ""
        self._pieces: deque[str] = deque()
        self._size = 0

    def add(self, text: str) -> None:
        """More of it."""
        text = text[-MOST:]
        self._pieces.append(text)
        self._size += len(text)
        while self._size - len(self._pieces[0]) > MOST:
            self._size -= len(self._pieces.popleft())

    def text(self) -> str:
        """What is kept."""
        return "".join(self._pieces)[-MOST:]

    def last_line(self) -> str:
        """The last line that says anything."""
        return next((line.strip() for line in reversed(self.text().splitlines()) if line.strip()), "")
