"""Growing encoded bytes in a few blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

#: Bytes of a full block. Sending one blocks the event loop for less than a millisecond.
BLOCK: Final = 1024 * 1024


class Blocks:
    """Joins pieces in blocks, so that a request handles a few blocks and not every piece.

    `snapshot` joins pieces of similar size, so a byte is copied once for each doubling of its block. Full blocks are never
    copied.
    """

    def __init__(self) -> None:
        self.size = 0
        self._full: list[bytes] = []
        self._open: list[bytes] = []
        self._open_size = 0

    def add(self, piece: bytes) -> None:
        """Append a piece. A piece of the size of a block becomes one."""
        if not piece:
            return
        self.size += len(piece)
        if len(piece) >= BLOCK:
            self._fill()
            self._full.append(piece)
            return
        self._open.append(piece)
        self._open_size += len(piece)
        if self._open_size >= BLOCK:
            self._fill()

    def list_blocks(self) -> tuple[bytes, ...]:
        """Return all bytes so far. Later additions do not change them."""
        joined, size = len(self._open), 0
        while joined and (not size or len(self._open[joined - 1]) <= size):
            joined -= 1
            size += len(self._open[joined])
        self._open[joined:] = [b"".join(self._open[joined:])] if size else []
        return (*self._full, *self._open)

    def read_range(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from `start` to `end`, without copying whole blocks."""
        at = 0
        for block in (*self._full, *self._open):
            first, last = max(start - at, 0), min(end - at, len(block))
            if first < last:
                yield block[first:last]
            at += len(block)

    def _fill(self) -> None:
        if self._open:
            self._full.append(b"".join(self._open))
            self._open, self._open_size = [], 0
