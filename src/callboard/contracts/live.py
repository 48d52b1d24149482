"""Streaming text.

A partial is not a fact: it is stored outside the chain until its part is finished or interrupted.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from .scope import Scope

PartialKind = Literal["text", "reasoning", "arguments", "output"]
#: `progress` frames report a tool's progress. Each replaces the one before; none is stored.
FrameKind = Literal[PartialKind, "progress"]


class Cursor(msgspec.Struct, frozen=True, order=True, gc=False):
    """A position in a session's view: the newest fact's sequence, and the number of live frames since that fact."""

    sequence: int
    n: int = 0

    def __str__(self) -> str:
        return f"{self.sequence}.{self.n}"


def parse_cursor(text: str) -> Cursor | None:
    """Return the cursor of `sequence.n` or `sequence`; None for an invalid text."""
    head, _, tail = text.partition(".")
    if not (head.isascii() and head.isdigit()) or len(head) > 18 or len(tail) > 18:
        return None
    if tail and not (tail.isascii() and tail.isdigit()):
        return None
    return Cursor(int(head), int(tail or 0))


class Frame(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A piece of a partial. `offset` is the number of characters of the part before it.

    The scope's step identifies the part, with its tool call for arguments and output. `tool` is the
    tool whose arguments are streaming. Progress has offset 0, its message in `text`, and `done` of
    `total` (None if unknown).
    """

    kind: FrameKind
    scope: Scope
    offset: int
    text: str
    tool: str = ""
    done: float | None = None
    total: float | None = None


class Partial(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The stored text of an unfinished part, for viewers who join late and for recovery. Progress is never stored."""

    kind: FrameKind
    scope: Scope
    text: str
    tool: str = ""


def build_partial_key(kind: FrameKind, scope: Scope) -> str:
    """Return the key of a partial in its session."""
    return f"{scope.run}.{scope.step}.{kind}"
