"""Identifiers: opaque, sortable by time, minted from values that come in from outside."""

from __future__ import annotations

from typing import Literal, Protocol

type_prefixes: dict[str, str] = {
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

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class Ids(Protocol):
    """A source of fresh identifiers. Deciders get one so that they stay free of randomness."""

    def new(self, kind: IdKind) -> str:
        """A fresh id of that kind, never given before."""
        ...


def render(kind: IdKind, number: int) -> str:
    """The text of a 128-bit number as an id: `trn_` and 26 lower-case base32 digits, so ids sort like their numbers."""
    digits: list[str] = []
    for _ in range(26):
        digits.append(_ALPHABET[number & 31])
        number >>= 5
    return f"{type_prefixes[kind]}_{''.join(reversed(digits))}"


def workspace_stream(workspace_id: str) -> str:
    """The log stream of a workspace: its id."""
    return workspace_id


def session_stream(session_id: str) -> str:
    """The log stream of a session: its id."""
    return session_id


def is_workspace_stream(stream: str) -> bool:
    """True where the stream holds a workspace's facts, False where it holds a session's."""
    return stream.startswith("wks_")
