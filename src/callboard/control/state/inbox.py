"""State of inboxes and channels."""

from __future__ import annotations

import msgspec


class InboxItem(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An item for an agent's next turn. `handoff` is the id of an envelope; `worker`: the item
    reports on a child; `hops`: agents in the chain since a person's input."""

    item: str
    source: str
    handoff: str = ""
    worker: bool = False
    hops: int = 0
    sequence: int = 0


class OpenChannel(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A channel between agents."""

    channel: str
    participants: tuple[str, ...]
