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
    """An image's media type, and its width and height in pixels."""

    media: str
    width: int
    height: int

    @property
    def told(self) -> str:
        """What it is, for a person."""
        kind = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP"}[self.media]
        return f"a {kind} image, {self.width} × {self.height} pixels"


def image(data: bytes) -> Image | None:
    """The image that these bytes are, whole; None for anything else. What is cut off or says no size is shown to nobody: a
    provider that cannot open it would refuse all that is said with it."""
    found = begins_as_image(data)
    return found if found is not None and _is_whole(found.media, data) else None


def begins_as_image(data: bytes) -> Image | None:
    """The image that begins with these bytes."""
    media = "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
    media = media or next((one for magic, one in _KINDS if data.startswith(magic)), None)
    size: tuple[int, ...] = ()
    match media:
        case "image/png":
            size = struct.unpack(">II", data[16:24]) if data[12:16] == b"IHDR" and len(data) >= 24 else ()
        case "image/gif":
            size = struct.unpack("<HH", data[6:10]) if len(data) >= 10 else ()
        case "image/jpeg":
            size = _jpeg(data)
        case "image/webp":
            size = _webp(data)
        case _:
            return None
    return Image(media, size[0], size[1]) if len(size) == 2 and all(size) else None


def _is_whole(media: str, data: bytes) -> bool:
    match media:
        case "image/png":
            return b"IEND" in data[-64:]
        case "image/gif":
            return b"\x3b" in data[-64:]
        case "image/jpeg":
            return b"\xff\xd9" in data[-64 * 1024 :]
        case _:
            return len(data) >= 8 + int.from_bytes(data[4:8], "little")


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
