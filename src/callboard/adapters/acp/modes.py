"""Modes of known agents, ranked, and the ranks that each permission mode allows.

A mode is ranked by what the agent does in it without asking: `plan` changes nothing, `ask` asks before each change and each
command, `edits` changes files without asking, `full` runs commands without asking or lets a model decide.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from callboard.contracts.facts.turn import PermissionMode

Rank = Literal["plan", "ask", "edits", "full"]

_ORDER: tuple[Rank, ...] = ("plan", "ask", "edits", "full")
#: The ranks that each permission mode allows, the preferred one first. Asking is preferred even if more is allowed, because
#: the gate answers the agent's requests.
ALLOWED: Mapping[PermissionMode, tuple[Rank, ...]] = {
    "planning": ("plan", "ask"),
    "ask": ("ask", "plan"),
    "edits": ("ask", "edits", "plan"),
    "full": ("ask", "edits", "full", "plan"),
}


class KnownAgent(NamedTuple):
    """An agent whose modes are known.

    Attributes:
        modes: The rank of each mode by its id. Any other mode of this agent is unknown.
        asks_without_modes: The agent asks although it advertises no mode, because its environment requests it.
        missing_is_empty: A missing file must read as empty: the agent does not recognise the error.
        writes_itself: The agent writes files itself and sends a copy of each write to the client.
    """

    modes: Mapping[str, Rank]
    asks_without_modes: bool = False
    missing_is_empty: bool = False
    writes_itself: bool = False


#: Known agents by a part of the name that they report, in lower case.
_AGENTS: Mapping[str, KnownAgent] = {
    "claude": KnownAgent(
        {
            "plan": "plan",
            "default": "ask",
            "acceptEdits": "edits",
            "auto": "full",
            "dontAsk": "full",
            "bypassPermissions": "full",
        }
    ),
    "codex": KnownAgent(
        {"read-only": "ask", "workspace-write": "edits", "agent": "full", "agent-full-access": "full", "auto": "full"}
    ),
    "gemini": KnownAgent(
        {"plan": "plan", "default": "ask", "autoEdit": "edits", "yolo": "full"}, missing_is_empty=True
    ),
    # Settings decide what the mode `build` asks; `ENVIRONMENT` makes it ask.
    "opencode": KnownAgent({"plan": "plan", "build": "ask"}, asks_without_modes=True, writes_itself=True),
    "goose": KnownAgent({"chat": "plan", "approve": "ask", "smart_approve": "full", "auto": "full"}),
}
#: Modes of other agents: only the names in the protocol's documentation.
_UNKNOWN = KnownAgent({"plan": "plan", "architect": "plan", "ask": "ask"})

_ASKS = dict.fromkeys(("*", "edit", "bash", "webfetch", "websearch", "task", "external_directory"), "ask")
_OPENCODE = {**_ASKS, "todowrite": "allow", "todoread": "allow"}
_OPENCODE_AGENTS = ("build", "plan", "general", "explore")

#: Variables that make an agent ask if it has no mode for that. OpenCode merges them over the settings of the folder and the
#: user; no other known agent reads them.
ENVIRONMENT: Mapping[str, str] = {
    "OPENCODE_CONFIG_CONTENT": json.dumps(
        {
            "permission": _OPENCODE,
            "agent": {name: {"permission": _OPENCODE} for name in _OPENCODE_AGENTS},
        }
    ),
}


def find_agent(name: str) -> KnownAgent:
    """Return the properties of the agent that reports this name."""
    folded = name.casefold()
    return next((agent for part, agent in _AGENTS.items() if part in folded), _UNKNOWN)


def choose_mode(agent: KnownAgent, offered: Iterable[str], current: str, permission: PermissionMode) -> str:
    """Return the mode to work in; empty if the agent offers none that the permission mode allows.

    Args:
        offered: Ids of the modes that the agent advertises.
        current: The mode in force. It stays if it has the preferred rank.
    """
    modes = tuple(offered)
    for rank in ALLOWED[permission]:
        matching = [mode for mode in modes if agent.modes.get(mode) == rank]
        if matching:
            return current if current in matching else matching[0]
    return current if permission == "full" and current in modes else ""


def is_allowed(agent: KnownAgent, mode: str, permission: PermissionMode) -> bool:
    """Return whether the permission mode allows the agent to work in that mode. An unknown mode needs `full`."""
    rank = agent.modes.get(mode)
    return permission == "full" if rank is None else rank in ALLOWED[permission]


def is_known(agent: KnownAgent, mode: str) -> bool:
    """Return whether the rank of that mode is known."""
    return mode in agent.modes


def find_widest_rank(permission: PermissionMode) -> str:
    """Return the widest rank that the permission mode allows, as text for an error."""
    return max(ALLOWED[permission], key=_ORDER.index)
