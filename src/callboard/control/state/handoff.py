"""State of handoffs."""

from __future__ import annotations

import msgspec


class OpenHandoff(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An open handoff. `sender` and `receiver` are threads. `turn` is the receiver's turn that
    accepted it. `hops`: agents in the chain since a person's input."""

    handoff: str
    source: str
    target: str
    sender: str
    receiver: str
    confirm: bool = False
    ownership: bool = False
    accepted: bool = False
    resume_target: str = ""
    reply_by: int = 0
    turn: str = ""
    hops: int = 0
