"""The facts of a task, its subtasks and the agents that worked on them. Pure.

The selection uses headers, which an erasure keeps, and the parents in readable facts of tasks.

- A subtask names the task as its parent, or a run or agent of the task created it for a child.
- A turn belongs to the task that it was started for, or to the task of its objective.
- A spawned agent works for the task that it was spawned for, until it gets another task.
- A handoff, review or channel belongs to a task once a fact of the task names it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callboard.contracts.chain import StoredBytes
from callboard.contracts.facts.task import TaskCreated, TaskStarted, TaskUpdated
from callboard.contracts.facts.turn import TurnStarted
from callboard.contracts.record import Header, decode_header
from callboard.contracts.scope import Scope

#: Entities that several agents share.
_SHARED = ("handoff", "review", "channel")


class _Link(msgspec.Struct, rename="camel"):
    """The parent in the payload of a task's fact."""

    parent_task: str | None = None


class TaskPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The facts of a task.

    Attributes:
        tasks: The task and its subtasks.
        agents: The agents that worked on them.
        threads: The threads of these agents.
        facts: Spans of sequences, both ends included.
    """

    task_id: str
    tasks: tuple[str, ...]
    agents: tuple[str, ...]
    threads: tuple[str, ...]
    facts: tuple[tuple[int, int], ...]

    @property
    def fact_count(self) -> int:
        """The number of facts."""
        return sum(last - first + 1 for first, last in self.facts)


class _Ownership:
    """The current task of each spawned agent, as of the last applied fact."""

    def __init__(self) -> None:
        self.task: dict[str, str] = {}

    def apply(self, header: Header) -> None:
        scope = header.scope
        if header.type in (TaskCreated.type, TaskStarted.type) and scope.thread and scope.parent_thread:
            self.task[scope.thread] = scope.task


class Lineage:
    """Select the facts of any task after reading all facts of a session once, in order.

    It stores a few ids for each task, each turn of a task, and each shared entity.
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
        """Add the next facts of the session."""
        for stored in page:
            self._add(decode_header(stored.header), stored.payload)

    def find_scope(self, task: str) -> Scope | None:
        """Return the scope of a task's creation; None if the session has no such task."""
        return self._created.get(task)

    def select(self, task: str) -> Selection:
        """Return a selection of the facts of a task and its subtasks."""
        tasks = {task}
        has_grown = True
        while has_grown:
            turns = self._find_turns(tasks)
            subtasks = {
                other
                for other in self._created.keys() - tasks
                if not tasks.isdisjoint(self._parents.get(other, ()))
                or self._turn_of_run.get(self._spawned_by.get(other, "")) in turns
            }
            has_grown = bool(subtasks)
            tasks |= subtasks
        turns = self._find_turns(tasks)
        owners = {("task", task) for task in tasks} | {("turn", turn) for turn in turns}
        shared = {entity for entity, named_by in self._named_by.items() if not named_by.isdisjoint(owners)}
        return Selection(task, tasks, turns, shared)

    def _find_turns(self, tasks: set[str]) -> set[str]:
        return {turn for task in tasks for turn in self._turns.get(task, ())}

    def _add(self, header: Header, payload: bytes | None) -> None:
        scope, kind = header.scope, header.type
        if kind == TaskCreated.type and scope.task not in self._created:
            self._created[scope.task] = scope
            creator_task = self._ownership.task.get(scope.parent_thread)
            if creator_task:
                self._parents.setdefault(scope.task, set()).add(creator_task)
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
        for entity in list_shared_entities(scope):
            named_by = self._named_by.setdefault(entity, set())
            thread_task = self._ownership.task.get(scope.thread, "")
            owners = (("task", scope.task), ("task", thread_task), ("turn", scope.turn))
            named_by.update(owner for owner in owners if owner[1])


class Selection:
    """Collect the facts of a task from all facts of its session, added in order from the first."""

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
        """Add the next fact of the session."""
        self._ownership.apply(header)
        scope = header.scope
        is_work = self._ownership.task.get(scope.thread) in self._tasks or scope.turn in self._turns
        if is_work and scope.thread:
            self._threads[scope.thread] = None
            if scope.agent:
                self._agents[scope.agent] = None
        if (
            is_work
            or scope.task in self._tasks
            or any(entity in self._shared for entity in list_shared_entities(scope))
        ):
            first = self._spans.pop()[0] if self._spans and self._spans[-1][1] == sequence - 1 else sequence
            self._spans.append((first, sequence))

    def build_task_part(self) -> TaskPart:
        """Return the collected facts."""
        return TaskPart(
            task_id=self._task,
            tasks=tuple(sorted(self._tasks)),
            agents=tuple(self._agents),
            threads=tuple(self._threads),
            facts=tuple(self._spans),
        )


def list_shared_entities(scope: Scope) -> list[tuple[str, str]]:
    """Return the shared entities of a scope as pairs of kind and id."""
    return [(name, id) for name in _SHARED if (id := getattr(scope, name))]
