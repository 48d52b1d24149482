"""Identifiers: opaque, sortable by time, minted from values that come in from outside."""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
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
    "evidence": "evd",
    "artifact": "art",
    "export": "exp",
    "process": "prc",
    "upload": "upl",
    "job": "job",
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
    "evidence",
    "artifact",
    "export",
    "process",
    "upload",
    "job",
]

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#: How many base-62 digits hold 128 bits.
_LENGTH = 22
#: The size of an id where it is packed.
ID_BYTES = 17
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_TO_BASE64 = bytes.maketrans(_DIGITS.encode(), _BASE64)
_FROM_BASE64 = bytes.maketrans(_BASE64, _DIGITS.encode())
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
    """An id of that kind in 17 bytes: its digits with six bits each. Any other text as it is."""
    digits = text[4:]
    if text[:4] != f"{PREFIXES[kind]}_" or len(digits) != _LENGTH or not (digits.isascii() and digits.isalnum()):
        return text
    return a2b_base64(b"AA" + digits.encode().translate(_TO_BASE64))[1:]


@lru_cache(_REMEMBERED)
def unpack(kind: IdKind, packed: bytes) -> str:
    """The id of that kind that `pack` made these 17 bytes of."""
    digits = b2a_base64(b"\0" + packed, newline=False)[2:].translate(_FROM_BASE64)
    return f"{PREFIXES[kind]}_{digits.decode()}"


def is_workspace_stream(stream: str) -> bool:
    """True where the stream holds a workspace's facts, False where it holds a session's."""
    return stream.startswith("wks_")
