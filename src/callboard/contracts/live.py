"""Text in the making. A partial is not a fact: it lives outside the chain and ends in a finished or interrupted part."""

from __future__ import annotations

from typing import Literal

import msgspec

from .scope import Scope

PartialKind = Literal["text", "reasoning", "arguments", "output"]
#: `progress` is how far a tool is: each such frame takes the place of the one before, and none is kept.
FrameKind = Literal[PartialKind, "progress"]


class Cursor(msgspec.Struct, frozen=True, order=True):
    """A place in what a session shows: the newest fact's sequence, and the number of live frames since that fact."""

    sequence: int
    n: int = 0

    def __str__(self) -> str:
        return f"{self.sequence}.{self.n}"


def parse_cursor(text: str) -> Cursor | None:
    """The cursor written as `sequence.n` or `sequence`; None where the text is no cursor."""
    head, _, tail = text.partition(".")
    if not (head.isascii() and head.isdigit()) or len(head) > 18 or len(tail) > 18:
        return None
    if tail and not (tail.isascii() and tail.isdigit()):
        return None
    return Cursor(int(head), int(tail or 0))


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a part in the making. `offset` counts the characters of the part before this piece.

    The part is the step of the scope (and the tool call, for arguments and output). `tool` names the tool while the
    arguments of a call are still being written. Progress has offset 0, its words in `text`, and how far it is: `done` of
    `total`, which is None where nobody knows of how much.
    """

    kind: FrameKind
    scope: Scope
    offset: int
    text: str
    tool: str = ""
    done: float | None = None
    total: float | None = None


class Partial(msgspec.Struct, frozen=True, kw_only=True):
    """A part in the making as far as it was kept: what a viewer who comes late gets first, and what recovery records. Progress
    is never one."""

    kind: FrameKind
    scope: Scope
    text: str
    tool: str = ""


def partial_key(kind: FrameKind, scope: Scope) -> str:
    """The key of a partial within its session."""
    return f"{scope.run}.{scope.step}.{kind}"
