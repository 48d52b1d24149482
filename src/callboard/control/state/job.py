"""State of jobs."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import (
    Isolation,
)
from callboard.contracts.facts.turn import PermissionMode


class OpenJob(msgspec.Struct, frozen=True, kw_only=True, gc=False):
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
