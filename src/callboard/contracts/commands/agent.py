"""Commands and tools that add agents and edges to a session."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..entities.team import AgentName, Edge, EdgeDirection, EdgeKind, Globs, Policy
from ..facts.session import AgentKind
from ..facts.turn import PermissionMode
from .base import Answer, Command, Id, Reason, TeamToolArguments, command


class AgentAdded(Answer, frozen=True, kw_only=True):
    """The agent's thread. `added` is False if the agent was in the session before."""

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
    """The agents.

    `problems` is the number of invalid agent files; `callboard agents` explains them.
    """

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
    """A definition.

    `file` is its path in the folder, empty for an agent without a file. `added`: the agent takes
    part in the session.
    """

    name: str
    kind: AgentKind
    description: str
    file: str
    added: bool


Name = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9_-]{0,39}$", description="Lower-case letters, digits, - and _.")]
Line = Annotated[str, Meta(pattern="^[^\\x00-\\x1f]*$", max_length=1000)]


class DefineAgentArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Create an agent for this session. It never has more permissions than you."""

    name: Name
    description: Annotated[Line, Meta(description="When to use the agent, in one line.")] = ""
    prompt: Annotated[str, Meta(min_length=1, max_length=8000, description="System prompt of the agent.")]
    kind: Annotated[
        Literal["subagent", "main"],
        Meta(description="subagent: works for one parent. main: receives messages of others."),
    ] = "subagent"
    tools: Annotated[
        tuple[AgentName, ...], Meta(description='Names of your tools that it may use; ["*"] for all.')
    ] = ()
    policy: tuple[Policy, ...] = ()
    model: Annotated[Line, Meta(description="Model of the agent. Default: the configured model.")] = ""
    work_globs: Annotated[Globs, Meta(description="Globs of files that it may write. Default: yours.")] = ()
    permission_mode: Annotated[PermissionMode | None, Meta(description="At most your own mode.")] = None
    reason: Reason = ""


class AgentCreated(Answer, frozen=True, kw_only=True):
    """The new agent. `work_globs` and `permission_mode` include the limits of its creator."""

    session_id: str
    agent: str
    kind: Literal["subagent", "main"]
    work_globs: tuple[str, ...] = ()
    permission_mode: PermissionMode | None = None
    sequence: int


class AddEdgeArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Add an edge to this session."""

    source: Annotated[AgentName | None, Meta(description="Agent at the start of the edge. Default: you.")] = None
    to: AgentName
    direction: EdgeDirection = "to"
    kind: EdgeKind = "handoff"
    confirm: Annotated[bool, Meta(description="Handoffs over this edge require acceptance.")] = False
    ownership: Annotated[
        bool, Meta(description="Handoffs over this edge may transfer the ownership of the session.")
    ] = False
    reason: Reason = ""


class EdgeCreated(Answer, frozen=True, kw_only=True):
    """The new edge."""

    session_id: str
    source: str
    edge: Edge
    sequence: int
