"""Images by their bytes: which kind, and how many pixels. Nothing is decoded; what the header does not say is not known."""

from __future__ import annotations

import struct
from typing import NamedTuple

#: Kinds that browsers and models show, by what they begin with.
_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


class Image(NamedTuple):
    """An image's media type, and its width and height in pixels, 0 where the header does not say."""

    media: str
    width: int = 0
    height: int = 0

    @property
    def told(self) -> str:
        """What it is, for a person."""
        kind = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP"}[self.media]
        return f"a {kind} image, {self.width} × {self.height} pixels" if self.width else f"a {kind} image"


def image(data: bytes) -> Image | None:
    """The image that these bytes are, or None for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return Image("image/webp", *_webp(data))
    media = next((media for magic, media in _KINDS if data.startswith(magic)), None)
    match media:
        case "image/png":
            return Image(
                media, *(struct.unpack(">II", data[16:24]) if data[12:16] == b"IHDR" and len(data) >= 24 else ())
            )
        case "image/gif":
            return Image(media, *(struct.unpack("<HH", data[6:10]) if len(data) >= 10 else ()))
        case "image/jpeg":
            return Image(media, *_jpeg(data))
        case _:
            return None


def _webp(data: bytes) -> tuple[int, ...]:
    chunk = data[12:16]
    if chunk == b"VP8X" and len(data) >= 30:
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if chunk == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if chunk == b"VP8 " and len(data) >= 30:
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return ()


def _jpeg(data: bytes) -> tuple[int, ...]:
    """The size stands in the frame header, behind segments of any length."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        if marker == 0x01 or 0xD0 <= marker <= 0xD9:
            at += 2
            continue
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return ()
