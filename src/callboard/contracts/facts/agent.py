"""Facts of agents that are programs of their own: whether one is there, and under which name it knows the conversation."""

from __future__ import annotations

from typing import ClassVar

from ..scope import ScopeKey
from .base import Fact

_THREAD: tuple[ScopeKey, ...] = ("agent", "thread")


class AgentConnected(Fact, frozen=True, kw_only=True):
    """The agent was started and holds a conversation, `provider_session_id` by its own name. `resumed` says that it goes on
    with an earlier one of this thread; else it remembers nothing."""

    type: ClassVar[str] = "agent.connected"
    needs: ClassVar[tuple[ScopeKey, ...]] = _THREAD
    provider_session_id: str
    name: str
    version: str = ""
    resumed: bool = False


class AgentDisconnected(Fact, frozen=True, kw_only=True):
    """The agent is gone: it was ended, or it ended. What it knew is found again under `provider_session_id`, where it can."""

    type: ClassVar[str] = "agent.disconnected"
    needs: ClassVar[tuple[ScopeKey, ...]] = _THREAD
    provider_session_id: str
    reason: str = ""


AgentFact = AgentConnected | AgentDisconnected
