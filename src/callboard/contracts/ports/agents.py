"""Who takes part: what is known of an agent before it works."""

from __future__ import annotations

from typing import Protocol

import msgspec

from ..facts.thread import AgentKind
from .tools import Policy


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """An agent as its Markdown file defines it. `hash` is the SHA-256 of the file's bytes, in hex; `prompt` is its body.

    `tools` is the list of tool names, `("*",)` for all; `model` is empty where the agent takes whatever is configured.
    """

    name: str
    description: str
    kind: AgentKind
    prompt: str
    hash: str
    model: str = ""
    tools: tuple[str, ...] = ()
    policy: tuple[Policy, ...] = ()
    max_iters: int = 50


class Definitions(Protocol):
    """The agents of a workspace."""

    def lead(self, folder: str) -> Definition:
        """The agent that a new session in this folder starts with."""
        ...

    def get(self, folder: str, name: str) -> Definition:
        """The agent of that name. Raises Refusal `unknown_agent`."""
        ...
