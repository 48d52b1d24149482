"""Requests of a team. Each is an agent's tool and a person's command: the same fields, declared once.

A struct without a session is what an agent's tool takes; the command adds the session and on whose behalf a person asks.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ..entities.arguments import Arguments
from ..entities.handoff_payload import Expectation, HandoffStatus
from ..entities.team import AgentName, Globs, Isolation, Ref, Role, TaskStatus, Verdict, WorkUsage
from ..facts.task import Fix, Priority
from ..facts.turn import PermissionMode
from .base import Answer, Command, command
from .turns import Id, Prompt, Reason

Title = Annotated[str, Meta(max_length=200)]


class Asked(Arguments, frozen=True, kw_only=True, rename="camel"):
    """What an agent asks of its team."""


class Spawn(Asked, frozen=True, kw_only=True):
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


class Spawned(Answer, frozen=True, kw_only=True):
    """The child. `queue_reason` says why it waits, where it does; `position` counts from 1."""

    session_id: str
    agent_id: str
    thread_id: str
    task_id: str
    status: Literal["running", "queued"]
    queue_reason: str = ""
    position: int = 0
    sequence: int


@command("spawn_subagent", Spawned)
class SpawnSubagent(Spawn, Command, frozen=True, kw_only=True):
    """Create a child agent with parent links and isolation.

    The child starts at once or waits for a slot. `thread_id` is the parent's thread; it defaults to the lead's.
    """

    session_id: Id
    thread_id: Id | None = None


class GiveInput(Asked, frozen=True, kw_only=True):
    """Send more input to a child of yours."""

    agent: Annotated[AgentName, Meta(description="The child's id.")]
    text: Prompt


class InputGiven(Answer, frozen=True, kw_only=True):
    """What became of the input: `started` at once, or `queued` behind what runs or for a slot."""

    session_id: str
    agent_id: str
    thread_id: str
    turn_id: str
    status: Literal["started", "queued"]
    sequence: int


@command("send_subagent_input", InputGiven)
class SendSubagentInput(GiveInput, Command, frozen=True, kw_only=True):
    """Send text to a child.

    An ended child continues with the text as further work.
    """

    session_id: Id


class Await(Asked, frozen=True, kw_only=True):
    """Wait for children of yours."""

    agents: Annotated[
        tuple[AgentName, ...], Meta(description="Their ids; empty for all whose result you do not have yet.")
    ] = ()
    mode: Annotated[Literal["any", "all"], Meta(description="Whether one that ends is enough.")] = "all"
    timeout_s: Annotated[int, Meta(ge=1, le=86_400, description="What is there by then is returned.")] | None = None


class Waited(Answer, frozen=True, kw_only=True):
    """The children that ended, and those that have not."""

    session_id: str
    ended: tuple[ChildResult, ...]
    pending: tuple[ChildResult, ...]
    timed_out: bool
    sequence: int


@command("wait_subagents", Waited, authority="anyone", query=True, waits=True)
class WaitSubagents(Await, Command, frozen=True, kw_only=True):
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


class Close(Asked, frozen=True, kw_only=True):
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
class CloseSubagent(Close, Command, frozen=True, kw_only=True):
    """Stop a child permanently and release its resources.

    Its transcript stays.
    """

    session_id: Id


@command("cancel_subagent", ChildChanged)
class CancelSubagent(Close, Command, frozen=True, kw_only=True):
    """Cancel the work of a child.

    The child stays and can receive more work.
    """

    session_id: Id


class Merge(Asked, frozen=True, kw_only=True):
    """Take over what a child of yours did in its worktree."""

    agent: Annotated[AgentName, Meta(description="The child's id.")]


class List(Asked, frozen=True, kw_only=True):
    """Your children and how they stand."""


class SubagentGraph(Answer, frozen=True, kw_only=True):
    session_id: str
    agents: tuple[AgentInGraph, ...]
    sequence: int


@command("list_subagents", SubagentGraph, authority="anyone", query=True)
class ListSubagents(Command, frozen=True, kw_only=True):
    """List the agents of a session: parents, children and the state of each child."""

    session_id: Id
    thread_id: Annotated[Id | None, Meta(description="Only the children of this thread.")] = None


class AgentInGraph(Answer, frozen=True, kw_only=True):
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


class Handoff(Asked, frozen=True, kw_only=True):
    """Hand work, or a report of it, to an agent that an edge leads to. It is told of it in its next turn."""

    to: Annotated[AgentName, Meta(description="The receiver: its id, name or an alias.")]
    message: Annotated[str, Meta(description="A short summary; send what is long as artifacts.")]
    structured: dict[str, Any] | None = None
    artifacts: tuple[Ref, ...] = ()
    status: HandoffStatus | None = None
    response: Expectation | None = None
    context_ref: Annotated[str, Meta(max_length=1000)] = ""
    meta: dict[str, Any] | None = None
    ownership: Annotated[bool, Meta(description="The person's next words go to the receiver, until it hands back.")] = (
        False
    )
    resume_target: Annotated[
        str, Meta(max_length=64, description="Who takes the ownership back; you, if left out.")
    ] = ""
    reason: Reason = ""


class HandoffSent(Answer, frozen=True, kw_only=True):
    """The envelope waits in the receiver's inbox. `paused` says why the receiver does not read it until it is
    resumed."""

    session_id: str
    handoff_id: str
    target: str
    status: Literal["queued", "waiting_for_answer"]
    sequence: int
    paused: str = ""


@command("send_handoff", HandoffSent)
class SendHandoff(Handoff, Command, frozen=True, kw_only=True):
    """Send a handoff over an edge to the inbox of an agent.

    `thread_id` is the sender's thread; it defaults to the lead's.
    """

    session_id: Id
    thread_id: Id | None = None


class Respond(Asked, frozen=True, kw_only=True):
    """Accept or reject a handoff that waits for an answer."""

    handoff_id: Id
    decision: Literal["accept", "reject", "complete"]
    reason: Reason = ""


class HandoffAnswered(Answer, frozen=True, kw_only=True):
    session_id: str
    handoff_id: str
    status: Literal["accepted", "rejected", "completed"]
    sequence: int


@command("respond_handoff", HandoffAnswered)
class RespondHandoff(Respond, Command, frozen=True, kw_only=True):
    """Accept, reject or return a handoff on behalf of its receiver.

    `complete` returns an ownership that was taken over.
    """

    session_id: Id


class Message(Asked, frozen=True, kw_only=True):
    """Send a message to other agents. It is told to them in their next turn; nobody waits."""

    to: Annotated[tuple[AgentName, ...], Meta(min_length=1, max_length=32)]
    text: Annotated[str, Meta(min_length=1, max_length=200_000)]


class MessageSent(Answer, frozen=True, kw_only=True):
    """The message waits in each receiver's inbox. `paused` names the receivers that do not read it before a person resumes
    them, each with the reason."""

    session_id: str
    channel_id: str
    sequence: int
    paused: dict[str, str] = msgspec.field(default_factory=dict[str, str])


@command("send_message", MessageSent)
class SendMessage(Message, Command, frozen=True, kw_only=True):
    """Send a message to agents of the session, which receive it in their next turn.

    `thread_id` is the sender's thread; it defaults to the lead's.
    """

    session_id: Id
    thread_id: Id | None = None


class AskReview(Asked, frozen=True, kw_only=True):
    """Ask an agent to judge the work of another one, or yours."""

    reviewer: AgentName
    target: Annotated[AgentName | None, Meta(description="Whose work; yours, if left out.")] = None
    instructions: Annotated[str, Meta(max_length=200_000)] = ""
    refs: tuple[Ref, ...] = ()


class ReviewOpened(Answer, frozen=True, kw_only=True):
    session_id: str
    review_id: str
    task_id: str
    sequence: int


@command("request_review", ReviewOpened)
class RequestReview(AskReview, Command, frozen=True, kw_only=True):
    """Ask an agent for a verdict on work.

    `thread_id` is the thread that asks; it defaults to the lead's.
    """

    session_id: Id
    thread_id: Id | None = None


class Judge(Asked, frozen=True, kw_only=True):
    """Give your verdict on a review that you were asked for, or on a child of yours whose work waits for it."""

    review_id: Id | None = None
    agent: Annotated[AgentName | None, Meta(description="The child that is judged, where no review_id is given.")] = (
        None
    )
    verdict: Verdict
    summary: Annotated[str, Meta(max_length=20_000)] = ""
    refs: tuple[Ref, ...] = ()
    fixes: tuple[Fix, ...] = ()


class VerdictGiven(Answer, frozen=True, kw_only=True):
    session_id: str
    review_id: str
    verdict: Verdict
    sequence: int


@command("submit_verdict", VerdictGiven)
class SubmitVerdict(Judge, Command, frozen=True, kw_only=True):
    """Record a verdict on a review, or on a child whose work waits for one.

    Requested changes become input of an assignee when the review is applied.
    """

    session_id: Id


@command("apply_review", VerdictGiven)
class ApplyReview(Command, frozen=True, kw_only=True):
    """Send the requested changes of a review to their assignees.

    `assignee` overrides the assignees.
    """

    session_id: Id
    review_id: Id
    assignee: AgentName | None = None


class MakeTask(Asked, frozen=True, kw_only=True):
    """Put a task on the board."""

    title: Annotated[str, Meta(min_length=1, max_length=200)]
    objective: Annotated[str, Meta(max_length=200_000)] = ""
    assignee: AgentName | None = None
    parent_task: Id | None = None
    depends_on: tuple[Id, ...] = ()
    priority: Priority = "normal"
    acceptance: Annotated[str, Meta(max_length=20_000)] = ""


class TaskChanged(Answer, frozen=True, kw_only=True):
    session_id: str
    task_id: str
    status: TaskStatus
    sequence: int


@command("create_task", TaskChanged)
class CreateTask(MakeTask, Command, frozen=True, kw_only=True):
    """Create a task on the session's board."""

    session_id: Id
    task_id: Id | None = None


class ChangeTask(Asked, frozen=True, kw_only=True):
    """Change a task of the board; what is left out stays as it is."""

    task_id: Id
    status: TaskStatus | None = None
    title: Title | None = None
    assignee: AgentName | None = None
    priority: Priority | None = None
    blocker: Annotated[str, Meta(max_length=2000)] | None = None
    progress: Annotated[str, Meta(max_length=20_000)] | None = None
    comment: Annotated[str, Meta(max_length=20_000)] | None = None
    reason: Reason = ""


@command("update_task", TaskChanged)
class UpdateTask(ChangeTask, Command, frozen=True, kw_only=True):
    """Change, comment on or end a task of the session's board."""

    session_id: Id
