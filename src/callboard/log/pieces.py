"""Combination of partial text by part, before it is stored. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import msgspec

from ..contracts.errors import Refusal
from ..contracts.live import Frame, FrameKind, PartialKind, build_partial_key
from ..contracts.scope import Scope


class GatheredPieces(msgspec.Struct):
    """The text of one part, from `offset` on, in characters."""

    kind: FrameKind
    scope: Scope
    tool: str
    offset: int
    text: str


def gather(pieces: Sequence[Frame]) -> dict[str, GatheredPieces]:
    """Combine pieces by the key of their part. Raises Refusal `conflict` if a piece does not follow the one before it."""
    parts: dict[str, GatheredPieces] = {}
    for piece in pieces:
        key = build_partial_key(piece.kind, piece.scope)
        part = parts.get(key)
        if part is None:
            parts[key] = GatheredPieces(piece.kind, piece.scope, piece.tool, piece.offset, piece.text)
            continue
        check_offset(key, piece.offset, part.offset + len(part.text))
        part.text += piece.text
        part.tool = piece.tool or part.tool
    return parts


def check_offset(key: str, offset: int, length: int) -> None:
    """Refuse a piece that does not start at the end of its part."""
    if offset != length:
        raise Refusal(
            "conflict",
            f"A piece of {key} starts at character {offset}, but the part has {length} characters.",
            hint="Send the pieces of a part in order, each once.",
        )


def list_keys(scope: Scope) -> tuple[str, ...]:
    """Return the possible keys of partial text with this scope."""
    return tuple(build_partial_key(kind, scope) for kind in get_args(PartialKind))
