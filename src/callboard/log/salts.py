"""Random salts of the hash chain, read from the system in blocks."""

from __future__ import annotations

import os

from .chain import SALT_BYTES

#: The number of salts in a block.
_BLOCK = 512


class Salts:
    """Random bytes, each used once. Reading them in blocks saves a system call for each append."""

    def __init__(self) -> None:
        self._block = b""
        self._at = 0

    def draw(self, count: int) -> bytes:
        """Return the bytes of `count` salts."""
        size = count * SALT_BYTES
        if self._at + size > len(self._block):
            self._block = os.urandom(max(size, _BLOCK * SALT_BYTES))
            self._at = 0
        self._at += size
        return self._block[self._at - size : self._at]
