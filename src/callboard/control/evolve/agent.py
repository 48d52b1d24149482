"""Facts of agents: definitions and edges of one session, external and remote agents."""

from __future__ import annotations

from typing import assert_never

import msgspec
from msgspec.structs import replace

from callboard.contracts.content import MAX_INLINE_BYTES, Text
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
from callboard.contracts.ports.agents import Definition, fold_name

from ..state.session import Session, Thread
from ..state.team import AddedEdge, ExternalLink
from ..state.turn import OpenRun, RemoteDelivery
from .background_agent import sleep, wake
from .fact_context import FactContext, change_run, change_thread

#: Terminal states of a remote agent's task.
_TERMINAL_STATES: tuple[RemoteTaskState, ...] = ("completed", "failed", "canceled", "rejected")
#: Maximum number of artifacts of one run that are sent to other agents with its answer.
_MAX_DELIVERIES = 20


def apply(state: Session, fact: AgentFact, context: FactContext) -> Session:
    match fact:
        case AgentConnected():
            return _update_link(state, context, provider_session=fact.provider_session_id, connected=True)
        case AgentDisconnected():
            return _update_link(state, context, provider_session=fact.provider_session_id, connected=False)
        case RemoteTaskChanged():
            # An unknown state does not end the task: it may continue.
            task = "" if fact.state in _TERMINAL_STATES else fact.remote_task_id
            return _update_link(state, context, task=task, task_state=fact.state)
        case RemoteArtifact():
            return _add_delivery(state, fact, context)
        case AgentSlept():
            return sleep(state, fact, context)
        case AgentWoke():
            return wake(state, fact, context)
        case AgentDefined():
            definition = msgspec.json.decode(fact.definition.text, type=Definition)
            return replace(state, defined_agents=(*state.defined_agents, definition))
        case EdgeAdded():
            return _add_edge(state, fact)
        case AgentModeChanged():
            return state
        case _:
            assert_never(fact)


def _add_edge(state: Session, fact: EdgeAdded) -> Session:
    threads = {
        key: replace(thread, edges=(*thread.edges, fact.edge))
        if fold_name(thread.agent) == fold_name(fact.source)
        else thread
        for key, thread in state.threads.items()
    }
    return replace(state, edges=(*state.edges, AddedEdge(source=fact.source, edge=fact.edge)), threads=threads)


def _add_delivery(state: Session, fact: RemoteArtifact, context: FactContext) -> Session:
    text = "\n\n".join(part.text.text for part in fact.parts if part.text.text)
    delivery = RemoteDelivery(
        artifact=fact.remote_artifact_id,
        name=fact.name or fact.remote_artifact_id,
        text=Text(text=text[: MAX_INLINE_BYTES // 4]),
    )

    def add(run: OpenRun) -> OpenRun:
        others = (other for other in run.deliveries if other.artifact != delivery.artifact)
        return replace(run, deliveries=(*others, delivery)[-_MAX_DELIVERIES:])

    return change_run(state, context, add)


def _update_link(state: Session, context: FactContext, **changes: object) -> Session:
    def change(thread: Thread) -> Thread:
        link = thread.external or ExternalLink(provider_session="", connected=False)
        return replace(thread, external=replace(link, **changes))

    return change_thread(state, context, change)
