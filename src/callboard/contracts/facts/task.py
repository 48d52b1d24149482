"""Facts of tasks and of reviews: objectives apart from any turn, and judgements of what came of them.

An execution of a task is an attempt: the scope's `attempt` counts them from 1. `task.started` begins one, in the turn of its
scope; the runs of that turn, and of later turns whose `turn.submitted` has the task in its scope, belong to it (one that was
paused goes on in another turn). A child's own task, and the one that stands for a turn, are in attempt 1 from the beginning,
without a `task.started`. A task that failed stays open, so that another attempt can be made; the former stays as it was.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..content import Text
from ..entities.team import Ref, TaskEntity, TaskStatus, Verdict
from ..scope import ScopeKey
from .base import ERASED, UNKNOWN, ErasedForm, Fact

_TASK: tuple[ScopeKey, ...] = ("task",)
_REVIEW: tuple[ScopeKey, ...] = ("review", "task")

Priority = Literal["low", "normal", "high"]


class TaskCreated(Fact, frozen=True, kw_only=True):
    """An objective with an owner. `assignee` is an agent or empty; `parent_task` the task that it is part of. `entity` says
    what it is to others: a card of the board, what a background agent does again and again, or the task of an agent elsewhere.
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
    """The attempt in the scope began: `assignee` works on the task in the scope's turn, whose run begins at once or when the
    agent has room. Without a turn a person has it in hand."""

    type: ClassVar[str] = "task.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("task", "attempt")
    erased: ClassVar[ErasedForm] = {"assignee": UNKNOWN}
    assignee: str
    reason: str = ""


class TaskPaused(Fact, frozen=True, kw_only=True):
    """Nobody goes on with the task until it is resumed; what runs for it is asked to stop after this fact, and what waits in a
    queue for it stays there. Its open parts have a fact of their own."""

    type: ClassVar[str] = "task.paused"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class TaskResumed(Fact, frozen=True, kw_only=True):
    """The task goes on: whoever was stopped gets a turn. Its paused parts have a fact of their own."""

    type: ClassVar[str] = "task.resumed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class TaskCancelRequested(Fact, frozen=True, kw_only=True):
    """Somebody asked for the task to be cancelled. The intent comes first; what works on it is stopped, and `task.cancelled`
    follows once it has. Its open parts have a fact of their own."""

    type: ClassVar[str] = "task.cancel.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class TaskUpdated(Fact, frozen=True, kw_only=True):
    """Something about a task changed; fields that are None stay as they were. `status` is what the board shows. `phase` and
    `counters` tell how far the work is, in the words of whoever does it."""

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
    """The objective is met. `refs` point to what was delivered. With `plain_text` the work ended with an answer in plain text
    that was not finalized."""

    type: ClassVar[str] = "task.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    closes: ClassVar[ScopeKey | None] = "task"
    erased: ClassVar[ErasedForm] = {}
    summary: str = ""
    refs: tuple[Ref, ...] = ()
    reason: str = ""
    plain_text: bool = False


class TaskFailed(Fact, frozen=True, kw_only=True):
    """The newest attempt ended without success; the board shows the task as blocked by this. The code `interrupted` is that of
    an attempt whose turn was stopped."""

    type: ClassVar[str] = "task.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": ""}
    code: str
    message: str
    reason: str = ""


class TaskCancelled(Fact, frozen=True, kw_only=True):
    """Nobody works on the task any more."""

    type: ClassVar[str] = "task.cancelled"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TASK
    closes: ClassVar[ScopeKey | None] = "task"
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class Fix(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One thing that a reviewer asks to be changed. `assignee` is an agent, or empty for whoever did the work."""

    text: str
    ref: str = ""
    assignee: str = ""


class ReviewRequested(Fact, frozen=True, kw_only=True):
    """`reviewer` is asked to judge the work of `target`, both agents; `refs` are what is judged."""

    type: ClassVar[str] = "review.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _REVIEW
    erased: ClassVar[ErasedForm] = {"reviewer": UNKNOWN, "target": UNKNOWN, "instructions": ERASED}
    reviewer: str
    target: str
    item: str = ""
    to_thread: str = ""
    instructions: Text = Text()
    refs: tuple[Ref, ...] = ()


class ReviewVerdict(Fact, frozen=True, kw_only=True):
    """The judgement. Requested changes are the next input of whoever is to make them."""

    type: ClassVar[str] = "review.verdict"
    needs: ClassVar[tuple[ScopeKey, ...]] = _REVIEW
    erased: ClassVar[ErasedForm] = {"reviewer": UNKNOWN, "target": UNKNOWN, "verdict": UNKNOWN}
    reviewer: str
    target: str
    verdict: Verdict
    summary: str = ""
    refs: tuple[Ref, ...] = ()
    fixes: tuple[Fix, ...] = ()


class ReviewApplied(Fact, frozen=True, kw_only=True):
    """The requested changes were given to those who make them, or what passed was taken over."""

    type: ClassVar[str] = "review.applied"
    needs: ClassVar[tuple[ScopeKey, ...]] = _REVIEW
    closes: ClassVar[ScopeKey | None] = "review"
    erased: ClassVar[ErasedForm] = {"reviewer": UNKNOWN, "target": UNKNOWN}
    reviewer: str
    target: str
    by: str = ""


class SnapshotUpdated(Fact, frozen=True, kw_only=True):
    """What can be read of the task (`TaskSnapshot`) is whole up to the sequence `through`."""

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
ReviewFact = ReviewRequested | ReviewVerdict | ReviewApplied
