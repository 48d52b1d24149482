"""Agents and edges that were made for one session."""

from __future__ import annotations

from typing import assert_never

import msgspec

from callboard.contracts.content import LARGEST_INLINE, Text
from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts.agent import (
    AgentConnected,
    AgentDefined,
    AgentDisconnected,
    AgentFact,
    AgentModeChanged,
    AgentSlept,
    AgentWoke,
    EdgeAdded,
    RemoteArtifact,
    RemoteTaskChanged,
)
from callboard.contracts.ports.agents import Definition, folded

from ..state.session import Session, Thread
from ..state.team import AddedEdge, ExternalLink
from ..state.turn import OpenRun, RemoteDelivery
from .background_agent import slept, woke
from .fact_context import FactContext, change_run, change_thread


def apply(state: Session, fact: AgentFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case AgentConnected():
            return connected(state, fact, place)
        case AgentDisconnected():
            return disconnected(state, fact, place)
        case RemoteTaskChanged():
            return task(state, fact, place)
        case RemoteArtifact():
            return delivered(state, fact, place)
        case AgentSlept():
            return slept(state, fact, place)
        case AgentWoke():
            return woke(state, fact, place)
        case AgentDefined():
            return defined(state, fact)
        case EdgeAdded():
            return edge_added(state, fact)
        case AgentModeChanged():
            return state
        case _:
            assert_never(fact)


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


#: After these an agent elsewhere does nothing more for its task.
OVER: tuple[RemoteTaskState, ...] = ("completed", "failed", "canceled", "rejected")
#: How many artifacts of one run are told to others with its answer.
MOST_DELIVERED = 20


def connected(state: Session, fact: AgentConnected, place: FactContext) -> Session:
    return _linked(state, place, provider_session=fact.provider_session_id, connected=True)


def disconnected(state: Session, fact: AgentDisconnected, place: FactContext) -> Session:
    return _linked(state, place, provider_session=fact.provider_session_id, connected=False)


def task(state: Session, fact: RemoteTaskChanged, place: FactContext) -> Session:
    """A state that is not known ends nothing: the task may go on."""
    return _linked(state, place, task="" if fact.state in OVER else fact.remote_task_id, task_state=fact.state)


def delivered(state: Session, fact: RemoteArtifact, place: FactContext) -> Session:
    text = "\n\n".join(part.text.text for part in fact.parts if part.text.text)
    made = RemoteDelivery(
        artifact=fact.remote_artifact_id,
        name=fact.name or fact.remote_artifact_id,
        text=Text(text=text[: LARGEST_INLINE // 4]),
    )

    def add(run: OpenRun) -> OpenRun:
        others = (one for one in run.deliveries if one.artifact != made.artifact)
        return msgspec.structs.replace(run, deliveries=(*others, made)[-MOST_DELIVERED:])

    return change_run(state, place, add)


def _linked(state: Session, place: FactContext, **changes: object) -> Session:
    def change(thread: Thread) -> Thread:
        link = thread.external or ExternalLink(provider_session="", connected=False)
        return msgspec.structs.replace(thread, external=msgspec.structs.replace(link, **changes))

    return change_thread(state, place, change)
