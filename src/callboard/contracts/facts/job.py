"""Facts of jobs: durable work in batches, whose items agents work on apart from any conversation (Control plane specification,
Jobs).

A job is a task, and each of its items is one, a part of it: how each of them stands is told by the facts of tasks, apart. An
item that failed stays open, and so does its job once all others are over; what is done is closed for good.
"""

from __future__ import annotations

from typing import ClassVar

from ..entities.team import Isolation
from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact
from .turn import PermissionMode


class JobCreated(Fact, frozen=True, kw_only=True):
    """The task in the scope is a job's: so many items follow, each a task in the scope of the job. A child made from the
    definition `agent` works on each, `parallel` of them at once (0 for as many as its parent may have), under no wider mode
    than `permission_mode`, which a person chose for it or which the lead was under, and kept apart by `isolation` where it is
    given."""

    type: ClassVar[str] = "job.created"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("job", "task")
    erased: ClassVar[ErasedForm] = {"agent": UNKNOWN, "items": 0}
    agent: str
    items: int
    parallel: int = 0
    isolation: Isolation | None = None
    permission_mode: PermissionMode = "ask"
    chosen: bool = False


class JobItemRetried(Fact, frozen=True, kw_only=True):
    """Another attempt of the item in the scope, which failed, was asked for. It begins once the job has room."""

    type: ClassVar[str] = "job.item.retried"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("job", "task")
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


JobFact = JobCreated | JobItemRetried
