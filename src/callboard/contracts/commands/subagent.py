"""Commands and tools that manage child agents.

`…Arguments` are the arguments of an agent's tool. The command adds the session.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ..entities.team import AgentName, Globs, Isolation, Role, WorkUsage
from ..facts.turn import PermissionMode
from .base import Answer, Command, Id, Prompt, Reason, TeamToolArguments, Title, command


class SpawnArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Start a child agent on an objective."""

    agent: Annotated[AgentName, Meta(description="Definition of the child: its name or alias.")]
    objective: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=200_000,
            description="Complete objective. The child does not see your conversation.",
        ),
    ]
    title: Annotated[Title, Meta(description="Short title for the board.")] = ""
    role: Role | None = None
    isolation: Annotated[
        Isolation | None,
        Meta(
            description="shared: works in your folder, within work_globs. read_only: writes nothing. "
            "worktree: works in a git worktree that you merge."
        ),
    ] = None
    work_globs: Annotated[
        Globs, Meta(description="Globs of files that it may write, such as docs/**. Default: all.")
    ] = ()
    review: Annotated[bool, Meta(description="Complete its work only after a verdict (submit_verdict).")] = False
    permission_mode: Annotated[PermissionMode | None, Meta(description="At most your own mode.")] = None
    reason: Reason = ""


class ChildSpawned(Answer, frozen=True, kw_only=True):
    """The child. `queue_reason` is why it waits for a slot, at `position` (from 1)."""

    session_id: str
    agent_id: str
    thread_id: str
    task_id: str
    status: Literal["running", "queued"]
    queue_reason: str = ""
    position: int = 0
    sequence: int


@command("spawn_subagent", ChildSpawned)
class SpawnSubagent(SpawnArguments, Command, frozen=True, kw_only=True):
    """Create a child agent with parent links and isolation.

    The child starts immediately or waits for a slot. `thread_id` is the parent's thread; it defaults to the lead's.
    """

    session_id: Id
    thread_id: Id | None = None


class ChildInputArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Send more input to a child of yours."""

    agent: Annotated[AgentName, Meta(description="The child's id.")]
    text: Prompt


class ChildInputAccepted(Answer, frozen=True, kw_only=True):
    """The input `started` a turn, or is `queued` after the running turn or for a slot."""

    session_id: str
    agent_id: str
    thread_id: str
    turn_id: str
    status: Literal["started", "queued"]
    sequence: int


@command("send_subagent_input", ChildInputAccepted)
class SendSubagentInput(ChildInputArguments, Command, frozen=True, kw_only=True):
    """Send text to a child.

    An ended child continues with the text as further work.
    """

    session_id: Id


class WaitArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Wait for children of yours."""

    agents: Annotated[
        tuple[AgentName, ...], Meta(description="Ids of the children. Default: all without a received result.")
    ] = ()
    mode: Annotated[Literal["any", "all"], Meta(description="Return when any child ended, or when all did.")] = "all"
    timeout_s: (
        Annotated[int, Meta(ge=1, le=86_400, description="Return the results so far after this time.")] | None
    ) = None


class ChildResults(Answer, frozen=True, kw_only=True):
    """The ended and the pending children."""

    session_id: str
    ended: tuple[ChildResult, ...]
    pending: tuple[ChildResult, ...]
    timed_out: bool
    sequence: int


@command("wait_subagents", ChildResults, authority="anyone", query=True, waits=True)
class WaitSubagents(WaitArguments, Command, frozen=True, kw_only=True):
    """Wait for children.

    The answer holds the results so far when one child fails or the time is up.
    """

    session_id: Id
    thread_id: Id | None = None


class ChildResult(Answer, frozen=True, kw_only=True):
    """A child.

    `result` is the head of its answer; its thread has the whole. `note` explains the status, such
    as a result in plain text that was not finalized.
    """

    agent_id: str
    thread_id: str
    task_id: str
    status: str
    result: str = ""
    usage: WorkUsage = WorkUsage()
    note: str = ""


class CloseArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Stop a child of yours."""

    agent: Annotated[AgentName, Meta(description="The child's id.")]
    reason: Reason = ""


class ChildChanged(Answer, frozen=True, kw_only=True):
    """The child with its new status. While it stops, it has its former one."""

    session_id: str
    agent_id: str
    status: str
    sequence: int


@command("close_subagent", ChildChanged)
class CloseSubagent(CloseArguments, Command, frozen=True, kw_only=True):
    """Stop a child permanently and release its resources.

    Its transcript stays.
    """

    session_id: Id


@command("cancel_subagent", ChildChanged)
class CancelSubagent(CloseArguments, Command, frozen=True, kw_only=True):
    """Cancel the work of a child.

    The child stays and can receive more work.
    """

    session_id: Id


class MergeArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Merge the worktree of a child of yours."""

    agent: Annotated[AgentName, Meta(description="The child's id.")]


class ListChildrenArguments(TeamToolArguments, frozen=True, kw_only=True):
    """List your children."""


class SubagentGraph(Answer, frozen=True, kw_only=True):
    """The open agents of the session."""

    session_id: str
    agents: tuple[GraphAgent, ...]
    sequence: int


@command("list_subagents", SubagentGraph, authority="anyone", query=True)
class ListSubagents(Command, frozen=True, kw_only=True):
    """List the agents of a session: parents, children and the state of each child."""

    session_id: Id
    thread_id: Annotated[Id | None, Meta(description="Only the children of this thread.")] = None


class GraphAgent(Answer, frozen=True, kw_only=True):
    """An open agent. `child` is set for a child of `parent_thread_id`. `run_id` is its running run."""

    agent_id: str
    thread_id: str
    agent_kind: str
    parent_thread_id: str = ""
    parent_run_id: str = ""
    run_id: str = ""
    queued: int = 0
    paused: str = ""
    queue_reason: str = ""
    child: ChildResult | None = None
