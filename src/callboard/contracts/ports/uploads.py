"""Port of uploads: files that a person sends before the input that names them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

import msgspec

#: Maximum size of an upload in bytes.
MAX_UPLOAD_BYTES = 20 * 1024 * 1024


class Upload(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An uploaded file, kept for a day until an input names it.

    `media` is detected from its bytes. `size` is in bytes.
    """

    upload: str
    name: str
    media: str
    size: int


class Uploads(Protocol):
    """The uploads of a person."""

    async def receive(self, name: str, pieces: AsyncIterator[bytes]) -> Upload:
        """Store a file.

        Raises:
            Refusal: `too_large`, `invalid_input` for an empty file, or `store_full`. Nothing is
                stored.
        """
        ...

    async def read(self, upload: str) -> tuple[Upload, bytes] | None:
        """Return the file with its bytes; None if it has expired. It stays until then."""
        ...
