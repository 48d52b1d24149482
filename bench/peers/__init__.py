"""Other systems, each in its durable configuration on SQLite, doing the same turn as ours.

Each module has a class `Peer`; `of(name)` makes one. Its model answers at once: first with a tool call, after the tool's
result with a text. It is given the whole conversation, as any model is. Nothing of a peer is imported before it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol

#: The modules, the names that people know, and the packages whose versions are told.
PEERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "langgraph": ("LangGraph AsyncSqliteSaver", ("langgraph", "langgraph-checkpoint-sqlite")),
    "openai_agents": ("OpenAI Agents SQLiteSession", ("openai-agents",)),
    "agno": ("Agno SqliteDb", ("agno",)),
    "adk": ("Google ADK SqliteSessionService", ("google-adk",)),
}


#: Callboard with its own tools behind the gate, and with a plain function as its tool.
OURS = {"callboard": "Peer", "callboard_plain": "PlainPeer"}


class Turning(Protocol):
    """A system that takes turns. Sessions are made by the first turn that names them."""

    async def open(self, folder: Path) -> None:
        """Opens the store in the folder."""
        ...

    async def turn(self, session: str) -> None:
        """One turn of the conversation, durable when it returns."""
        ...

    async def close(self) -> None: ...


def of(name: str) -> Turning:
    """A peer, or `callboard` itself."""
    if name in OURS:
        turning: Turning = getattr(import_module("bench.board"), OURS[name])()
    else:
        turning = import_module(f"bench.peers.{name}").Peer()
    return turning


def installed(name: str) -> dict[str, str]:
    """The versions of a peer's packages; empty where one is missing."""
    try:
        return {package: version(package) for package in PEERS[name][1]}
    except PackageNotFoundError:
        return {}
