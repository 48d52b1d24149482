"""How large sessions are."""

from __future__ import annotations

import msgspec

from .base import Answer, Command, command


class SizeList(Answer, frozen=True, kw_only=True):
    sizes: tuple[SessionSize, ...]


@command("list_sizes", SizeList, serial="store", authority="anyone", query=True)
class ListSizes(Command, frozen=True, kw_only=True):
    """List the disk space that each session uses."""


class SessionSize(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`facts` are the bytes of its facts, `contents` those of the blobs that they refer to, which are so many. What sessions
    share is counted for each of them."""

    session_id: str
    facts: int
    blobs: int
    contents: int
