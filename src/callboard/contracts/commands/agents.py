"""The commands by which a person sees the agents of a folder and takes one into a session."""

from __future__ import annotations

import msgspec

from ..entities.team import AgentName
from ..facts.session import AgentKind
from .base import Answer, Command, command
from .turns import Id, Reason


class AgentAdded(Answer, frozen=True, kw_only=True):
    """The agent. `added` is False where it was there before."""

    session_id: str
    agent_id: str
    thread_id: str
    added: bool
    sequence: int


@command("add_agent", AgentAdded)
class AddAgent(Command, frozen=True, kw_only=True):
    """Add an agent of the folder to the session.

    The agent gets a thread. An agent with a schedule sleeps until its next time. Adding an agent of the session again
    changes nothing. Subagents are spawned instead.
    """

    session_id: Id
    agent: AgentName
    reason: Reason = ""


class AgentList(Answer, frozen=True, kw_only=True):
    """`problems` counts the files that could not be read as agents: `callboard agents` says what is wrong with them."""

    session_id: str
    agents: tuple[DefinedAgent, ...]
    problems: int
    sequence: int


@command("list_agents", AgentList, authority="anyone", query=True)
class ListAgents(Command, frozen=True, kw_only=True):
    """List the agents that the folder or the session defines, and which of them take part.

    Subagents are spawned; all others can be added.
    """

    session_id: Id


class DefinedAgent(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A definition. `file` is its path in the folder, empty where no file of it holds it; `added` says that the agent takes
    part in the session."""

    name: str
    kind: AgentKind
    description: str
    file: str
    added: bool
