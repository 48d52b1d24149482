"""Fresh salts for the chain, drawn from the system in large helpings."""

from __future__ import annotations

import os

from .chain import SALT_BYTES

#: How many salts one draw gives.
_HELPING = 512


class Salts:
    """Random bytes, each given once. A draw for every append would cost a system call under load."""

    def __init__(self) -> None:
        self._drawn = b""
        self._at = 0

    def take(self, count: int) -> bytes:
        """The bytes of so many salts."""
        size = count * SALT_BYTES
        if self._at + size > len(self._drawn):
            self._drawn = os.urandom(max(size, _HELPING * SALT_BYTES))
            self._at = 0
        self._at += size
        return self._drawn[self._at - size : self._at]
