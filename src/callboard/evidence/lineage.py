"""Which facts are of a task: its own, those of its parts, and those of the agents that worked on them. Pure.

It is read from the headers, which an erasure leaves as they were, and from what facts of tasks say of their parents as far as
that is readable.

- A task's part is one that names it as its parent, or that a run of it or an agent that works for it gave to a child.
- A turn is of the task that it was begun for, or whose objective it is.
- An agent that was spawned works for the task that it was spawned for, until it is given another one.
- A handoff, a review and a channel are of a task once a fact of the task names them.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callboard.contracts.chain import StoredBytes
from callboard.contracts.facts import TaskCreated, TaskStarted, TaskUpdated, TurnStarted
from callboard.contracts.record import Header, decode_header
from callboard.contracts.scope import Scope

#: The entities that facts of several agents belong to.
_SHARED = ("handoff", "review", "channel")


class _Link(msgspec.Struct, rename="camel"):
    """What a task's facts say of the task that it is part of."""

    parent_task: str | None = None


class TaskPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The facts of a task. `facts` are spans of sequences, both ends included; `tasks` are the task and its parts, `agents` and
    `threads` those that worked on them."""

    task_id: str
    tasks: tuple[str, ...]
    agents: tuple[str, ...]
    threads: tuple[str, ...]
    facts: tuple[tuple[int, int], ...]

    @property
    def fact_count(self) -> int:
        """How many facts they are."""
        return sum(last - first + 1 for first, last in self.facts)


class _Ownership:
    """For which task the spawned agents work at the fact that was taken last."""

    def __init__(self) -> None:
        self.task: dict[str, str] = {}

    def apply(self, header: Header) -> None:
        scope = header.scope
        if header.type in (TaskCreated.type, TaskStarted.type) and scope.thread and scope.parent_thread:
            self.task[scope.thread] = scope.task


class Lineage:
    """Reads the facts of a session in order, once, and can then tell of any task which are its own.

    It holds a few words for each task, turn with a task, and shared entity, and one span for each stretch of facts.
    """

    def __init__(self) -> None:
        self._ownership = _Ownership()
        self._created: dict[str, Scope] = {}
        self._parents: dict[str, set[str]] = {}
        self._turns: dict[str, set[str]] = {}
        self._spawned_by: dict[str, str] = {}
        self._turn_of_run: dict[str, str] = {}
        self._named_by: dict[tuple[str, str], set[tuple[str, str]]] = {}

    def add_facts(self, page: Iterable[StoredBytes]) -> None:
        """The next facts."""
        for stored in page:
            self._fact(decode_header(stored.header), stored.payload)

    def scope_of(self, task: str) -> Scope | None:
        """The scope that the task was made in; None where the session has no such task."""
        return self._created.get(task)

    def select(self, task: str) -> Selection:
        """The task with its parts."""
        tasks = {task}
        grown = True
        while grown:
            turns = self._turns_of(tasks)
            more = {
                other
                for other in self._created.keys() - tasks
                if not tasks.isdisjoint(self._parents.get(other, ()))
                or self._turn_of_run.get(self._spawned_by.get(other, "")) in turns
            }
            grown = bool(more)
            tasks |= more
        turns = self._turns_of(tasks)
        ours = {("task", one) for one in tasks} | {("turn", one) for one in turns}
        shared = {entity for entity, named in self._named_by.items() if not named.isdisjoint(ours)}
        return Selection(task, tasks, turns, shared)

    def _turns_of(self, tasks: set[str]) -> set[str]:
        return {turn for task in tasks for turn in self._turns.get(task, ())}

    def _fact(self, header: Header, payload: bytes | None) -> None:
        scope, kind = header.scope, header.type
        if kind == TaskCreated.type and scope.task not in self._created:
            self._created[scope.task] = scope
            working_for = self._ownership.task.get(scope.parent_thread)
            if working_for:
                self._parents.setdefault(scope.task, set()).add(working_for)
            if scope.parent_run:
                self._spawned_by[scope.task] = scope.parent_run
        self._ownership.apply(header)
        if kind in (TaskCreated.type, TaskUpdated.type) and payload is not None:
            parent = msgspec.json.decode(payload, type=_Link).parent_task
            if parent:
                self._parents.setdefault(scope.task, set()).add(parent)
        if kind in (TaskCreated.type, TaskStarted.type) and scope.turn:
            self._turns.setdefault(scope.task, set()).add(scope.turn)
        if kind == TurnStarted.type:
            self._turn_of_run[scope.run] = scope.turn
        for entity in shared_entities(scope):
            named = self._named_by.setdefault(entity, set())
            named.update(
                one
                for one in (
                    ("task", scope.task),
                    ("task", self._ownership.task.get(scope.thread, "")),
                    ("turn", scope.turn),
                )
                if one[1]
            )


class Selection:
    """Looks at each fact of a session, from the first on and in order, and collects those that are of the task."""

    def __init__(self, task: str, tasks: set[str], turns: set[str], shared: set[tuple[str, str]]) -> None:
        self._task = task
        self._tasks = tasks
        self._turns = turns
        self._shared = shared
        self._ownership = _Ownership()
        self._agents: dict[str, None] = {}
        self._threads: dict[str, None] = {}
        self._spans: list[tuple[int, int]] = []

    def add_fact(self, sequence: int, header: Header) -> None:
        """The next fact."""
        self._ownership.apply(header)
        scope = header.scope
        worked = self._ownership.task.get(scope.thread) in self._tasks or scope.turn in self._turns
        if worked and scope.thread:
            self._threads[scope.thread] = None
            if scope.agent:
                self._agents[scope.agent] = None
        if worked or scope.task in self._tasks or any(entity in self._shared for entity in shared_entities(scope)):
            first = self._spans.pop()[0] if self._spans and self._spans[-1][1] == sequence - 1 else sequence
            self._spans.append((first, sequence))

    def task_part(self) -> TaskPart:
        """All that were of the task."""
        return TaskPart(
            task_id=self._task,
            tasks=tuple(sorted(self._tasks)),
            agents=tuple(self._agents),
            threads=tuple(self._threads),
            facts=tuple(self._spans),
        )


def shared_entities(scope: Scope) -> list[tuple[str, str]]:
    """The entities of a scope that facts of several agents belong to, each with its kind."""
    return [(name, one) for name in _SHARED if (one := getattr(scope, name))]
