"""Facts of tasks: objectives independent of a turn.

An attempt is one execution of a task; the scope's `attempt` counts them from 1. `task.started`
begins an attempt in the turn of its scope. The runs of that turn belong to it, and those of later
turns with the task in the scope of `turn.submitted` (a paused attempt continues in another turn).
The task of a child, and the implied task of a turn, are in attempt 1 from the start, without a
`task.started`. A failed task stays open for another attempt.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from ..entities.team import Ref, TaskEntity, TaskStatus
from ..scope import ScopeKey
from .base import ERASED, UNKNOWN, ErasedForm, Fact

_TASK: tuple[ScopeKey, ...] = ("task",)

Priority = Literal["low", "normal", "high"]


class TaskCreated(Fact, frozen=True, kw_only=True):
    """A task was created.

    `assignee` is an agent or empty. `parent_task` is set for a subtask. `entity`: a card
    of the board, the repeated work of a background agent, or the task of a remote agent.
    """

    type: ClassVar[str] = "task.created"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    erased: ClassVar[ErasedForm] = {"title": UNKNOWN, "objective": ERASED}
    title: str
    objective: Text = Text()
    assignee: str = ""
    parent_task: str = ""
    depends_on: tuple[str, ...] = ()
    priority: Priority = "normal"
    acceptance: str = ""
    entity: TaskEntity = "work_item"


class TaskStarted(Fact, frozen=True, kw_only=True):
    """The attempt in the scope began.

    `assignee` works on it in the scope's turn, which may be queued; without a turn a person works
    on it.
    """

    type: ClassVar[str] = "task.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("task", "attempt")
    erased: ClassVar[ErasedForm] = {"assignee": UNKNOWN}
    assignee: str
    reason: str = ""


class TaskPaused(Fact, frozen=True, kw_only=True):
    """The task was paused.

    Its running work is asked to stop, and queued work stays queued. Each open subtask has its own
    fact.
    """

    type: ClassVar[str] = "task.paused"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class TaskResumed(Fact, frozen=True, kw_only=True):
    """The task was resumed: each stopped agent gets a turn. Each paused subtask has its own fact."""

    type: ClassVar[str] = "task.resumed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class TaskCancelRequested(Fact, frozen=True, kw_only=True):
    """The cancellation of a task was requested.

    Its work is stopped; then `task.cancelled` follows. Each open subtask has its own fact.
    """

    type: ClassVar[str] = "task.cancel.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class TaskUpdated(Fact, frozen=True, kw_only=True):
    """Fields of a task changed; None is unchanged.

    `status` is the board's label. `phase` and `counters` report progress in the worker's own terms.
    """

    type: ClassVar[str] = "task.updated"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    status: TaskStatus | None = None
    title: str | None = None
    assignee: str | None = None
    priority: Priority | None = None
    blocker: str | None = None
    depends_on: tuple[str, ...] | None = None
    progress: str | None = None
    comment: str | None = None
    phase: str | None = None
    counters: dict[str, int] | None = None
    refs: tuple[Ref, ...] | None = None
    parent_task: str | None = None
    reason: str = ""


class TaskCompleted(Fact, frozen=True, kw_only=True):
    """The objective is met.

    `refs` are the deliverables. With `plain_text` the work ended with an answer in plain text that
    was not finalized.
    """

    type: ClassVar[str] = "task.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    closes: ClassVar[ScopeKey | None] = "task"
    erased: ClassVar[ErasedForm] = {}
    summary: str = ""
    refs: tuple[Ref, ...] = ()
    reason: str = ""
    plain_text: bool = False


class TaskFailed(Fact, frozen=True, kw_only=True):
    """The newest attempt failed, and the board shows the task as blocked.

    The code is `interrupted` if its turn was stopped.
    """

    type: ClassVar[str] = "task.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": ""}
    code: str
    message: str
    reason: str = ""


class TaskCancelled(Fact, frozen=True, kw_only=True):
    """All work on the task stopped, and the task is cancelled."""

    type: ClassVar[str] = "task.cancelled"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    closes: ClassVar[ScopeKey | None] = "task"
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class SnapshotUpdated(Fact, frozen=True, kw_only=True):
    """The task's `TaskSnapshot` is complete up to the sequence `through`."""

    type: ClassVar[str] = "snapshot.updated"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    through: int


#: The ends of a task. A failed task can be tried again.
TaskEndFact = TaskCompleted | TaskCancelled
TaskFact = (
    TaskCreated
    | TaskStarted
    | TaskPaused
    | TaskResumed
    | TaskCancelRequested
    | TaskUpdated
    | TaskFailed
    | TaskEndFact
    | SnapshotUpdated
)
