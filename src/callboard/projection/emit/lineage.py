"""Parents of agents and tasks, from the facts of a session."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.exchange.review import ReviewRequested, ReviewVerdict
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.subagent import SubagentContinued
from callboard.contracts.facts.task import TaskCreated
from callboard.contracts.facts.turn import TurnStarted
from callboard.contracts.record import Record

from ..reducer import Reducer, on


class Lineage(msgspec.Struct, frozen=True, gc=False):
    """A child agent: its task, its parents, and the job of its item."""

    agent: str
    task: str
    parent_thread: str
    parent_run: str
    job: str = ""


class LineageIndex(Reducer):
    """Lineage so far: `children` and newest `runs` by thread, the parent task in `parents`, and `refs` by review."""

    children: dict[str, Lineage] = msgspec.field(default={})
    runs: dict[str, str] = msgspec.field(default={})
    parents: dict[str, str] = msgspec.field(default={})
    refs: dict[str, tuple[Ref, ...]] = msgspec.field(default={})

    @on
    def add_child(self, record: Record, fact: ThreadOpened | SubagentContinued) -> None:
        scope = record.scope
        if scope.parent_thread:
            self.children[scope.thread] = Lineage(
                scope.agent, scope.task, scope.parent_thread, scope.parent_run, scope.job
            )

    @on
    def start_run(self, record: Record, fact: TurnStarted) -> None:
        self.runs[record.scope.thread] = record.scope.run

    @on
    def create_task(self, record: Record, fact: TaskCreated) -> None:
        if fact.parent_task:
            self.parents[record.scope.task] = fact.parent_task

    @on
    def add_refs(self, record: Record, fact: ReviewRequested | ReviewVerdict) -> None:
        self.refs[record.scope.review] = fact.refs or self.refs.get(record.scope.review, ())
