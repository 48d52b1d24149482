"""Identifiers: opaque, sortable by time, minted from values that come in from outside."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, Protocol

PREFIXES: dict[str, str] = {
    "workspace": "wks",
    "session": "ses",
    "thread": "thr",
    "turn": "trn",
    "run": "run",
    "call": "cal",
    "action": "act",
    "command": "cmd",
    "steer": "str",
    "rule": "rul",
    "runtime": "rtm",
    "task": "tsk",
    "handoff": "hnd",
    "channel": "chn",
    "review": "rev",
    "item": "itm",
}

IdKind = Literal[
    "workspace",
    "session",
    "thread",
    "turn",
    "run",
    "call",
    "action",
    "command",
    "steer",
    "rule",
    "runtime",
    "task",
    "handoff",
    "channel",
    "review",
    "item",
]

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#: How many base-62 digits hold 128 bits.
_LENGTH = 22
#: The size of an id where it is packed.
ID_BYTES = 16
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
#: How many ids are remembered with their bytes: those of the turns that run now come again and again.
_REMEMBERED = 4096


class Ids(Protocol):
    """A source of fresh identifiers. Deciders get one so that they stay free of randomness."""

    def new(self, kind: IdKind) -> str:
        """A fresh id of that kind, never given before."""
        ...


def render(kind: IdKind, number: int) -> str:
    """The text of a 128-bit number as an id: `trn_` and 22 base-62 digits. Ids sort, byte by byte, like their numbers."""
    digits: list[str] = []
    for _ in range(_LENGTH):
        number, digit = divmod(number, 62)
        digits.append(_DIGITS[digit])
    return f"{PREFIXES[kind]}_{''.join(reversed(digits))}"


@lru_cache(_REMEMBERED)
def pack(kind: IdKind, text: str) -> bytes | str:
    """The 16 bytes that `render` made an id of that kind from. Any other text as it is."""
    digits = text[4:]
    if not text.startswith(PREFIXES[kind] + "_") or len(digits) != _LENGTH:
        return text
    number = 0
    for digit in digits:
        value = _VALUES.get(digit)
        if value is None:
            return text
        number = number * 62 + value
    return text if number >> 8 * ID_BYTES else number.to_bytes(ID_BYTES, "big")


@lru_cache(_REMEMBERED)
def unpack(kind: IdKind, packed: bytes) -> str:
    """The id of that kind that `pack` made these 16 bytes of."""
    return render(kind, int.from_bytes(packed, "big"))


def is_workspace_stream(stream: str) -> bool:
    """True where the stream holds a workspace's facts, False where it holds a session's."""
    return stream.startswith("wks_")
