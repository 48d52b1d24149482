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


Name = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9_-]{0,39}$", description="Small letters, digits, - and _.")]
Line = Annotated[str, Meta(pattern="^[^\\x00-\\x1f]*$", max_length=1000)]


class DefineAgentArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Make an agent for this session that no file defines. It is never allowed more than you are."""

    name: Name
    description: Annotated[Line, Meta(description="One line: what to call it for.")] = ""
    prompt: Annotated[str, Meta(min_length=1, max_length=8000, description="What it is told of who it is.")]
    kind: Annotated[
        Literal["subagent", "main"], Meta(description="subagent: works for one parent; main: others can write to it.")
    ] = "subagent"
    tools: Annotated[tuple[AgentName, ...], Meta(description='Names of tools of yours; ["*"] for all.')] = ()
    policy: tuple[Policy, ...] = ()
    model: Annotated[Line, Meta(description="Empty for the one that is configured.")] = ""
    work_globs: Annotated[Globs, Meta(description="Where it may write; empty for wherever you may.")] = ()
    permission_mode: Annotated[PermissionMode | None, Meta(description="Never wider than your own.")] = None
    reason: Reason = ""


class AgentCreated(Answer, frozen=True, kw_only=True):
    """The agent that was made. `work_globs` and `permission_mode` are what holds it, by its maker's bounds as well."""

    session_id: str
    agent: str
    kind: Literal["subagent", "main"]
    work_globs: tuple[str, ...] = ()
    permission_mode: PermissionMode | None = None
    sequence: int


class AddEdgeArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Make an edge for this session that no file names."""

    source: Annotated[AgentName | None, Meta(description="From whom; from you, if left out.")] = None
    to: AgentName
    direction: EdgeDirection = "to"
    kind: EdgeKind = "handoff"
    confirm: Annotated[bool, Meta(description="Each handoff over it waits until it is accepted.")] = False
    ownership: Annotated[bool, Meta(description="A handoff over it may move the objective to the receiver.")] = False
    reason: Reason = ""


class EdgeCreated(Answer, frozen=True, kw_only=True):
    """The edge that was made."""

    session_id: str
    source: str
    edge: Edge
    sequence: int
