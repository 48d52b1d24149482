"""Files that a person sends before saying what they are for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

import msgspec

#: The largest file that is taken, in bytes.
LARGEST_UPLOAD = 20 * 1024 * 1024


class Upload(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that was sent and is kept for a day, until an input names it. `media` is what its bytes say it is; `size` is in
    bytes."""

    upload: str
    name: str
    media: str
    size: int


class Uploads(Protocol):
    """Where files wait that a person attaches."""

    async def receive(self, name: str, pieces: AsyncIterator[bytes]) -> Upload:
        """Takes one file. Raises Refusal `too_large`, `invalid_input` for none, and `store_full`; then nothing is kept."""
        ...

    async def take(self, upload: str) -> tuple[Upload, bytes] | None:
        """The file with its bytes, None where it is no longer there. It stays until its day is over."""
        ...
