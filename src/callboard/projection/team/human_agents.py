"""Work that waits for a person who is an agent of the team: handoffs, reviews and tasks."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
)
from callboard.contracts.facts.exchange.inbox import InboxConsumed
from callboard.contracts.facts.exchange.review import ReviewRequested, ReviewVerdict
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.subagent import SubagentCancelled, SubagentClosed
from callboard.contracts.facts.task import TaskCreated, TaskEndFact, TaskFailed, TaskStarted, TaskUpdated
from callboard.contracts.record import Record

from ..reducer import Reducer, on


class HumanAgents(Reducer):
    """The persons among the agents, and what waits for them.

    Attributes:
        agents: The persons' agent ids, by thread.
        handoffs: The receiving thread of each unanswered handoff to a person.
        reviews: The reviewer and the reviewed agent of each review without a verdict.
        tasks: The assignee of each open task.
        waiting: The open tasks on which no agent works.
    """

    agents: dict[str, str] = msgspec.field(default={})
    handoffs: dict[str, str] = msgspec.field(default={})
    reviews: dict[str, tuple[str, str]] = msgspec.field(default={})
    tasks: dict[str, str] = msgspec.field(default={})
    waiting: set[str] = msgspec.field(default=set())

    def is_input_needed(self, thread: str) -> bool:
        """Return whether something waits for the person of the thread."""
        agent = self.agents.get(thread)
        return agent is not None and (
            thread in self.handoffs.values()
            or any(reviewer == agent for reviewer, _ in self.reviews.values())
            or any(self.tasks.get(task) == agent for task in self.waiting)
        )

    def is_any_input_needed(self) -> bool:
        """Return whether something waits for any person."""
        return any(self.is_input_needed(thread) for thread in self.agents)

    @on
    def join(self, record: Record, fact: ThreadOpened) -> None:
        if fact.kind == "human":
            self.agents[record.scope.thread] = record.scope.agent

    @on
    def request_handoff(self, record: Record, fact: HandoffRequested) -> None:
        if fact.to_thread in self.agents:
            self.handoffs[record.scope.handoff] = fact.to_thread

    @on
    def answer_handoff(self, record: Record, fact: HandoffAccepted | HandoffRejected | HandoffCompleted) -> None:
        self.handoffs.pop(record.scope.handoff, None)

    @on
    def end_reply(self, record: Record, fact: ReplyEnded) -> None:
        if fact.end == "answered":
            self.handoffs.pop(record.scope.handoff, None)

    @on
    def consume(self, record: Record, fact: InboxConsumed) -> None:
        for item in fact.items:
            self.handoffs.pop(item, None)

    @on
    def request_review(self, record: Record, fact: ReviewRequested) -> None:
        self.waiting.discard(record.scope.task)
        if fact.reviewer in self.agents.values():
            self.reviews[record.scope.review] = fact.reviewer, fact.target
        else:
            self.reviews.pop(record.scope.review, None)

    @on
    def judge_review(self, record: Record, fact: ReviewVerdict) -> None:
        self.reviews.pop(record.scope.review, None)

    @on
    def withdraw_reviews(self, record: Record, fact: SubagentCancelled | SubagentClosed) -> None:
        self.reviews = {key: pair for key, pair in self.reviews.items() if pair[1] != record.scope.agent}

    @on
    def create_task(self, record: Record, fact: TaskCreated) -> None:
        self.tasks[record.scope.task] = fact.assignee
        if not record.scope.turn and not record.scope.parent_thread:
            self.waiting.add(record.scope.task)

    @on
    def end_task(self, record: Record, fact: TaskEndFact) -> None:
        self.tasks.pop(record.scope.task, None)
        self.waiting.discard(record.scope.task)

    @on
    def start_task(self, record: Record, fact: TaskStarted) -> None:
        task = record.scope.task
        if task in self.tasks:
            self.tasks[task] = fact.assignee
            self.waiting.discard(task)

    @on
    def fail_task(self, record: Record, fact: TaskFailed) -> None:
        if record.scope.task in self.tasks:
            self.waiting.add(record.scope.task)

    @on
    def update_task(self, record: Record, fact: TaskUpdated) -> None:
        task = record.scope.task
        if task not in self.tasks:
            return
        if fact.assignee is not None:
            self.tasks[task] = fact.assignee
        if fact.status in ("claimed", "blocked"):
            self.waiting.add(task)
        elif fact.status is not None:
            self.waiting.discard(task)
