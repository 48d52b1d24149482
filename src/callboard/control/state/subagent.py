"""State of the children of agents."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.entities.team import (
    ChildStatus,
    Isolation,
    QueueReason,
    Role,
)


class Child(msgspec.Struct, frozen=True, kw_only=True, gc=False):
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
