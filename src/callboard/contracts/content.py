"""Text that fits a fact. Past 8 KB the text becomes a content-addressed blob and the fact keeps a preview and a ref."""

from __future__ import annotations

import hashlib
from typing import Any, cast

import msgspec

#: The largest text, in UTF-8 bytes, that stands inside a fact.
LARGEST_INLINE = 8 * 1024
#: How much of a larger text stays visible in the fact, in characters from the head and as many from the tail.
PREVIEW = 1024


class BlobRef(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Where large content is: `hash` is the SHA-256 of the bytes in hex, `size` is in bytes."""

    hash: str
    size: int
    media: str = "text/plain; charset=utf-8"


class Text(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A text of any length. Without `ref`, `text` is all of it; with `ref`, `text` is the head of what the blob holds and
    `tail` its end.

    `erased` is set in rows only: the fact that held the text was erased.
    """

    text: str = ""
    ref: BlobRef | None = None
    erased: bool = False
    tail: str = ""


class Blob(msgspec.Struct, frozen=True):
    """Bytes on their way to the blob store, with the ref that names them."""

    ref: BlobRef
    data: bytes


def blob_of(data: bytes, media: str = "text/plain; charset=utf-8") -> Blob:
    """The blob of these bytes; the same bytes always give the same ref."""
    return Blob(ref=BlobRef(hash=hashlib.sha256(data).hexdigest(), size=len(data), media=media), data=data)


def valid_text(text: str) -> str:
    """Return the text with U+FFFD for each half of a surrogate pair, which no encoding has; two halves in a row are joined."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def valid_texts(value: Any) -> Any:
    """Return a value of JSON with each text in it, names of fields too, as `valid_text` returns it. Raises RecursionError."""
    match value:
        case str():
            return valid_text(value)
        case list():
            return [valid_texts(one) for one in cast("list[Any]", value)]
        case dict():
            return {valid_text(key): valid_texts(one) for key, one in cast("dict[str, Any]", value).items()}
        case _:
            return value


def fit(text: str) -> tuple[Text, tuple[Blob, ...]]:
    """The text as a fact may hold it, and the blobs that must be stored with that fact (none or one)."""
    if len(text) <= LARGEST_INLINE // 4:
        return Text(text=text), ()
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= LARGEST_INLINE:
        return Text(text=text), ()
    blob = blob_of(data)
    return Text(text=text[:PREVIEW], ref=blob.ref, tail=text[-PREVIEW:]), (blob,)
