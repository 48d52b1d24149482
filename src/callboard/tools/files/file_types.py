"""What bytes are, by themselves: a text, an image that can be shown, or a file of some other kind."""

from __future__ import annotations

from typing import NamedTuple

from callboard.contracts.refs import RefKind

from .images import read_image, read_image_header
from .text_encoding import decode, kind_by_magic, kind_of, size_of

TEXT = "text/plain; charset=utf-8"
BINARY = "application/octet-stream"
_MEDIA = {"a PDF document": "application/pdf", "gzip data": "application/gzip"}


class FileType(NamedTuple):
    """What a file is. `data` is its text in UTF-8, or its bytes as they are; `told` says what it is and how large."""

    kind: RefKind
    data: bytes
    media: str
    description: str


def detect(data: bytes) -> FileType:
    """What a whole file is."""
    shown = read_image(data)
    if shown is not None:
        return FileType("image", data, shown.media, f"{shown.description}, {size_of(len(data))}")
    text = decode(data)
    if text is not None:
        return FileType("text", text.text.encode("utf-8", "replace"), TEXT, size_of(len(data)))
    return FileType("binary", data, detect_media(data), f"{kind_of(data)}, {size_of(len(data))}")


def detect_media(head: bytes) -> str:
    """The media type that the beginning of a file says."""
    shown = read_image_header(head)
    if shown is not None:
        return shown.media
    found = _MEDIA.get(kind_by_magic(head))
    # A piece of a text may end within a character.
    return found or (TEXT if decode(head) is not None or decode(head[:-3]) is not None else BINARY)
