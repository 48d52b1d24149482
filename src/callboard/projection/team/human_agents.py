"""What waits for a person who is an agent of the team: what was handed over to it, a review that it was asked for, a task that
stands in its name and does not go on without it."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import (
    Fact,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    InboxConsumed,
    ReplyEnded,
    ReviewRequested,
    ReviewVerdict,
    SubagentCancelled,
    SubagentClosed,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskStarted,
    TaskUpdated,
    ThreadOpened,
)
from callboard.contracts.record import Record

#: The facts that change it.
TAKES: frozenset[type[Fact]] = frozenset(
    {
        ThreadOpened,
        HandoffRequested,
        HandoffAccepted,
        HandoffRejected,
        HandoffCompleted,
        ReplyEnded,
        InboxConsumed,
        ReviewRequested,
        ReviewVerdict,
        SubagentCancelled,
        SubagentClosed,
        TaskCreated,
        TaskStarted,
        TaskUpdated,
        TaskCompleted,
        TaskFailed,
        TaskCancelled,
    }
)


class HumanAgents(msgspec.Struct):
    """`agents` are the persons by thread. `handoffs` are those that no person answered, with the receiving thread, `reviews`
    those without a verdict, with the reviewer and whose work it is. `tasks` are those that are open, with who has them, and
    `waiting` those of them that nobody works on."""

    agents: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    handoffs: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    reviews: dict[str, tuple[str, str]] = msgspec.field(default_factory=dict[str, tuple[str, str]])
    tasks: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    waiting: set[str] = msgspec.field(default_factory=set[str])

    def asked(self, thread: str) -> bool:
        """True where something waits for the person of that thread."""
        agent = self.agents.get(thread)
        return agent is not None and (
            thread in self.handoffs.values()
            or any(reviewer == agent for reviewer, _ in self.reviews.values())
            or any(self.tasks.get(task) == agent for task in self.waiting)
        )

    def any_asked(self) -> bool:
        """True where something waits for any of them."""
        return any(self.asked(thread) for thread in self.agents)

    def take(self, record: Record) -> None:
        """Takes one of `TAKES`."""
        scope = record.scope
        match record.fact:
            case ThreadOpened(kind="human"):
                self.agents[scope.thread] = scope.agent
            case HandoffRequested() as fact if fact.to_thread in self.agents:
                self.handoffs[scope.handoff] = fact.to_thread
            case HandoffAccepted() | HandoffRejected() | HandoffCompleted() | ReplyEnded(end="answered"):
                self.handoffs.pop(scope.handoff, None)
            case InboxConsumed() as fact:
                for item in fact.items:
                    self.handoffs.pop(item, None)
            case ReviewRequested() as fact:
                self.waiting.discard(scope.task)
                if fact.reviewer in self.agents.values():
                    self.reviews[scope.review] = fact.reviewer, fact.target
                else:
                    self.reviews.pop(scope.review, None)
            case ReviewVerdict():
                self.reviews.pop(scope.review, None)
            case SubagentCancelled() | SubagentClosed():
                self.reviews = {key: one for key, one in self.reviews.items() if one[1] != scope.agent}
            case _:
                self._task(record)

    def _task(self, record: Record) -> None:
        task = record.scope.task
        match record.fact:
            case TaskCreated() as fact:
                self.tasks[task] = fact.assignee
                if not record.scope.turn and not record.scope.parent_thread:
                    self.waiting.add(task)
            case TaskCompleted() | TaskCancelled():
                self.tasks.pop(task, None)
                self.waiting.discard(task)
            case TaskStarted() as fact if task in self.tasks:
                self.tasks[task] = fact.assignee
                self.waiting.discard(task)
            case TaskFailed() if task in self.tasks:
                self.waiting.add(task)
            case TaskUpdated() as fact if task in self.tasks:
                if fact.assignee is not None:
                    self.tasks[task] = fact.assignee
                if fact.status in ("claimed", "blocked"):
                    self.waiting.add(task)
                elif fact.status is not None:
                    self.waiting.discard(task)
            case _:
                pass
