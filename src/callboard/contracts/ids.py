"""Identifiers: opaque, sortable by time, and created from outside values."""

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
#: All pairs of digits, by their number. Four digits at a time need a third of the divisions, most of them of small numbers.
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]
#: Number of base-62 digits of 128 bits.
_LENGTH = 22
#: Size of a packed id, in bytes.
ID_BYTES = 17
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_TO_BASE64 = bytes.maketrans(_DIGITS.encode(), _BASE64)
_FROM_BASE64 = bytes.maketrans(_BASE64, _DIGITS.encode())
#: Number of cached ids. The ids of running turns are packed often.
_REMEMBERED = 4096


class Ids(Protocol):
    """Source of new ids. Deciders receive one, so they need no randomness."""

    def new(self, kind: IdKind) -> str:
        """Return a new, unique id of that kind."""
        ...


def render(kind: IdKind, number: int) -> str:
    """Return the id of a 128-bit number: `trn_` and 22 base-62 digits. Ids sort bytewise like their numbers."""
    digits = ""
    for _ in range(_LENGTH // 4):
        number, four = divmod(number, 62**4)
        digits = f"{_PAIRS[four // 62**2]}{_PAIRS[four % 62**2]}{digits}"
    return f"{PREFIXES[kind]}_{_PAIRS[number]}{digits}"


@lru_cache(_REMEMBERED)
def pack(kind: IdKind, text: str) -> bytes | str:
    """Return an id of that kind in 17 bytes, six bits per digit; any other text is unchanged."""
    digits = text[4:]
    if text[:4] != f"{PREFIXES[kind]}_" or len(digits) != _LENGTH or not (digits.isascii() and digits.isalnum()):
        return text
    return a2b_base64(b"AA" + digits.encode().translate(_TO_BASE64))[1:]


@lru_cache(_REMEMBERED)
def unpack(kind: IdKind, packed: bytes) -> str:
    """Return the id of that kind from its 17 packed bytes."""
    digits = b2a_base64(b"\0" + packed, newline=False)[2:].translate(_FROM_BASE64)
    return f"{PREFIXES[kind]}_{digits.decode()}"


def is_workspace_stream(stream: str) -> bool:
    """Return True for the stream of a workspace, False for the stream of a session."""
    return stream.startswith("wks_")
