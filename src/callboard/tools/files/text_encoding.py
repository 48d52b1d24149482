"""Encodings of text files, and names of binary kinds."""

from __future__ import annotations

import codecs
from typing import NamedTuple

_SAMPLE = 8192

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an office document, which is one)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "XZ data"),
    (b"(\xb5/\xfd", "Zstandard data"),
    (b"\x7fELF", "an ELF program or library"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x00asm", "a WebAssembly module"),
    (b"OggS", "an Ogg file"),
    (b"ID3", "an MP3 file"),
    (b"RIFF", "a RIFF file (WAV, AVI or WebP)"),
)

_UTF16 = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class DecodedText(NamedTuple):
    """Text of a file. `encoding` is a Python codec, `mark` the byte order mark."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Encode another text as in this file. Raises UnicodeEncodeError for a missing character."""
        return self.mark + text.encode(self.encoding)


def decode(data: bytes) -> DecodedText | None:
    """Decode UTF-8, UTF-16 with a byte order mark, or Latin-1. Return None for binary data."""
    for mark, encoding in _UTF16:
        if data.startswith(mark):
            try:
                return DecodedText(data[len(mark) :].decode(encoding), encoding, mark)
            except UnicodeDecodeError:
                return None
    if detect_kind(data) or b"\0" in data[:_SAMPLE]:
        return None
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        return DecodedText(data[len(mark) :].decode(), "utf-8", mark)
    except UnicodeDecodeError:
        return DecodedText(data.decode("latin-1"), "latin-1") if _is_mostly_printable(data) else None


def detect_kind(data: bytes) -> str:
    """Return the kind of a binary file by its first bytes; empty if unknown."""
    return next((kind for magic, kind in _MAGIC if data.startswith(magic) and b"\0" in data[:_SAMPLE]), "")


def describe_kind(data: bytes) -> str:
    """Return a name for binary data."""
    return detect_kind(data) or "binary data"


def format_size(count: int) -> str:
    """Format a number of bytes for people."""
    return f"{count:,} byte{'' if count == 1 else 's'}"


def _is_mostly_printable(data: bytes) -> bool:
    head = data[:_SAMPLE]
    unprintable = sum((byte < 32 and byte not in b"\t\n\r\f\x1b") or 0x7F <= byte < 0xA0 for byte in head)
    return unprintable * 20 <= len(head)
