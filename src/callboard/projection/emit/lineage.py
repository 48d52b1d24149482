"""What events of a team need beside their own fact: whose child an agent is, and what its work is part of."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import Ref
from callboard.contracts.facts import (
    ReviewRequested,
    ReviewVerdict,
    SubagentContinued,
    TaskCreated,
    ThreadOpened,
    TurnStarted,
)
from callboard.contracts.record import Record


class Lineage(msgspec.Struct, frozen=True):
    """A child: its agent, task and parents, and the job whose item it works on."""

    agent: str
    task: str
    parent_thread: str
    parent_run: str
    job: str = ""


class LineageIndex(msgspec.Struct):
    """What facts told so far. `children` and `runs` are by thread, `parents` the task that each task is part of, `refs` what
    each review is about."""

    children: dict[str, Lineage] = msgspec.field(default_factory=dict[str, Lineage])
    runs: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    parents: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    refs: dict[str, tuple[Ref, ...]] = msgspec.field(default_factory=dict[str, tuple[Ref, ...]])

    def learn(self, record: Record) -> None:
        """Takes the fact in."""
        scope = record.scope
        match record.fact:
            case ThreadOpened() | SubagentContinued() if scope.parent_thread:
                self.children[scope.thread] = Lineage(
                    scope.agent, scope.task, scope.parent_thread, scope.parent_run, scope.job
                )
            case TurnStarted():
                self.runs[scope.thread] = scope.run
            case TaskCreated() as fact if fact.parent_task:
                self.parents[scope.task] = fact.parent_task
            case ReviewRequested() | ReviewVerdict() as fact:
                self.refs[scope.review] = fact.refs or self.refs.get(scope.review, ())
            case _:
                pass
