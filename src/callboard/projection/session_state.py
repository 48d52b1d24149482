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

from callboard.contracts.facts.action import ActionExpired, ActionRequired, ActionResolved, ActionWithdrawn
from callboard.contracts.facts.job import JobCreated
from callboard.contracts.facts.queue import QueueAdded, QueueRemoved
from callboard.contracts.facts.session import PauseCause, ThreadOpened, ThreadPaused, ThreadResumed
from callboard.contracts.facts.subagent import SubagentClosed
from callboard.contracts.facts.task import (
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarted,
)
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows.session import Attention, SessionState

from .team.human_agents import HumanAgents

JobState = Literal["running", "failed"]


class OpenWork(msgspec.Struct):
    """The open work of a session.

    Attributes:
        running: The run of each turn in progress.
        pending: The turn of each action without an answer.
        queued: The queued turns.
        paused: The paused threads.
        held: The paused tasks, each with whether a person paused it.
        jobs: The open jobs, by task.
        children: The threads of children.
        failed: The other threads whose newest turn failed.
        interrupted: Whether the newest turn of a main agent was interrupted.
    """

    running: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    pending: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    queued: set[str] = msgspec.field(default_factory=set[str])
    paused: dict[str, PauseCause] = msgspec.field(default_factory=dict[str, PauseCause])
    held: dict[str, bool] = msgspec.field(default_factory=dict[str, bool])
    jobs: dict[str, JobState] = msgspec.field(default_factory=dict[str, JobState])
    persons: HumanAgents = msgspec.field(default_factory=HumanAgents)
    children: set[str] = msgspec.field(default_factory=set[str])
    failed: set[str] = msgspec.field(default_factory=set[str])
    interrupted: bool = False

    def apply(self, record: Record) -> bool:
        """Apply the fact; return whether the session's state or counts depend on it."""
        scope, counted = record.scope, False
        if type(record.fact) in HumanAgents.HANDLERS:
            self.persons.handle(record)
            counted = bool(self.persons.agents)
        match record.fact:
            case ThreadOpened():
                if scope.parent_thread:
                    self.children.add(scope.thread)
            case TurnStarted():
                self.queued.discard(scope.turn)
                self.running[scope.turn] = scope.run
                self.failed.discard(scope.thread)
                self.interrupted = self.interrupted and scope.thread in self.children
            case TurnCompleted() | TurnFailed() | TurnInterrupted():
                self._end(record)
            case QueueAdded():
                self.queued.add(scope.turn)
            case QueueRemoved():
                self.queued.discard(scope.turn)
            case ActionRequired():
                self.pending[scope.action] = scope.turn
            case ActionResolved() | ActionExpired() | ActionWithdrawn():
                self.pending.pop(scope.action, None)
            case ThreadPaused() as fact:
                self.paused[scope.thread] = fact.cause
            case ThreadResumed():
                self.paused.pop(scope.thread, None)
            case SubagentClosed():
                self.children.discard(scope.thread)
                self.paused.pop(scope.thread, None)
            case _:
                return self._task(record) or counted
        return True

    def state(self) -> SessionState:
        """Return the state of the session, by the order above."""
        if self.pending or self.persons.any_needs_input():
            return "waiting"
        if self.has_failed():
            return "failed"
        if self.paused or self.held:
            return "paused"
        if self.running or self.jobs:
            return "running"
        if self.queued:
            return "queued"
        return "interrupted" if self.interrupted else "idle"

    def attention(self) -> Attention:
        """Return why a person is needed. A task that a person paused needs no attention."""
        state = self.state()
        if state == "failed":
            return "failed"
        waits = state == "waiting" or bool(self.paused) or not all(self.held.values())
        return "needs_input" if waits else "none"

    def has_failed(self) -> bool:
        """Return whether a failure waits for a person."""
        return bool(self.failed) or "failed" in self.jobs.values() or "failed" in self.paused.values()

    def _end(self, record: Record) -> None:
        scope = record.scope
        self.running.pop(scope.turn, None)
        self.pending = {action: turn for action, turn in self.pending.items() if turn != scope.turn}
        if scope.thread in self.children:
            return
        self.interrupted = isinstance(record.fact, TurnInterrupted)
        if isinstance(record.fact, TurnFailed):
            self.failed.add(scope.thread)

    def _task(self, record: Record) -> bool:
        task, actor = record.scope.task, record.header.actor
        match record.fact:
            case TaskCreated():
                return False
            case JobCreated():
                self.jobs[task] = "running"
            case TaskStarted() if task in self.jobs:
                self.jobs[task] = "running"
            case TaskFailed() if task in self.jobs:
                self.jobs[task] = "failed"
            case TaskPaused():
                self.held[task] = actor is not None and actor.kind == "person"
            case TaskResumed():
                self.held.pop(task, None)
            case TaskCompleted() | TaskCancelled():
                self.held.pop(task, None)
                self.jobs.pop(task, None)
            case _:
                return False
        return True
