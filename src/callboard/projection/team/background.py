"""The sleep of a background agent: what wakes it, and the result of its newest run."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import BackgroundState
from callboard.contracts.facts.agent import AgentSlept, AgentWoke
from callboard.contracts.facts.task import TaskEndFact, TaskFailed, TaskPaused, TaskResumed
from callboard.contracts.facts.turn import TurnEndFact, TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows.agent import BackgroundWork

from ..reducer import Reducer, on
from ..run_end import derive_end


class Sleepers(Reducer):
    """The thread of each agent that wakes for a task, by task."""

    threads: dict[str, str] = msgspec.field(default={})

    @on
    def sleep(self, record: Record, fact: AgentSlept | AgentWoke) -> None:
        self.threads[record.scope.task] = record.scope.thread


class Sleeper(Reducer):
    """The sleep of one agent.

    Attributes:
        work: The work as its facts state it, without the state.
        waking: Whether the agent woke and has no run yet.
        failed: Whether the newest run or the task failed, until the agent wakes again.
        paused: Whether the task is paused.
        over: Whether the task ended.
    """

    work: BackgroundWork
    waking: bool = False
    failed: bool = False
    paused: bool = False
    over: bool = False

    @on
    def sleep(self, record: Record, fact: AgentSlept) -> None:
        self._set_task(record.scope.task)
        self.waking = False
        self.over = self.over or fact.reason == "ended"
        self.work = msgspec.structs.replace(
            self.work,
            task_id=record.scope.task,
            schedule=fact.schedule,
            wake_at=fact.wake_at,
            wake_on=fact.wake_on,
        )

    @on
    def wake(self, record: Record, fact: AgentWoke) -> None:
        self._set_task(record.scope.task)
        self.waking, self.failed = True, False
        self.work = msgspec.structs.replace(
            self.work, task_id=record.scope.task, wake_at=0, wake_reason=fact.reason, woke_at=record.header.at
        )

    @on
    def start_run(self, record: Record, fact: TurnStarted) -> None:
        self.waking = self.failed = False

    @on
    def end_run(self, record: Record, fact: TurnEndFact) -> None:
        status, _ = derive_end(fact)
        self.failed = status == "failed"
        self.work = msgspec.structs.replace(self.work, last_run=record.scope.run, last_run_status=status)

    @on
    def pause(self, record: Record, fact: TaskPaused) -> None:
        self.paused = True

    @on
    def resume(self, record: Record, fact: TaskResumed) -> None:
        self.paused = self.failed = False

    @on
    def fail(self, record: Record, fact: TaskFailed) -> None:
        self.failed = True

    @on
    def end_task(self, record: Record, fact: TaskEndFact) -> None:
        self.over, self.paused, self.waking = True, False, False
        self.work = msgspec.structs.replace(self.work, wake_at=0, wake_on=())

    def _set_task(self, task: str) -> None:
        if self.work.task_id != task:
            self.over = self.paused = False

    def build_background_work(self, *, running: bool, blocked: bool) -> BackgroundWork:
        """Return the work with its state.

        Args:
            running: Whether a run is open.
            blocked: Whether the agent waits for a person.
        """
        return msgspec.structs.replace(self.work, state=self._derive_state(running, blocked))

    def _derive_state(self, running: bool, blocked: bool) -> BackgroundState:
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
