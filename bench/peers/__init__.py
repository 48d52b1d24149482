"""Other systems in their durable configuration on SQLite, running the same turn.

Each module has a class `Peer`; `of(name)` creates one. Its model has no latency: it calls a tool, then answers with a text. It
receives the whole conversation, like any model. A peer's library is imported only when it is used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol

#: Modules, with the name of the system and the packages whose versions are reported.
PEERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "langgraph": ("LangGraph AsyncSqliteSaver", ("langgraph", "langgraph-checkpoint-sqlite")),
    "openai_agents": ("OpenAI Agents SQLiteSession", ("openai-agents",)),
    "agno": ("Agno SqliteDb", ("agno",)),
    "adk": ("Google ADK SqliteSessionService", ("google-adk",)),
}


#: Callboard with its tools behind the gate, and with a plain function as its tool.
OURS = {"callboard": "Peer", "callboard_plain": "PlainPeer"}


class Turning(Protocol):
    """A system that runs turns. The first turn that names a session creates it."""

    async def open(self, folder: Path) -> None:
        """Open the store in the folder."""
        ...

    async def turn(self, session: str) -> None:
        """Run a turn of the conversation; it is durable on return."""
        ...

    async def close(self) -> None: ...


class Scaling(Turning, Protocol):
    """A system that also runs turns of many sessions at once."""

    async def read_settings(self) -> list[str]:
        """Return the journal mode and the level of synchronous that its store applies."""
        ...


#: The peers of many sessions at once.
AT_ONCE = ("agno", "langgraph")
#: The levels of `PRAGMA synchronous`.
SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


def of(name: str) -> Turning:
    """Return a peer, or `callboard` itself."""
    if name in OURS:
        turning: Turning = getattr(import_module("bench.rigs.board"), OURS[name])()
    else:
        turning = import_module(f"bench.peers.{name}").Peer()
    return turning


def installed(name: str) -> dict[str, str]:
    """Return the versions of a peer's packages; empty if one is missing."""
    try:
        return {package: version(package) for package in PEERS[name][1]}
    except PackageNotFoundError:
        return {}
