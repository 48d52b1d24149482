"""Output of commands, of which the head and the tail are kept."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable

from callboard.contracts.ports.processes import Excerpt
from callboard.contracts.ports.secrets import StreamRedaction

HEAD = 512 * 1024
TAIL = 512 * 1024


class Output:
    """Growing output. `report` receives the head as it arrives.

    With a redactor, only redacted text is kept. Before the end, a reader receives the last
    characters only if they cannot reveal a secret.
    """

    def __init__(self, report: Callable[[str], None], redactor: StreamRedaction | None = None) -> None:
        self._report = report
        self._redactor = redactor
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._head_size = self._tail_size = self._omitted = 0

    @property
    def total(self) -> int:
        """Number of characters until now."""
        return self._head_size + self._omitted + self._tail_size

    def add(self, data: bytes, *, last: bool = False) -> None:
        """Add a piece of output. Invalid UTF-8 becomes replacement characters."""
        text = self._decoder.decode(data, last)
        if self._redactor is not None:
            text = self._redactor.add(text) + (self._redactor.read_withheld() if last else "")
        if last:
            self._redactor = None
        self._store(text)

    def _store(self, text: str) -> None:
        remaining = HEAD - self._head_size
        if remaining > 0:
            head, text = text[:remaining], text[remaining:]
            if head:
                self._head.append(head)
                self._head_size += len(head)
                self._report(head)
            if text:
                self._report(f"\n[output above {HEAD:,} characters is not shown live]\n")
        if text:
            self._tail.append(text)
            self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) > TAIL if self._tail else False:
            dropped = len(self._tail.popleft())
            self._tail_size -= dropped
            self._omitted += dropped

    def text(self) -> str:
        """Return the kept text."""
        tail = "".join(self._tail)
        excess = max(0, len(tail) - TAIL)
        omitted = self._omitted + excess
        note = f"\n[{omitted:,} characters of output omitted]\n" if omitted else ""
        return "".join(self._head) + note + tail[excess:]

    def read(self, offset: int, max_chars: int) -> Excerpt:
        """Return at most `max_chars` stored characters from an offset."""
        if self._redactor is not None:
            self._store(self._redactor.release_harmless())
        if offset < self._head_size:
            text = _slice(self._head, offset, max_chars)
            return Excerpt(text=text, start=offset, next=offset + len(text), total=self.total)
        start = min(max(offset, self._head_size + self._omitted), self.total)
        text = _slice(self._tail, start - self._head_size - self._omitted, max_chars)
        return Excerpt(text=text, start=start, next=start + len(text), total=self.total)


def _slice(pieces: list[str] | deque[str], offset: int, max_chars: int) -> str:
    """Return at most `max_chars` characters from an offset, without joining the pieces before it."""
    parts: list[str] = []
    for piece in pieces:
        if max_chars <= 0:
            break
        part = piece[offset : offset + max_chars]
        offset = max(0, offset - len(piece))
        max_chars -= len(part)
        parts.append(part)
    return "".join(parts)
