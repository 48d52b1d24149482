"""Output of a command. The head and the tail of a long output are kept and can be read again."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable

from callboard.contracts.ports.processes import Excerpt
from callboard.contracts.ports.secrets import StreamRedaction

HEAD = 512 * 1024
TAIL = 512 * 1024


class Output:
    """Output that grows, with its head passed on as it arrives.

    With a redactor, only redacted text is kept. A reader before the end also receives the last
    characters if they cannot reveal a secret.
    """

    def __init__(self, tell: Callable[[str], None], veil: StreamRedaction | None = None) -> None:
        self._tell = tell
        self._veil = veil
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._head_size = self._tail_size = self._left = 0

    @property
    def total(self) -> int:
        """Number of characters so far."""
        return self._head_size + self._left + self._tail_size

    def add(self, data: bytes, *, last: bool = False) -> None:
        """Add a piece. Bytes that are not UTF-8 become replacement characters."""
        text = self._decoder.decode(data, last)
        if self._veil is not None:
            text = self._veil.add(text) + (self._veil.pending() if last else "")
        if last:
            # The withheld text was added above.
            self._veil = None
        self._keep(text)

    def _keep(self, text: str) -> None:
        room = HEAD - self._head_size
        if room > 0:
            now, text = text[:room], text[room:]
            if now:
                self._head.append(now)
                self._head_size += len(now)
                self._tell(now)
            if text:
                self._tell(f"\n[more than {HEAD:,} characters of output; what follows is not shown as it comes]\n")
        if text:
            self._tail.append(text)
            self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) > TAIL if self._tail else False:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._left += gone

    def text(self) -> str:
        """Return the kept text."""
        tail = "".join(self._tail)
        over = max(0, len(tail) - TAIL)
        left = self._left + over
        note = f"\n[{left:,} characters of output left out here]\n" if left else ""
        return "".join(self._head) + note + tail[over:]

    def read(self, offset: int, most: int) -> Excerpt:
        """Return at most `most` kept characters from an offset on."""
        if self._veil is not None:
            self._keep(self._veil.release_harmless())
        if offset < self._head_size:
            text = _between(self._head, offset, most)
            return Excerpt(text=text, start=offset, next=offset + len(text), total=self.total)
        start = min(max(offset, self._head_size + self._left), self.total)
        text = _between(self._tail, start - self._head_size - self._left, most)
        return Excerpt(text=text, start=start, next=start + len(text), total=self.total)


def _between(pieces: list[str] | deque[str], offset: int, most: int) -> str:
    """Return characters from an offset on, without joining the pieces before it."""
    found: list[str] = []
    for piece in pieces:
        if most <= 0:
            break
        taken = piece[offset : offset + most]
        offset = max(0, offset - len(piece))
        most -= len(taken)
        found.append(taken)
    return "".join(found)
