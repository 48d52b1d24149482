"""Facts of jobs: durable work in batches (Control plane specification, Jobs).

A job is a task, and each of its items is a subtask. Facts of tasks have their states. A
failed item stays open, and so does its job once all other items ended. A completed item is closed.
"""

from __future__ import annotations

from typing import ClassVar

from ..entities.team import Isolation
from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact
from .turn import PermissionMode


class JobCreated(Fact, frozen=True, kw_only=True):
    """A job was created with `items` items, which follow as tasks in its scope.

    A child of the definition `agent` works on each item; at most `parallel` run in parallel (0 for
    the parent's limit). `permission_mode` is their widest mode; `chosen` if a person set it, else
    the lead's.
    """

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
    """Another attempt of the failed item in the scope was requested. It starts when the job has a free slot."""

    type: ClassVar[str] = "job.item.retried"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("job", "task")
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


JobFact = JobCreated | JobItemRetried
