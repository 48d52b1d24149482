"""Facts of children: agents that work for a parent (Subagents specification, Runtime facts)."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from ..entities.team import Isolation, QueueReason, Role, TeamPhase, WorkUsage
from ..scope import ScopeKey
from .base import ERASED, LAST_POSITION, UNKNOWN, ErasedForm, Fact

_CHILD: tuple[ScopeKey, ...] = ("agent", "thread", "task", "parent_thread")

#: Result of a merge of a child's worktree.
MergeStatus = Literal["merged", "nothing_to_merge", "conflict", "failed", "unknown"]
#: Result of a child's work, as its parent receives it.
NotificationStatus = Literal["completed", "failed", "cancelled", "interrupted", "ready_for_review", "needs_input"]


class SubagentSpawned(Fact, frozen=True, kw_only=True):
    """A child was created with its limits. `subagent.started` follows when it has a slot."""

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
    """The child waits for a slot. `position` counts from 1. `group` is the provider."""

    type: ClassVar[str] = "subagent.queued"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"queue_reason": "parallel_budget", "position": LAST_POSITION, "group": ""}
    queue_reason: QueueReason
    position: int
    group: str


class SubagentIsolated(Fact, frozen=True, kw_only=True):
    """The child got a git worktree: `path` is absolute, `branch` is the branch to merge, `base` a commit."""

    type: ClassVar[str] = "subagent.isolated"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    path: str
    branch: str
    base: str


class SubagentStarted(Fact, frozen=True, kw_only=True):
    """The child got a slot and works. `group` is the provider, whose slot it also uses."""

    type: ClassVar[str] = "subagent.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"role": "custom"}
    role: Role
    group: str = ""


class SubagentCompleted(Fact, frozen=True, kw_only=True):
    """The child met its objective, and a required review has its verdict.

    With `plain_text` it answered in plain text and did not finalize: the parent must judge whether
    the objective is met.
    """

    type: ClassVar[str] = "subagent.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"result": ERASED}
    result: Text
    usage: WorkUsage = WorkUsage()
    plain_text: bool = False


class SubagentFailed(Fact, frozen=True, kw_only=True):
    """The child ended without meeting its objective. `result` is its result so far."""

    type: ClassVar[str] = "subagent.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": "", "result": ERASED}
    code: str
    message: str
    result: Text = Text()
    usage: WorkUsage = WorkUsage()


class SubagentCancelled(Fact, frozen=True, kw_only=True):
    """A person, the parent or the parent's end cancelled the child's work."""

    type: ClassVar[str] = "subagent.cancelled"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"result": ERASED}
    reason: str = ""
    result: Text = Text()
    usage: WorkUsage = WorkUsage()


class SubagentContinued(Fact, frozen=True, kw_only=True):
    """An ended child received more work and needs a slot again."""

    type: ClassVar[str] = "subagent.continued"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {}


class SubagentMergeRequested(Fact, frozen=True, kw_only=True):
    """A person requested the merge of the child's worktree into its parent's folder. `subagent.merged` follows."""

    type: ClassVar[str] = "subagent.merge.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class SubagentMerged(Fact, frozen=True, kw_only=True):
    """The result of a requested merge, complete or without effect.

    `files` were changed; files in `conflict` prevented the merge; at most 500 of each. `unknown`:
    the process ended during the merge, which can be requested again.
    """

    type: ClassVar[str] = "subagent.merged"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    erased: ClassVar[ErasedForm] = {"status": "unknown"}
    status: MergeStatus
    files: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    message: str = ""


class SubagentClosed(Fact, frozen=True, kw_only=True):
    """The child accepts no more work; its transcript stays.

    `worktree`, `branch` and `base` are its former worktree.
    """

    type: ClassVar[str] = "subagent.closed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CHILD
    closes: ClassVar[ScopeKey | None] = "thread"
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""
    worktree: str = ""
    branch: str = ""
    base: str = ""


class SubagentsAwaited(Fact, frozen=True, kw_only=True):
    """The call in the scope waits for these children until `until` (microseconds since the epoch, 0 for no limit)."""

    type: ClassVar[str] = "subagent.awaited"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "tool_call")
    agents: tuple[str, ...]
    mode: Literal["any", "all"]
    until: int = 0


class WorkerNotification(Fact, frozen=True, kw_only=True):
    """The result of a child, sent to its parent's inbox as `item`.

    `transcript` is the child's thread. With `plain_text` the child answered in plain text and did
    not finalize.
    """

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
    """The load of a team changed (Agent UI specification, queue and parallelism facts).

    The scope's thread is its lead's. Counts are of the lead's children; a `group` is those of one
    provider, with its own budget.
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
