"""Texts of facts: a text above 8 KB is a content-addressed blob, with a preview and a ref in the fact."""

from __future__ import annotations

import hashlib
from typing import Any, cast

import msgspec

#: Maximum size of a text inside a fact, in bytes of UTF-8.
MAX_INLINE_BYTES = 8 * 1024
#: Characters of a larger text in the fact, from its head and from its tail.
PREVIEW = 1024


class BlobRef(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A reference to a blob: `hash` is the SHA-256 of its bytes in hex, `size` is in bytes."""

    hash: str
    size: int
    media: str = "text/plain; charset=utf-8"


class Text(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A text of any length.

    Without `ref`, `text` is complete. With `ref`, `text` is the head of the blob and `tail` its
    end.

    `erased` is set in rows only: the fact with the text was erased.
    """

    text: str = ""
    ref: BlobRef | None = None
    erased: bool = False
    tail: str = ""


class Blob(msgspec.Struct, frozen=True, gc=False):
    """Bytes for the blob store, with their ref."""

    ref: BlobRef
    data: bytes


def make_blob(data: bytes, media: str = "text/plain; charset=utf-8") -> Blob:
    """Return the blob of these bytes. Equal bytes have equal refs."""
    return Blob(ref=BlobRef(hash=hashlib.sha256(data).hexdigest(), size=len(data), media=media), data=data)


def repair_text(text: str) -> str:
    """Return the text without surrogates, which no encoding accepts: join pairs, and replace others by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def repair_texts(value: Any) -> Any:
    """Return a JSON value with `repair_text` applied to each text and field name.

    Raises:
        RecursionError: The value is nested too deeply.
    """
    match value:
        case str():
            return repair_text(value)
        case list():
            return [repair_texts(item) for item in cast("list[Any]", value)]
        case dict():
            return {repair_text(key): repair_texts(item) for key, item in cast("dict[str, Any]", value).items()}
        case _:
            return value


def fit_text(text: str) -> tuple[Text, tuple[Blob, ...]]:
    """Return the text as a fact stores it, with the blobs to store with the fact (none or one)."""
    if len(text) <= MAX_INLINE_BYTES // 4:
        return Text(text=text), ()
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= MAX_INLINE_BYTES:
        return Text(text=text), ()
    blob = make_blob(data)
    return Text(text=text[:PREVIEW], ref=blob.ref, tail=text[-PREVIEW:]), (blob,)
