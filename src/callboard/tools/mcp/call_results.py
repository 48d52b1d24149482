"""Outcomes of calls to a server."""

from __future__ import annotations

import base64
import binascii
from typing import Any, cast

import msgspec
from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from callboard.contracts.content import Blob, BlobRef, make_blob
from callboard.contracts.ports.tools import ToolOutcome

from ..files.paths import display

#: Image types that every provider accepts, and their maximum size in bytes.
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MAX_PICTURE_BYTES = 5 * 1024 * 1024
FAILED = "The tool reported an error."


def to_outcome(result: CallToolResult) -> ToolOutcome:
    """Convert a result to an outcome. The text describes images that cannot be shown."""
    texts: list[str] = []
    images: list[BlobRef] = []
    blobs: list[Blob] = []
    for block in result.content:
        if isinstance(block, ImageContent):
            picture = decode_picture(block.data, block.mime_type)
            if isinstance(picture, Blob):
                images.append(picture.ref)
                blobs.append(picture)
            else:
                texts.append(picture)
        else:
            texts.append(_to_text(block))
    data = result.structured_content
    plain = [block.text for block in result.content if isinstance(block, TextContent)]
    if data is not None and not _is_repeated(data, plain):
        texts.append(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())
    text = "\n\n".join(filter(None, texts))
    if result.is_error:
        return ToolOutcome(output=text, code="tool_failed", message=FAILED, images=tuple(images), blobs=tuple(blobs))
    return ToolOutcome(output=text or "[done]", images=tuple(images), blobs=tuple(blobs))


def _to_text(block: ContentBlock) -> str:
    match block:
        case TextContent(text=text):
            return text
        case ResourceLink():
            more = f": {display(block.description, 500)}" if block.description else ""
            return f"[resource {display(block.name, 200)} at {display(str(block.uri), 1000)}{more}]"
        case EmbeddedResource(resource=resource):
            uri = display(str(resource.uri), 1000)
            if isinstance(resource, TextResourceContents):
                return f"[resource {uri}]\n{resource.text}"
            return f"[resource {uri}: {resource.mime_type or 'unknown type'}, {len(resource.blob) * 3 // 4:,} bytes]"
        case AudioContent():
            return f"[audio, {display(block.mime_type, 60)}, {len(block.data) * 3 // 4:,} bytes]"
        case _:
            return "[content of an unknown kind]"


def decode_picture(data: str, media: str) -> Blob | str:
    """Decode a picture from Base64; return a note for the model if it cannot be shown."""
    if media not in PICTURES:
        return f"[image of the type {display(media, 60)}, which cannot be shown]"
    if len(data) > MAX_PICTURE_BYTES * 4 // 3 + 4:
        return f"[image of {len(data) * 3 // 4:,} bytes, too large to show]"
    try:
        return make_blob(base64.b64decode(data, validate=True), media)
    except binascii.Error:
        return "[invalid image]"


def _is_repeated(data: Any, texts: list[str]) -> bool:
    """Return True if the texts repeat the data, as servers do for clients that read only text.

    Some wrap a value in an object of one field, or send each item of a list as a text.
    """
    values = [data]
    if isinstance(data, dict) and len(cast("dict[str, Any]", data)) == 1:
        values += cast("dict[str, Any]", data).values()
    for value in values:
        items = cast("list[Any]", value) if isinstance(value, list) else [None]
        if any(_is_equal(value, text) for text in texts):
            return True
        if texts and isinstance(value, list) and len(items) == len(texts) and all(map(_is_equal, items, texts)):
            return True
    return False


def _is_equal(data: Any, text: str) -> bool:
    """Return True if the text is the data or its JSON."""
    if data == text:
        return True
    try:
        return bool(msgspec.json.decode(text) == data)
    except (msgspec.DecodeError, RecursionError):
        return False
