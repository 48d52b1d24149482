"""State of a team: its open children, background agents, inboxes, handoffs, tasks, reviews and
channels."""

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
from callboard.contracts.facts.exchange.review import ReviewFix
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.scope import Scope


class InboxItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item for an agent's next turn. `handoff` is the id of an envelope; `worker`: the item
    reports on a child; `hops`: agents in the chain since a person's input."""

    item: str
    source: str
    handoff: str = ""
    worker: bool = False
    hops: int = 0
    sequence: int = 0


class TurnEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent's newest turn ended. `text` is its answer. `code` is the code of a failure or
    the cause of an interrupt. `hops` and `plain_text` are those of its run and fact."""

    how: Literal["completed", "failed", "interrupted"]
    text: Text = Text()
    code: str = ""
    message: str = ""
    hops: int = 0
    plain_text: bool = False

    @property
    def was_interrupted_by_host(self) -> bool:
        """Return True if the host ended, lost its epoch or failed to write: no person or agent
        requested the interrupt."""
        return self.how == "interrupted" and self.code in ("crash", "lost", "shutdown", "storage")


class TeamLoad(msgspec.Struct, frozen=True, kw_only=True):
    """The load of a lead's team as recorded last."""

    phase: TeamPhase
    active: int
    queued: int
    group: str = ""
    queue_reason: QueueReason | None = None


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """The child part of a thread.

    `group` is the provider that the slot counts for. `ending` is recorded once its run has stopped:
    closed, or cancelled only. `merging`: its worktree is being merged. `job`: the job of its item;
    then its parent gets no notifications. `plain_text`: its result was not finalized.
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
    """The conversation of an external or remote agent for a thread, by its own id. `task` is a
    remote agent's open task, `task_state` its newest state."""

    provider_session: str
    connected: bool
    task: str = ""
    task_state: RemoteTaskState | None = None


class WakeTrigger(msgspec.Struct, frozen=True, kw_only=True):
    """Why a sleeping agent must wake: the first of `count` facts, by event id, type and agent.
    `hops`: agents in the chain since a person's input."""

    cause: str
    type: str
    agent: str = ""
    hops: int = 0
    count: int = 1


class Background(msgspec.Struct, frozen=True, kw_only=True):
    """The background part of a thread: an agent that sleeps and wakes. Times are in microseconds, 0
    for none.

    - `task`: the task that its runs are attempts of. `attempt`: number of the newest one.
      `is_held`: the task is paused or being cancelled. `is_ended`: the task ended.
    - `asleep`: since the fact at `slept_sequence`, until `wake_at` or a fact of `wake_on`.
    - `turn`: the turn that it woke for last, empty while it sleeps, at `woke_at`. `hops`: agents in
      the chain that led to it. `trigger`: the fact that it must wake for.
    - `last_ended_at`: end of its newest run. `failures`: consecutive failed runs.
      `permission_mode`: the widest mode of an automatic run.
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
    """An open handoff. `sender` and `receiver` are threads. `turn` is the receiver's turn that
    accepted it. `hops`: agents in the chain since a person's input."""

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
    """A task that has not ended.

    - `attempt`: number of the newest attempt. `work`: it is running, or over without success.
      `thread`: its worker (empty for a person). `turn`: the turn that works on it (empty for a
      child). `run`: its newest run. `ended`: how that turn ended.
    - `delegated`: the agent delegated subtasks of it. `implied`: it represents a turn and was not put
      on the board.
    - `done_dependencies`: those of `depends_on` that are done. `cancelling`: cancelling was
      requested, for `reason`. `job`: the job that it is an item of, or the task of.
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
    """An open job. `task` is its own task, `items` the number of its items, `done` how many are
    done. Children of `agent` work on at most `parallel` items in parallel (0 for the team's budget).
    `chosen`: a person chose its permission mode."""

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
    """A review that was not applied. `reviewer` and `target` are agents. `asker` is the thread that
    requested it, empty for a parent's review of its child. `judged`: it has a verdict."""

    review: str
    task: str
    reviewer: str
    target: str
    asker: str = ""
    judged: bool = False
    fixes: tuple[ReviewFix, ...] = ()
    summary: str = ""


class OpenChannel(msgspec.Struct, frozen=True, kw_only=True):
    """A channel between agents."""

    channel: str
    participants: tuple[str, ...]


class AddedEdge(msgspec.Struct, frozen=True, kw_only=True):
    """An edge that an agent added for this session, from the agent `source`."""

    source: str
    edge: Edge


class OpenProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A background process in the host of `epoch`. `scope` is its call's, with the process
    id. `stopping`: its end was requested."""

    process: str
    scope: Scope
    epoch: int
    stopping: bool = False
