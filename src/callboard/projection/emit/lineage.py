"""Parents of agents and tasks, from the facts of a session."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.subagent import SubagentContinued
from callboard.contracts.facts.task import ReviewRequested, ReviewVerdict, TaskCreated
from callboard.contracts.facts.turn import TurnStarted
from callboard.contracts.record import Record


class Lineage(msgspec.Struct, frozen=True):
    """A child agent: its task, its parents, and the job of its item."""

    agent: str
    task: str
    parent_thread: str
    parent_run: str
    job: str = ""


class LineageIndex(msgspec.Struct):
    """Lineage so far: `children` and newest `runs` by thread, the parent task in `parents`, and `refs` by review."""

    children: dict[str, Lineage] = msgspec.field(default_factory=dict[str, Lineage])
    runs: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    parents: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    refs: dict[str, tuple[Ref, ...]] = msgspec.field(default_factory=dict[str, tuple[Ref, ...]])

    def apply(self, record: Record) -> None:
        """Add a fact."""
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
