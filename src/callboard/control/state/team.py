"""What a decider needs to know of a team: children, agents that sleep, inboxes, handoffs, tasks, reviews and channels, as far
as they are open."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.entities.team import (
    ChildStatus,
    Edge,
    Isolation,
    QueueReason,
    Ref,
    RemoteTaskState,
    Role,
    TaskEntity,
    TeamPhase,
)
from callboard.contracts.facts.task import Fix
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.scope import Scope


class InboxItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that waits for an agent's next turn. `handoff` names the envelope that it is, `worker` says that it tells of a
    child; `hops` counts the agents that passed on what led to it."""

    item: str
    source: str
    handoff: str = ""
    worker: bool = False
    hops: int = 0
    sequence: int = 0


class TurnEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent's newest turn ended. `text` is its answer; `code` that of a failure, or the cause of an interrupt; `hops`
    those of its run; `plain_text` as its fact has it."""

    how: Literal["completed", "failed", "interrupted"]
    text: Text = Text()
    code: str = ""
    message: str = ""
    hops: int = 0
    plain_text: bool = False


class TeamLoad(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a lead's team was at work when that was told last."""

    phase: TeamPhase
    active: int
    queued: int
    group: str = ""
    queue_reason: QueueReason | None = None


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a thread a child: whose it is, and how it stands. `group` is the provider's whose slot it takes.

    `asked` is the permission mode that it was given, never wider than its parent's; `ending` what is to be said of it once
    its run has stopped: closed, or cancelled only. `merging` says that its worktree is being merged. `job` is the job whose
    item it works on; then nobody tells its parent of it. `plain_text` says that its result was not finalized.
    """

    parent: str
    parent_run: str
    task: str
    role: Role
    status: ChildStatus
    isolation: Isolation = "shared"
    work_globs: tuple[str, ...] = ()
    worktree: str = ""
    branch: str = ""
    base: str = ""
    group: str = ""
    queue_reason: QueueReason | None = None
    review: bool = False
    ending: Literal["", "closed", "cancelled"] = ""
    reason: str = ""
    result: Text = Text()
    plain_text: bool = False
    merging: bool = False
    job: str = ""


class ExternalLink(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation that an agent which is not of our loop holds for a thread, by its own name, and whether it is there.
    `task` is the task of one elsewhere that was not over when it told of it last, `told` the state of it."""

    provider_session: str
    connected: bool
    task: str = ""
    task_state: RemoteTaskState | None = None


class WakeTrigger(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent that sleeps is to wake for: the first of `count` facts, by the id of its event, its type and its agent.
    `hops` counts the agents that passed on what led to them."""

    cause: str
    type: str
    agent: str = ""
    hops: int = 0
    count: int = 1


class Background(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a thread one of an agent that sleeps and wakes. Times are in microseconds, 0 for none.

    `task` is the task that its runs are attempts of, `attempt` the newest one's number; `held` says that the task is paused or
    being cancelled, `over` that it has ended. It sleeps while `asleep`, since the fact of sequence `slept`, until `wake_at` or
    a fact of `wake_on`. `turn` is the one that it woke for last (empty while it sleeps), at `woke`; `hops` counts the agents
    that passed on what it woke for. `ran` is when its newest run ended, `failures` how many runs failed one after the other.
    No run that nobody asked for is under a wider mode than `permission_mode`.
    """

    task: str
    permission_mode: PermissionMode
    asleep: bool = False
    is_held: bool = False
    is_ended: bool = False
    slept_sequence: int = 0
    schedule: str = ""
    wake_at: int = 0
    wake_on: tuple[str, ...] = ()
    turn: str = ""
    woke_at: int = 0
    hops: int = 0
    attempt: int = 0
    last_ended_at: int = 0
    failures: int = 0
    trigger: WakeTrigger | None = None


class OpenHandoff(msgspec.Struct, frozen=True, kw_only=True):
    """A handoff that is not over. `sender` and `receiver` are threads; `turn` is
    the receiver's in which it was accepted; `hops` counts the agents that passed on what led to it."""

    handoff: str
    source: str
    target: str
    sender: str
    receiver: str
    confirm: bool = False
    ownership: bool = False
    accepted: bool = False
    resume_target: str = ""
    reply_by: int = 0
    turn: str = ""
    hops: int = 0


class OpenTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task without an end. `attempt` counts its attempts from 1. `work` says whether the newest one is under way, or is over
    without success; `thread` works on it (empty for a person), `turn` is the turn in which (empty for a child, whose thread
    does nothing else), `run` the newest run of it, `ended` how that turn ended. `delegated` says that the agent gave parts of
    it to others, `implied` that it stands for a turn and nobody put it on the board.

    `met` are those of `depends_on` that are done. `cancelling` is set from the request on, for `reason`. `job` names the job
    that it is an item of, or that it is.
    """

    task: str
    title: str
    objective: Text = Text()
    acceptance: str = ""
    assignee: str = ""
    parent_task: str = ""
    depends_on: tuple[str, ...] = ()
    done_dependencies: tuple[str, ...] = ()
    refs: tuple[Ref, ...] = ()
    entity: TaskEntity = "work_item"
    attempt: int = 0
    work: Literal["", "running", "over"] = ""
    thread: str = ""
    turn: str = ""
    run: str = ""
    ended: TurnEnd | None = None
    delegated: bool = False
    implied: bool = False
    paused: bool = False
    cancelling: bool = False
    reason: str = ""
    job: str = ""


class OpenJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job that is not over: `task` is its own, `items` counts its items and `done` those of them that are done. A child made
    from `agent` works on each, `parallel` at once (0 for as many as a parent may have), within the job's
    bounds; `chosen` says that a person chose its mode."""

    job: str
    task: str
    agent: str
    items: int
    done: int = 0
    parallel: int = 0
    isolation: Isolation | None = None
    permission_mode: PermissionMode = "ask"
    chosen: bool = False


class OpenReview(msgspec.Struct, frozen=True, kw_only=True):
    """A review that is not applied. `reviewer` and `target` are agents, `asker` is the thread that asked for it (empty where
    it is of a child's work by its parent); `judged` says that its verdict is there."""

    review: str
    task: str
    reviewer: str
    target: str
    asker: str = ""
    judged: bool = False
    fixes: tuple[Fix, ...] = ()
    summary: str = ""


class OpenChannel(msgspec.Struct, frozen=True, kw_only=True):
    """A channel between agents."""

    channel: str
    participants: tuple[str, ...]


class AddedEdge(msgspec.Struct, frozen=True, kw_only=True):
    """An edge that an agent made for this session, from the agent of that name."""

    source: str
    edge: Edge


class OpenProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A process that goes on in the background, for the host of `epoch`. `scope` is that of the call that started it and of
    itself; `stopping` is set from the request of its end on."""

    process: str
    scope: Scope
    epoch: int
    stopping: bool = False
