"""Agents and edges that were made for one session."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import AgentDefined, EdgeAdded
from callboard.contracts.ports.agents import Definition, folded

from ..state.session import AddedEdge, Session, Thread


def defined(state: Session, fact: AgentDefined) -> Session:
    made = msgspec.json.decode(fact.definition.text, type=Definition)
    return msgspec.structs.replace(state, defined_agents=(*state.defined_agents, made))


def edge_added(state: Session, fact: EdgeAdded) -> Session:
    added = AddedEdge(source=fact.source, edge=fact.edge)

    def lead_from(thread: Thread) -> Thread:
        if folded(thread.agent) != folded(fact.source):
            return thread
        return msgspec.structs.replace(thread, edges=(*thread.edges, fact.edge))

    threads = {key: lead_from(thread) for key, thread in state.threads.items()}
    return msgspec.structs.replace(state, edges=(*state.edges, added), threads=threads)
