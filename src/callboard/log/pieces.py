"""Pieces of parts in the making, gathered by part before they are kept. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import msgspec

from ..contracts.errors import Refusal
from ..contracts.live import Frame, FrameKind, PartialKind, partial_key
from ..contracts.scope import Scope


class GatheredPieces(msgspec.Struct):
    """What one part gets: `text` from `offset` on, in characters."""

    kind: FrameKind
    scope: Scope
    tool: str
    offset: int
    text: str


def gather(pieces: Sequence[Frame]) -> dict[str, GatheredPieces]:
    """The pieces by the key of their part, those of one part joined. Raises Refusal `conflict` where one does not follow."""
    parts: dict[str, GatheredPieces] = {}
    for piece in pieces:
        key = partial_key(piece.kind, piece.scope)
        part = parts.get(key)
        if part is None:
            parts[key] = GatheredPieces(piece.kind, piece.scope, piece.tool, piece.offset, piece.text)
            continue
        check_offset(key, piece.offset, part.offset + len(part.text))
        part.text += piece.text
        part.tool = piece.tool or part.tool
    return parts


def check_offset(key: str, offset: int, length: int) -> None:
    """Refuses a piece that does not begin where its part ends."""
    if offset != length:
        raise Refusal(
            "conflict",
            f"A piece of {key} begins at character {offset}; the part has {length}.",
            hint="Send the pieces of a part in order, each once.",
        )


def keys_of(scope: Scope) -> tuple[str, ...]:
    """The keys that parts in the making of this scope may have."""
    return tuple(partial_key(kind, scope) for kind in get_args(PartialKind))
