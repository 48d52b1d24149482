"""How large sessions are."""

from __future__ import annotations

import msgspec

from .base import Answer, Command, Declaration


class ListSizes(Command, frozen=True, kw_only=True):
    """How much room every session takes."""


class SessionSize(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`facts` are the bytes of its facts, `contents` those of the blobs that they refer to, which are so many. What sessions
    share is counted for each of them."""

    session_id: str
    facts: int
    blobs: int
    contents: int


class SizeList(Answer, frozen=True, kw_only=True):
    sizes: tuple[SessionSize, ...]


SIZE_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="list_sizes",
        command=ListSizes,
        answer=SizeList,
        serial="store",
        authority="anyone",
        query=True,
        summary="How much room every session takes.",
    ),
)
