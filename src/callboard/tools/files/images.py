"""Type and size of images from their headers. No image is decoded."""

from __future__ import annotations

import io
from typing import Any, NamedTuple, cast

#: Image types that browsers and models display, by first bytes.
_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


class Image(NamedTuple):
    """Media type, width and height of an image, in pixels."""

    media: str
    width: int
    height: int

    @property
    def description(self) -> str:
        """Type and size, for people."""
        kind = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP"}[self.media]
        return f"a {kind} image, {self.width} × {self.height} pixels"


def read_image(data: bytes) -> Image | None:
    """Return the image in these bytes; None for other or truncated data.

    A provider rejects the whole request if it cannot open an image.
    """
    image = read_image_header(data)
    return image if image is not None and _is_whole(image.media, data) else None


def read_image_header(data: bytes) -> Image | None:
    """Return the image that begins with these bytes."""
    media = "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
    media = media or next((kind for magic, kind in _KINDS if data.startswith(magic)), None)
    if media is None:
        return None
    # Import on demand: it loads slowly, and few sessions have images.
    import imagesize  # pyright: ignore[reportMissingTypeStubs]

    try:
        width, height = cast("Any", imagesize).get(io.BytesIO(data), exif_rotation=False)
    except ValueError:
        return None
    return Image(media, width, height) if width > 0 and height > 0 else None


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
