"""Images: kind and size by their bytes."""

from __future__ import annotations

import struct
import zlib

import pytest

from callboard.tools.files.file_types import detect, detect_media
from callboard.tools.files.images import read_image


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\0\0\0" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


GIF = b"GIF89a" + struct.pack("<HH", 7, 5) + b"\x00\x00\x00," + b"\0" * 9 + b"\x02\x00;"
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\0"
    + b"\0" * 9
    + b"\xff\xc0\x00\x11\x08"
    + struct.pack(">HH", 9, 11)
    + b"\0" * 10
    + b"\xff\xd9"
)
_VP8X = b"VP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + (19).to_bytes(3, "little") + (29).to_bytes(3, "little")
WEBP = b"RIFF" + struct.pack("<I", 4 + len(_VP8X)) + b"WEBP" + _VP8X


@pytest.mark.parametrize(
    ("data", "media", "size"),
    [
        (png(2, 3), "image/png", (2, 3)),
        (GIF, "image/gif", (7, 5)),
        (JPEG, "image/jpeg", (11, 9)),
        (WEBP, "image/webp", (20, 30)),
    ],
)
def test_images_are_recognised_by_their_bytes(data: bytes, media: str, size: tuple[int, int]):
    """CTX-01"""
    image = read_image(data)
    assert image is not None
    assert (image.media, image.width, image.height) == (media, *size)
    assert detect_media(data[:20]) in (media, "application/octet-stream")


@pytest.mark.parametrize("data", [png(2, 3)[:-12], GIF[:-1], JPEG[:-2], WEBP[:-4], b"\x89PNG\r\n\x1a\n", b"RIFF", b""])
def test_a_truncated_image_is_not_an_image(data: bytes):
    """A provider rejects the whole request if it cannot open an image."""
    assert read_image(data) is None


def test_a_file_type_is_detected_by_content():
    """UI-08"""
    assert detect(png(2, 3)).description == f"a PNG image, 2 × 3 pixels, {len(png(2, 3))} bytes"
    assert detect(b"%PDF-1.7\n\0\0")[2:] == ("application/pdf", "a PDF document, 11 bytes")
    assert detect("grün".encode("utf-16"))[:2] == ("text", "grün".encode())
    assert detect_media("ü".encode()[:1] + b"abc") == "text/plain; charset=utf-8"
