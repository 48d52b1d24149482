"""The lines of the graph, once there is a second agent: from parents to children, allowed paths, handoffs that are not over,
waits, and what a task depends on. Nothing is guessed: each line is a fact's."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import Edge
from callboard.contracts.facts import (
    EdgeAdded,
    Fact,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    SubagentClosed,
    SubagentsAwaited,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskUpdated,
    ThreadOpened,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
)
from callboard.contracts.ports.agents import folded
from callboard.contracts.record import Record
from callboard.contracts.rows import EdgeRow, Op

from ..ops import remove, upsert

_CALLS_END: frozenset[type[Fact]] = frozenset({ToolCompleted, ToolFailed, ToolCancelled, ToolLost})
#: The facts that change the graph.
TAKES: frozenset[type[Fact]] = _CALLS_END | {
    ThreadOpened,
    EdgeAdded,
    SubagentClosed,
    SubagentsAwaited,
    HandoffRequested,
    HandoffAccepted,
    HandoffRejected,
    HandoffCompleted,
    TaskCreated,
    TaskUpdated,
    TaskCompleted,
    TaskCancelled,
}


class Declared(msgspec.Struct, frozen=True):
    """A path that an agent declares to one that is not in the session."""

    source: str
    edge: Edge


class EdgesPanel(msgspec.Struct):
    """`agents` are the ids by each name that reaches them, `threads` by thread; `declared` the paths to agents that have not
    joined; `open` the lines that go again, by what they are about: a handoff, a call, a task."""

    agents: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    threads: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    declared: list[Declared] = msgspec.field(default_factory=list[Declared])
    open: dict[str, list[EdgeRow]] = msgspec.field(default_factory=dict[str, list[EdgeRow]])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
        scope = record.scope
        match record.fact:
            case ThreadOpened() as fact:
                return self._join(record, fact)
            case SubagentsAwaited() as fact:
                source = self.threads.get(scope.thread, scope.agent)
                rows = [_edge(record, "wait", source, target) for target in fact.agents]
                return self._put(f"call:{scope.tool_call}", rows)
            case HandoffRequested() as fact if {folded(fact.source), folded(fact.target)} <= self.agents.keys():
                row = _edge(record, "handoff", fact.source, fact.target)
                return self._put(
                    f"handoff:{scope.handoff}",
                    [msgspec.structs.replace(row, edge_kind=fact.edge, confirm=fact.confirm, ownership=fact.ownership)],
                )
            case HandoffRejected() | HandoffCompleted():
                return self._take(f"handoff:{scope.handoff}")
            case TaskCreated() as fact if fact.depends_on:
                return self._depends(record, fact.depends_on)
            case TaskUpdated() as fact if fact.depends_on is not None:
                return self._depends(record, fact.depends_on)
            case TaskCompleted() | TaskCancelled():
                return self._take(f"task:{scope.task}")
            case EdgeAdded() as fact:
                self.declared.append(Declared(fact.source, fact.edge))
                return upsert(*self._paths(record))
            case SubagentClosed():
                self.threads.pop(scope.thread, None)
                return []
            case _:
                return self._take(f"call:{scope.tool_call}") if self.open and scope.tool_call else []

    def _join(self, record: Record, fact: ThreadOpened) -> list[Op]:
        scope = record.scope
        rows: list[EdgeRow] = []
        if scope.parent_thread in self.threads:
            rows.append(_edge(record, "child", self.threads[scope.parent_thread], scope.agent))
        self.threads[scope.thread] = scope.agent
        self.agents[folded(scope.agent)] = scope.agent
        if not scope.parent_thread:
            for name in (fact.definition, *fact.aliases):
                self.agents.setdefault(folded(name), scope.agent)
        self.declared += [Declared(scope.agent, edge) for edge in fact.edges]
        return upsert(*rows, *self._paths(record))

    def _paths(self, record: Record) -> list[EdgeRow]:
        """The paths that were declared to agents that are there now."""
        rows: list[EdgeRow] = []
        left: list[Declared] = []
        for one in self.declared:
            target = self.agents.get(folded(one.edge.to))
            if target is None:
                left.append(one)
                continue
            rows.append(
                msgspec.structs.replace(
                    _edge(record, "path", one.source, target),
                    direction=one.edge.direction,
                    edge_kind=one.edge.kind,
                    confirm=one.edge.confirm,
                    ownership=one.edge.ownership,
                )
            )
        self.declared = left
        return rows

    def _depends(self, record: Record, on: tuple[str, ...]) -> list[Op]:
        about = f"task:{record.scope.task}"
        rows = [_edge(record, "depends", record.scope.task, task) for task in on]
        return [*self._take(about), *self._put(about, rows)]

    def _put(self, about: str, rows: list[EdgeRow]) -> list[Op]:
        if rows:
            self.open[about] = rows
        return upsert(*rows)

    def _take(self, about: str) -> list[Op]:
        """The lines are gone, except where another one that is open is the same."""
        rows = self.open.pop(about, [])
        kept = {row.key for others in self.open.values() for row in others}
        return [op for row in rows if row.key not in kept for op in remove(EdgeRow, row.key)]


def _edge(record: Record, kind: str, source: str, target: str) -> EdgeRow:
    row = EdgeRow(
        key=f"{kind}:{source}>{target}",
        order=record.sequence,
        sequence=record.sequence,
        edge_type="path",
        source=source,
        target=target,
    )
    match kind:
        case "child" | "handoff" | "wait" | "depends":
            return msgspec.structs.replace(row, edge_type=kind)
        case _:
            return row
