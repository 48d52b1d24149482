"""Images of conversations as base64 text, each encoded once."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import re
import secrets
import weakref
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pydantic_ai.messages import BinaryContent

from callboard.contracts.ports.model import ImageContent, ToolResultContent

from .history.blocks import BLOCK
from .history.rounds import Messages

#: Bytes of an image that are encoded before other work of the event loop runs. Their text is one block.
SLICE: Final = BLOCK // 4 * 3
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_MARK: Final = 24


class _Encoded(NamedTuple):
    mark: bytes
    identifier: str
    pieces: Sequence[bytes]


class Images:
    """Encodes images in slices, and passes a short mark to the libraries instead of each.

    A library would encode and copy each image for each request. A mark looks like base64 text and is replaced in the finished
    body. An encoded image lives as long as the image.

    Example:
        await images.prepare(request.messages)
        part = images.make_part(image)
        pieces = images.expand(body)
    """

    def __init__(self, *, url_safe: bool = False) -> None:
        self._url_safe = url_safe
        # Random, so that no text can contain a mark.
        self._prefix = secrets.token_hex(_MARK // 2).encode()
        self._marks = re.compile(b"(%s[0-9a-f]{%d})" % (self._prefix, _MARK))
        self._encoded: dict[int, _Encoded] = {}
        self._pieces: dict[bytes, Sequence[bytes]] = {}
        self._watched: dict[int, weakref.ref[ImageContent]] = {}

    async def prepare(self, messages: Messages) -> None:
        """Encode the images of these messages that are not encoded yet."""
        for image in _list_images(messages):
            if id(image) not in self._encoded:
                encoded = await self._encode(image.data)
                # Another request may have been faster.
                if id(image) not in self._encoded:
                    self._store(image, encoded)

    def make_part(self, image: ImageContent) -> BinaryContent:
        """Return the library's content for a prepared image."""
        encoded = self._encoded[id(image)]
        return BinaryContent(base64.b64decode(encoded.mark), media_type=image.media, identifier=encoded.identifier)

    def expand(self, body: bytes) -> Sequence[bytes]:
        """Return a body in pieces, with images instead of marks."""
        if self._prefix not in body:
            return (body,)
        return [piece for part in self._marks.split(body) for piece in self._pieces.get(part, (part,))]

    async def _encode(self, data: bytes) -> _Encoded:
        pieces: list[bytes] = []
        # The library's identifier of an image in the text of a result.
        digest = hashlib.sha1(usedforsecurity=False)
        for start in range(0, len(data), SLICE):
            piece = data[start : start + SLICE]
            text = binascii.b2a_base64(piece, newline=False)
            pieces.append(text.translate(_URL_SAFE) if self._url_safe else text)
            await asyncio.sleep(0)
            digest.update(piece)
            await asyncio.sleep(0)
        mark = self._prefix + secrets.token_hex(_MARK // 2).encode()
        return _Encoded(mark, digest.hexdigest()[:6], pieces)

    def _store(self, image: ImageContent, encoded: _Encoded) -> None:
        key = id(image)
        self._encoded[key] = encoded
        self._pieces[encoded.mark] = encoded.pieces
        self._watched[key] = weakref.ref(image, lambda _: self._forget(key))

    def _forget(self, key: int) -> None:
        del self._watched[key]
        del self._pieces[self._encoded.pop(key).mark]


def _list_images(messages: Messages) -> Iterator[ImageContent]:
    for message in messages:
        for part in message.content:
            if isinstance(part, ImageContent):
                yield part
            elif isinstance(part, ToolResultContent):
                yield from part.images
