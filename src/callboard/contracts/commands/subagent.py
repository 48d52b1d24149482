"""Commands and tools that manage child agents.

A Struct without a session holds the arguments of an agent's tool. The command adds the session.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ..entities.team import AgentName, Globs, Isolation, Role, WorkUsage
from ..facts.turn import PermissionMode
from .base import Answer, Command, Id, Prompt, Reason, TeamToolArguments, Title, command


class SpawnArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Give an objective to a child of your own."""

    agent: Annotated[AgentName, Meta(description="The definition to make the child from: its name or an alias.")]
    objective: Annotated[str, Meta(min_length=1, max_length=200_000, description="What the child is to achieve.")]
    title: Annotated[Title, Meta(description="A few words for the board.")] = ""
    role: Role | None = None
    isolation: Annotated[
        Isolation | None,
        Meta(description="shared: your folder, within work_globs; read_only; worktree: a git worktree that you merge."),
    ] = None
    work_globs: Annotated[Globs, Meta(description="Where it may write, such as docs/**; empty for everywhere.")] = ()
    review: Annotated[
        bool, Meta(description="Its work waits for a verdict (submit_verdict) before it is complete.")
    ] = False
    permission_mode: Annotated[PermissionMode | None, Meta(description="Never wider than your own.")] = None
    reason: Reason = ""


class ChildSpawned(Answer, frozen=True, kw_only=True):
    """The child. `queue_reason` says why it waits, where it does; `position` counts from 1."""

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

    The child starts at once or waits for a slot. `thread_id` is the parent's thread; it defaults to the lead's.
    """

    session_id: Id
    thread_id: Id | None = None


class ChildInputArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Send more input to a child of yours."""

    agent: Annotated[AgentName, Meta(description="The child's id.")]
    text: Prompt


class ChildInputAccepted(Answer, frozen=True, kw_only=True):
    """What became of the input: `started` at once, or `queued` behind what runs or for a slot."""

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
        tuple[AgentName, ...], Meta(description="Their ids; empty for all whose result you do not have yet.")
    ] = ()
    mode: Annotated[Literal["any", "all"], Meta(description="Whether one that ends is enough.")] = "all"
    timeout_s: Annotated[int, Meta(ge=1, le=86_400, description="What is there by then is returned.")] | None = None


class ChildResults(Answer, frozen=True, kw_only=True):
    """The children that ended, and those that have not."""

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
    """How a child stands. `result` is the head of its answer; the whole is in its transcript, `thread_id`. `note` says what the
    status leaves open, such as a result in plain text that was not finalized."""

    agent_id: str
    thread_id: str
    task_id: str
    status: str
    result: str = ""
    usage: WorkUsage = WorkUsage()
    note: str = ""


class CloseArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Stop a child of yours and release what it holds."""

    agent: Annotated[AgentName, Meta(description="The child's id.")]
    reason: Reason = ""


class ChildChanged(Answer, frozen=True, kw_only=True):
    """The child after the command. Where something still has to stop, `status` is what it is until then."""

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
    """Take over what a child of yours did in its worktree."""

    agent: Annotated[AgentName, Meta(description="The child's id.")]


class ListChildrenArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Your children and how they stand."""


class SubagentGraph(Answer, frozen=True, kw_only=True):
    session_id: str
    agents: tuple[GraphAgent, ...]
    sequence: int


@command("list_subagents", SubagentGraph, authority="anyone", query=True)
class ListSubagents(Command, frozen=True, kw_only=True):
    """List the agents of a session: parents, children and the state of each child."""

    session_id: Id
    thread_id: Annotated[Id | None, Meta(description="Only the children of this thread.")] = None


class GraphAgent(Answer, frozen=True, kw_only=True):
    """An agent that is not closed. `child` is set for one that works for `parent_thread_id`; `run_id` is what it runs now."""

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
