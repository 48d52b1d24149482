"""The edges of the team's graph, once there is a second agent. Every edge comes from a fact.

Edges link parents to children, agents to declared paths, the agents of an open handoff, waiting agents and dependent tasks.
"""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.agent import EdgeAdded
from callboard.contracts.facts.exchange.handoff import HandoffCompleted, HandoffRejected, HandoffRequested
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.subagent import SubagentClosed, SubagentsAwaited
from callboard.contracts.facts.task import TaskCreated, TaskEndFact, TaskUpdated
from callboard.contracts.facts.tool import ToolEndFact
from callboard.contracts.ports.agents import fold_name
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.team import EdgeRow

from ..reducer import Panel, on, remove, upsert


class DeclaredPath(msgspec.Struct, frozen=True, gc=False):
    """A path that an agent declares to an agent outside of the session."""

    source: str
    edge: Edge


class EdgesPanel(Panel):
    """The edges of the graph.

    Attributes:
        agents: The agent id, by each name that reaches the agent.
        threads: The agent id, by thread.
        declared: The paths to agents that have not joined.
        open: The edges that will be removed, by handoff, call or task.
    """

    agents: dict[str, str] = msgspec.field(default={})
    threads: dict[str, str] = msgspec.field(default={})
    declared: list[DeclaredPath] = msgspec.field(default=[])
    open: dict[str, list[EdgeRow]] = msgspec.field(default={})

    @on
    def join(self, record: Record, fact: ThreadOpened) -> list[Op]:
        scope = record.scope
        rows: list[EdgeRow] = []
        if scope.parent_thread in self.threads:
            rows.append(_build_edge(record, "child", self.threads[scope.parent_thread], scope.agent))
        self.threads[scope.thread] = scope.agent
        self.agents[fold_name(scope.agent)] = scope.agent
        if not scope.parent_thread:
            for name in (fact.definition, *fact.aliases):
                self.agents.setdefault(fold_name(name), scope.agent)
        self.declared += [DeclaredPath(scope.agent, edge) for edge in fact.edges]
        return upsert(*rows, *self._resolve_paths(record))

    @on
    def close(self, record: Record, fact: SubagentClosed) -> list[Op]:
        self.threads.pop(record.scope.thread, None)
        return []

    @on
    def declare(self, record: Record, fact: EdgeAdded) -> list[Op]:
        self.declared.append(DeclaredPath(fact.source, fact.edge))
        return upsert(*self._resolve_paths(record))

    @on
    def wait(self, record: Record, fact: SubagentsAwaited) -> list[Op]:
        source = self.threads.get(record.scope.thread, record.scope.agent)
        rows = [_build_edge(record, "wait", source, target) for target in fact.agents]
        return self._put(f"call:{record.scope.tool_call}", rows)

    @on
    def end_wait(self, record: Record, fact: ToolEndFact) -> list[Op]:
        return self._remove(f"call:{record.scope.tool_call}") if self.open else []

    @on
    def request_handoff(self, record: Record, fact: HandoffRequested) -> list[Op]:
        if not {fold_name(fact.source), fold_name(fact.target)} <= self.agents.keys():
            return []
        edge = _build_edge(record, "handoff", fact.source, fact.target)
        edge = msgspec.structs.replace(edge, edge_kind=fact.edge, confirm=fact.confirm, ownership=fact.ownership)
        return self._put(f"handoff:{record.scope.handoff}", [edge])

    @on
    def end_handoff(self, record: Record, fact: HandoffRejected | HandoffCompleted) -> list[Op]:
        return self._remove(f"handoff:{record.scope.handoff}")

    @on
    def depend(self, record: Record, fact: TaskCreated | TaskUpdated) -> list[Op]:
        if fact.depends_on is None or (isinstance(fact, TaskCreated) and not fact.depends_on):
            return []
        key = f"task:{record.scope.task}"
        rows = [_build_edge(record, "depends", record.scope.task, task) for task in fact.depends_on]
        return [*self._remove(key), *self._put(key, rows)]

    @on
    def end_task(self, record: Record, fact: TaskEndFact) -> list[Op]:
        return self._remove(f"task:{record.scope.task}")

    def _resolve_paths(self, record: Record) -> list[EdgeRow]:
        """Return the declared paths to agents that have joined."""
        rows: list[EdgeRow] = []
        remaining: list[DeclaredPath] = []
        for path in self.declared:
            target = self.agents.get(fold_name(path.edge.to))
            if target is None:
                remaining.append(path)
                continue
            rows.append(
                msgspec.structs.replace(
                    _build_edge(record, "path", path.source, target),
                    direction=path.edge.direction,
                    edge_kind=path.edge.kind,
                    confirm=path.edge.confirm,
                    ownership=path.edge.ownership,
                )
            )
        self.declared = remaining
        return rows

    def _put(self, key: str, rows: list[EdgeRow]) -> list[Op]:
        if rows:
            self.open[key] = rows
        return upsert(*rows)

    def _remove(self, key: str) -> list[Op]:
        """Remove the edges, except edges that are equal to another open edge."""
        rows = self.open.pop(key, [])
        others = {row.key for rows in self.open.values() for row in rows}
        return [op for row in rows if row.key not in others for op in remove(EdgeRow, row.key)]


def _build_edge(record: Record, kind: str, source: str, target: str) -> EdgeRow:
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
