"""Agents that are not of our loop: which conversation of theirs a thread is, and what one elsewhere still works on."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import LARGEST_INLINE, Text
from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts import AgentConnected, AgentDisconnected, RemoteArtifact, RemoteTaskChanged

from ..state.session import ExternalLink, OpenRun, RemoteDelivery, Session, Thread
from .fact_context import FactContext, change_run, change_thread

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
