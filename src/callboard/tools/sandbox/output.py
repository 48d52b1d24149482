"""What a command prints, of any length: its head and its tail are kept, and any of that can be read again."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable

from callboard.contracts.ports.processes import Excerpt
from callboard.contracts.ports.secrets import StreamRedaction

HEAD = 512 * 1024
TAIL = 512 * 1024


class Output:
    """Output as it comes, its head passed on. With a veil, nothing of it is kept that did not pass it; whoever reads before the
    end is given the last letters too, where what they may be the beginning of is not given away by them."""

    def __init__(self, tell: Callable[[str], None], veil: StreamRedaction | None = None) -> None:
        self._tell = tell
        self._veil = veil
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._head_size = self._tail_size = self._left = 0

    @property
    def total(self) -> int:
        """How many characters there were."""
        return self._head_size + self._left + self._tail_size

    def take(self, data: bytes, *, last: bool = False) -> None:
        """The next piece. Bytes that are no UTF-8 are shown as replacement characters."""
        text = self._decoder.decode(data, last)
        if self._veil is not None:
            text = self._veil.add(text) + (self._veil.pending() if last else "")
        if last:
            # What was held back is out.
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
        """What is kept."""
        tail = "".join(self._tail)
        over = max(0, len(tail) - TAIL)
        left = self._left + over
        note = f"\n[{left:,} characters of output left out here]\n" if left else ""
        return "".join(self._head) + note + tail[over:]

    def since(self, offset: int, most: int) -> Excerpt:
        """At most so many characters from an offset on, as far as they are kept."""
        if self._veil is not None:
            self._keep(self._veil.release_harmless())
        if offset < self._head_size:
            text = _between(self._head, offset, most)
            return Excerpt(text=text, start=offset, next=offset + len(text), total=self.total)
        start = min(max(offset, self._head_size + self._left), self.total)
        text = _between(self._tail, start - self._head_size - self._left, most)
        return Excerpt(text=text, start=start, next=start + len(text), total=self.total)


def _between(pieces: list[str] | deque[str], offset: int, most: int) -> str:
    """So many characters from an offset on, without putting together what is before it."""
    found: list[str] = []
    for piece in pieces:
        if most <= 0:
            break
        taken = piece[offset : offset + most]
        offset = max(0, offset - len(piece))
        most -= len(taken)
        found.append(taken)
    return "".join(found)
