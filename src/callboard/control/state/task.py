"""State of tasks."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.entities.team import (
    Ref,
    TaskEntity,
)

from .turn import TurnEnd


class OpenTask(msgspec.Struct, frozen=True, kw_only=True, gc=False):
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
