"""The commands by which a person sees the agents of a folder and takes one into a session."""

from __future__ import annotations

import msgspec

from ..entities.team import AgentName
from ..facts.thread import AgentKind
from .base import Answer, Command
from .turns import Id, Reason


class AddAgent(Command, frozen=True, kw_only=True):
    """Take an agent of the folder into the session: it gets a thread, and one with a schedule sleeps until its time.
    Subagents are spawned instead; an agent that is there already stays as it is."""

    session_id: Id
    agent: AgentName
    reason: Reason = ""


class AgentAdded(Answer, frozen=True, kw_only=True):
    """The agent. `added` is False where it was there before."""

    session_id: str
    agent_id: str
    thread_id: str
    added: bool
    sequence: int


class ListAgents(Command, frozen=True, kw_only=True):
    """The agents that the session's folder defines, or agents of the session made for it, by name. Subagents are spawned, the
    others can be added."""

    session_id: Id


class DefinedAgent(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A definition. `file` is its path in the folder, empty where no file of it holds it; `added` says that the agent takes
    part in the session."""

    name: str
    kind: AgentKind
    description: str
    file: str
    added: bool


class AgentList(Answer, frozen=True, kw_only=True):
    """`problems` counts the files that could not be read as agents: `callboard agents` says what is wrong with them."""

    session_id: str
    agents: tuple[DefinedAgent, ...]
    problems: int
    sequence: int
