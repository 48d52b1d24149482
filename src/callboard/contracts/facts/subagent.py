"""Facts of a child: an agent that another one gave an objective (Subagents specification, Runtime facts)."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from ..entities.team import Isolation, QueueReason, Role, TeamPhase, WorkUsage
from ..scope import ScopeKey
from .base import ERASED, LAST_POSITION, UNKNOWN, ErasedForm, Fact

_CHILD: tuple[ScopeKey, ...] = ("agent", "thread", "task", "parent_thread")

#: How a child's work is told to its parent.
MergeStatus = Literal["merged", "nothing_to_merge", "conflict", "failed", "unknown"]
NotificationStatus = Literal["completed", "failed", "cancelled", "interrupted", "ready_for_review", "needs_input"]


class SubagentSpawned(Fact, frozen=True, kw_only=True):
    """A child was given to its parent, with its limits. It runs when `subagent.started` says so."""

    type: ClassVar[str] = "subagent.spawned"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"role": "custom", "objective": ERASED, "isolation": "read_only"}
    role: Role
    objective: Text
    isolation: Isolation
    work_globs: tuple[str, ...] = ()
    review: bool = False
    reason: str = ""


class SubagentQueued(Fact, frozen=True, kw_only=True):
    """The child waits for a slot. `position` counts from 1 among those that wait; `group` is the provider's."""

    type: ClassVar[str] = "subagent.queued"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"queue_reason": "parallel_budget", "position": LAST_POSITION, "group": ""}
    queue_reason: QueueReason
    position: int
    group: str


class SubagentIsolated(Fact, frozen=True, kw_only=True):
    """The child has a git worktree of its own: `path` is absolute, `branch` what the parent merges, `base` a commit."""

    type: ClassVar[str] = "subagent.isolated"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    path: str
    branch: str
    base: str


class SubagentStarted(Fact, frozen=True, kw_only=True):
    """The child took a slot and works. `group` is the provider's, whose slot it takes as well."""

    type: ClassVar[str] = "subagent.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"role": "custom"}
    role: Role
    group: str = ""


class SubagentCompleted(Fact, frozen=True, kw_only=True):
    """The child's objective is met, and where a review was asked for, its verdict is given. With `plain_text` the child
    answered in plain text and did not finalize: whether the objective is met is for the parent to judge."""

    type: ClassVar[str] = "subagent.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"result": ERASED}
    result: Text
    usage: WorkUsage = WorkUsage()
    plain_text: bool = False


class SubagentFailed(Fact, frozen=True, kw_only=True):
    """The child ended without its objective being met; `result` is what there was."""

    type: ClassVar[str] = "subagent.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": "", "result": ERASED}
    code: str
    message: str
    result: Text = Text()
    usage: WorkUsage = WorkUsage()


class SubagentCancelled(Fact, frozen=True, kw_only=True):
    """The child was stopped for good, by a person, its parent or the end of its parent."""

    type: ClassVar[str] = "subagent.cancelled"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"result": ERASED}
    reason: str = ""
    result: Text = Text()
    usage: WorkUsage = WorkUsage()


class SubagentContinued(Fact, frozen=True, kw_only=True):
    """A child that had ended was given more to do; it takes a slot again."""

    type: ClassVar[str] = "subagent.continued"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {}


class SubagentMergeRequested(Fact, frozen=True, kw_only=True):
    """A person asked for what the child did in its worktree to be merged into its parent's folder; `subagent.merged`
    follows."""

    type: ClassVar[str] = "subagent.merge.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class SubagentMerged(Fact, frozen=True, kw_only=True):
    """What a merge that a person asked for came to. It was all of it, or nothing; `files` are those that it changed,
    `conflict` those for which nothing was merged, five hundred of each at most. `unknown` is one whose process ended meanwhile;
    it can be asked for again."""

    type: ClassVar[str] = "subagent.merged"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"status": "unknown"}
    status: MergeStatus
    files: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    message: str = ""


class SubagentClosed(Fact, frozen=True, kw_only=True):
    """The child takes nothing more; its transcript stays. `worktree`, `branch` and `base` are those that it had of its own."""

    type: ClassVar[str] = "subagent.closed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    closes: ClassVar[ScopeKey | None] = "thread"
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""
    worktree: str = ""
    branch: str = ""
    base: str = ""


class SubagentsAwaited(Fact, frozen=True, kw_only=True):
    """The call in the scope waits for these children. `until` is in microseconds since the epoch, 0 for as long as it takes."""

    type: ClassVar[str] = "subagent.awaited"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "tool_call")
    agents: tuple[str, ...]
    mode: Literal["any", "all"]
    until: int = 0


class WorkerNotification(Fact, frozen=True, kw_only=True):
    """What became of a child, on its way to its parent's inbox. `transcript` is the child's thread. `plain_text` is set where
    the child answered in plain text and did not finalize."""

    type: ClassVar[str] = "worker.notification"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    item: str
    to_thread: str
    status: NotificationStatus
    summary: str
    result: Text = Text()
    transcript: str = ""
    usage: WorkUsage = WorkUsage()
    plain_text: bool = False


class TeamChanged(Fact, frozen=True, kw_only=True):
    """How much of a team is at work (Agent UI specification, queue and parallelism facts). The scope's thread is its lead's.

    Counts are of the lead's children; a `group` is those of one provider, with a budget of its own.
    """

    type: ClassVar[str] = "team.changed"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("agent", "thread")
    phase: TeamPhase
    parallel_budget: int
    active_count: int
    queued_count: int
    group: str = ""
    group_budget: int = 0
    queue_reason: QueueReason | None = None


SubagentFact = (
    SubagentSpawned
    | SubagentQueued
    | SubagentIsolated
    | SubagentStarted
    | SubagentContinued
    | SubagentCompleted
    | SubagentFailed
    | SubagentCancelled
    | SubagentMergeRequested
    | SubagentMerged
    | SubagentClosed
    | SubagentsAwaited
    | WorkerNotification
    | TeamChanged
)
