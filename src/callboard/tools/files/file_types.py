"""File types by content: text, image or binary."""

from __future__ import annotations

from typing import NamedTuple

from callboard.contracts.refs import RefKind

from .images import read_image, read_image_header
from .text_encoding import decode, describe_kind, detect_kind, format_size

TEXT = "text/plain; charset=utf-8"
BINARY = "application/octet-stream"
_MEDIA = {"a PDF document": "application/pdf", "gzip data": "application/gzip"}


class FileType(NamedTuple):
    """Type of a file. `data` is its text in UTF-8 or its bytes; `description` states kind and size."""

    kind: RefKind
    data: bytes
    media: str
    description: str


def detect(data: bytes) -> FileType:
    """Return the type of a whole file."""
    image = read_image(data)
    if image is not None:
        return FileType("image", data, image.media, f"{image.description}, {format_size(len(data))}")
    text = decode(data)
    if text is not None:
        return FileType("text", text.text.encode("utf-8", "replace"), TEXT, format_size(len(data)))
    return FileType("binary", data, detect_media(data), f"{describe_kind(data)}, {format_size(len(data))}")


def detect_media(head: bytes) -> str:
    """Return the media type from the beginning of a file."""
    image = read_image_header(head)
    if image is not None:
        return image.media
    media = _MEDIA.get(detect_kind(head))
    # The sample may end within a character.
    return media or (TEXT if decode(head) is not None or decode(head[:-3]) is not None else BINARY)
