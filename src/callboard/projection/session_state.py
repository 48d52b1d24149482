"""The state of a session, for the list, the header, the tab and the command line.

The first condition that applies decides:

1. `waiting`: an action, or work for a person who is an agent, is pending.
2. `failed`: the newest turn of a main agent, or a job, failed and was not tried again.
3. `paused`: an agent, a task or a job waits for its resume.
4. `running`: an agent is running, or a job has open items.
5. `queued`: a turn is queued.
6. `interrupted`: the newest turn of a main agent was interrupted.
7. `idle`.

A parent handles the failure of its child: the session fails only with the parent.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.facts.job import JobCreated
from callboard.contracts.facts.session import PauseCause, ThreadOpened, ThreadPaused, ThreadResumed
from callboard.contracts.facts.subagent import SubagentClosed
from callboard.contracts.facts.task import TaskEndFact, TaskFailed, TaskPaused, TaskResumed, TaskStarted
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows.session import Attention, SessionState

from .reducer import Reducer, on

JobState = Literal["running", "failed"]


class OpenWork(Reducer):
    """The open work of a session.

    Attributes:
        running: The turns in progress.
        paused: The paused threads.
        paused_tasks: The paused tasks, each with whether a person paused it.
        jobs: The open jobs, by task.
        children: The threads of children.
        failed: The other threads whose newest turn failed.
        interrupted: Whether the newest turn of a main agent was interrupted.
    """

    running: set[str] = msgspec.field(default=set())
    paused: dict[str, PauseCause] = msgspec.field(default={})
    paused_tasks: dict[str, bool] = msgspec.field(default={})
    jobs: dict[str, JobState] = msgspec.field(default={})
    children: set[str] = msgspec.field(default=set())
    failed: set[str] = msgspec.field(default=set())
    interrupted: bool = False

    def derive_state(self, *, waits: bool, queued: bool) -> SessionState:
        """Return the state of the session, by the order above.

        Args:
            waits: Whether an action, or work for a person who is an agent, is pending.
            queued: Whether a turn is queued.
        """
        if waits:
            return "waiting"
        if self.failed or "failed" in self.jobs.values() or "failed" in self.paused.values():
            return "failed"
        if self.paused or self.paused_tasks:
            return "paused"
        if self.running or self.jobs:
            return "running"
        if queued:
            return "queued"
        return "interrupted" if self.interrupted else "idle"

    def derive_attention(self, state: SessionState) -> Attention:
        """Return why a person is needed. A task that a person paused needs no attention."""
        if state == "failed":
            return "failed"
        waits = state == "waiting" or bool(self.paused) or not all(self.paused_tasks.values())
        return "needs_input" if waits else "none"

    @on
    def open_thread(self, record: Record, fact: ThreadOpened) -> None:
        if record.scope.parent_thread:
            self.children.add(record.scope.thread)

    @on
    def start_turn(self, record: Record, fact: TurnStarted) -> None:
        self.running.add(record.scope.turn)
        self.failed.discard(record.scope.thread)
        self.interrupted = self.interrupted and record.scope.thread in self.children

    @on
    def complete_turn(self, record: Record, fact: TurnCompleted) -> None:
        self._end_turn(record)

    @on
    def fail_turn(self, record: Record, fact: TurnFailed) -> None:
        if self._end_turn(record):
            self.failed.add(record.scope.thread)

    @on
    def interrupt_turn(self, record: Record, fact: TurnInterrupted) -> None:
        if self._end_turn(record):
            self.interrupted = True

    def _end_turn(self, record: Record) -> bool:
        """End the turn; return whether its agent is a main agent."""
        self.running.discard(record.scope.turn)
        if record.scope.thread in self.children:
            return False
        self.interrupted = False
        return True

    @on
    def pause(self, record: Record, fact: ThreadPaused) -> None:
        self.paused[record.scope.thread] = fact.cause

    @on
    def resume(self, record: Record, fact: ThreadResumed) -> None:
        self.paused.pop(record.scope.thread, None)

    @on
    def close_child(self, record: Record, fact: SubagentClosed) -> None:
        self.children.discard(record.scope.thread)
        self.paused.pop(record.scope.thread, None)

    @on
    def create_job(self, record: Record, fact: JobCreated) -> None:
        self.jobs[record.scope.task] = "running"

    @on
    def start_task(self, record: Record, fact: TaskStarted) -> None:
        if record.scope.task in self.jobs:
            self.jobs[record.scope.task] = "running"

    @on
    def fail_task(self, record: Record, fact: TaskFailed) -> None:
        if record.scope.task in self.jobs:
            self.jobs[record.scope.task] = "failed"

    @on
    def pause_task(self, record: Record, fact: TaskPaused) -> None:
        actor = record.header.actor
        self.paused_tasks[record.scope.task] = actor is not None and actor.kind == "person"

    @on
    def resume_task(self, record: Record, fact: TaskResumed) -> None:
        self.paused_tasks.pop(record.scope.task, None)

    @on
    def end_task(self, record: Record, fact: TaskEndFact) -> None:
        self.paused_tasks.pop(record.scope.task, None)
        self.jobs.pop(record.scope.task, None)
