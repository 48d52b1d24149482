"""Identifiers: opaque, sortable by time, minted from values that come in from outside."""

from __future__ import annotations

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
}

IdKind = Literal[
    "workspace", "session", "thread", "turn", "run", "call", "action", "command", "steer", "rule", "runtime"
]

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#: How many base-62 digits hold 128 bits.
_LENGTH = 22


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


def is_workspace_stream(stream: str) -> bool:
    """True where the stream holds a workspace's facts, False where it holds a session's."""
    return stream.startswith("wks_")
