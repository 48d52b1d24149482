"""Clients of models that send a growing conversation and read the streamed answer.

`of(name, format, base_url)` creates one. A peer's library is imported only then.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

OURS = "callboard"
#: The bytes of the conversation over a socket, without a client.
BARE = "bare"
#: The peers by module: name, required library, and measured formats.
CALLERS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "openai_agents": ("OpenAI Agents model", "agents", ("openai-compatible", "openai")),
    "agno": ("Agno model", "agno", ("openai-compatible", "openai")),
    "langchain": ("LangChain model, as LangGraph uses it", "langchain_openai", ("openai-compatible", "openai")),
}


class Caller(Protocol):
    """A client of a model with one conversation."""

    def load(self, turns: int) -> None:
        """Build a conversation of `turns` turns: a question, a tool call, its result and an answer."""
        ...

    async def call(self) -> None:
        """Add a question, send the whole conversation, read the answer to its end, and add it."""
        ...

    async def close(self) -> None: ...


def of(name: str, format: str, base_url: str) -> Caller:
    """Return a peer, `callboard` itself, or `bare`."""
    caller: Caller = import_module(f"bench.callers.{name}").Caller(format, base_url)
    return caller


def peers_for(format: str) -> list[str]:
    """Return the names of the peers that are installed and measured in this format."""
    return [name for name, (_, module, formats) in CALLERS.items() if format in formats and find_spec(module)]
