"""The session and its threads."""

from __future__ import annotations

from typing import assert_never

import msgspec

from callboard.contracts.facts.session import (
    ErrorRaised,
    SessionCreated,
    SessionFact,
    SessionTakenOver,
    ThreadOpened,
    ThreadPaused,
    ThreadResumed,
    WarningRaised,
)

from ..state.session import Session, Thread
from .fact_context import FactContext, change_thread


def apply(state: Session, fact: SessionFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case SessionCreated():
            return created(state, fact)
        case SessionTakenOver():
            return taken_over(state, fact)
        case ThreadOpened():
            return thread_opened(state, fact, place)
        case ThreadPaused():
            return thread_paused(state, fact, place)
        case ThreadResumed():
            return thread_resumed(state, place)
        case WarningRaised() | ErrorRaised():
            return state
        case _:
            assert_never(fact)


def created(state: Session, fact: SessionCreated) -> Session:
    return msgspec.structs.replace(
        state,
        workspace=fact.workspace_id,
        folder=fact.folder,
        title=fact.title,
        source=fact.source or "",
        source_id=fact.source_id,
    )


def taken_over(state: Session, fact: SessionTakenOver) -> Session:
    def adopt(thread: Thread) -> Thread:
        run = thread.run
        if run is None:
            return thread
        return msgspec.structs.replace(thread, run=msgspec.structs.replace(run, epoch=fact.epoch))

    return msgspec.structs.replace(state, threads={key: adopt(thread) for key, thread in state.threads.items()})


def thread_opened(state: Session, fact: ThreadOpened, place: FactContext) -> Session:
    thread = Thread(
        thread=place.scope.thread,
        agent=place.scope.agent,
        definition=fact.definition,
        kind=fact.kind,
        aliases=fact.aliases,
        edges=fact.edges,
        opened_sequence=place.sequence,
    )
    made = state.name_counts.get(fact.definition, 0) + 1
    return msgspec.structs.replace(
        state,
        threads={**state.threads, thread.thread: thread},
        lead=state.lead or thread.thread,
        name_counts={**state.name_counts, fact.definition: made},
    )


def thread_paused(state: Session, fact: ThreadPaused, place: FactContext) -> Session:
    return change_thread(state, place, lambda thread: msgspec.structs.replace(thread, paused=fact.cause))


def thread_resumed(state: Session, place: FactContext) -> Session:
    """Somebody said that it is to go on: what waits for it begins anew."""

    def resume(thread: Thread) -> Thread:
        inbox = tuple(msgspec.structs.replace(one, hops=0) for one in thread.inbox)
        return msgspec.structs.replace(thread, paused=None, inbox=inbox)

    return change_thread(state, place, resume)
