"""The sleep of an agent of kind background: what it waits for, what woke it, and what came of its newest run."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import BackgroundState
from callboard.contracts.facts import (
    AgentSlept,
    AgentWoke,
    Fact,
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
)
from callboard.contracts.record import Record
from callboard.contracts.rows.team import BackgroundWork

from ..run_end import ended

#: Facts of the task that the agent's runs are attempts of; they may come from anybody's thread.
OF_TASKS: frozenset[type[Fact]] = frozenset({TaskPaused, TaskResumed, TaskCompleted, TaskFailed, TaskCancelled})


class Sleeper(msgspec.Struct):
    """`work` is as its facts told it, but for its state. `waking` is from its wake until a run begins; `failed` says that its
    newest run or its task did, until it wakes again; `paused` and `over` are of its task."""

    work: BackgroundWork
    waking: bool = False
    failed: bool = False
    paused: bool = False
    over: bool = False

    def take(self, record: Record) -> None:
        """Takes a fact of the agent's thread or of its task in."""
        match record.fact:
            case AgentSlept() | AgentWoke() as fact:
                self._sleep(record, fact)
            case TurnStarted():
                self.waking = self.failed = False
            case TurnCompleted() | TurnFailed() | TurnInterrupted():
                status, _ = ended(record)
                self.failed = status == "failed"
                self.work = msgspec.structs.replace(self.work, last_run=record.scope.run, last_run_status=status)
            case TaskPaused():
                self.paused = True
            case TaskResumed():
                self.paused = self.failed = False
            case TaskFailed():
                self.failed = True
            case TaskCompleted() | TaskCancelled():
                self.over, self.paused, self.waking = True, False, False
                self.work = msgspec.structs.replace(self.work, wake_at=0, wake_on=())
            case _:
                pass

    def _sleep(self, record: Record, fact: AgentSlept | AgentWoke) -> None:
        if self.work.task_id != record.scope.task:
            self.over = self.paused = False
        self.waking = isinstance(fact, AgentWoke)
        if isinstance(fact, AgentWoke):
            self.failed = False
            self.work = msgspec.structs.replace(
                self.work, task_id=record.scope.task, wake_at=0, wake_reason=fact.reason, woke_at=record.header.at
            )
            return
        self.over = self.over or fact.reason == "ended"
        self.work = msgspec.structs.replace(
            self.work,
            task_id=record.scope.task,
            schedule=fact.schedule,
            wake_at=fact.wake_at,
            wake_on=fact.wake_on,
        )

    def shown(self, *, running: bool, blocked: bool) -> BackgroundWork:
        """How it stands, while a run of it is open or it waits for a person."""
        return msgspec.structs.replace(self.work, state=self._state(running, blocked))

    def _state(self, running: bool, blocked: bool) -> BackgroundState:
        if self.over:
            return "completed"
        if blocked:
            return "blocked"
        if running:
            return "running"
        if self.paused:
            return "paused"
        if self.failed:
            return "failed"
        if self.waking:
            return "waking"
        return "sleeping" if self.work.last_run else "scheduled"


def asleep(record: Record) -> Sleeper:
    """The sleep of an agent that is told of for the first time."""
    sleeper = Sleeper(BackgroundWork(state="unknown", task_id=record.scope.task))
    sleeper.take(record)
    return sleeper
