"""Facts of the session and its threads."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

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
from .fact_context import FactContext, change_thread, update_thread


def apply(state: Session, fact: SessionFact, context: FactContext) -> Session:
    match fact:
        case SessionCreated():
            return replace(
                state,
                workspace=fact.workspace_id,
                folder=fact.folder,
                title=fact.title,
                source=fact.source or "",
                source_id=fact.source_id,
            )
        case SessionTakenOver():
            threads = {
                key: thread if thread.run is None else replace(thread, run=replace(thread.run, epoch=fact.epoch))
                for key, thread in state.threads.items()
            }
            return replace(state, threads=threads)
        case ThreadOpened():
            return _open_thread(state, fact, context)
        case ThreadPaused():
            return update_thread(state, context, paused=fact.cause)
        case ThreadResumed():
            return change_thread(state, context, _resume_thread)
        case WarningRaised() | ErrorRaised():
            return state
        case _:
            assert_never(fact)


def _open_thread(state: Session, fact: ThreadOpened, context: FactContext) -> Session:
    thread = Thread(
        thread=context.scope.thread,
        agent=context.scope.agent,
        definition=fact.definition,
        kind=fact.kind,
        aliases=fact.aliases,
        edges=fact.edges,
        opened_sequence=context.sequence,
    )
    count = state.name_counts.get(fact.definition, 0) + 1
    return replace(
        state,
        threads={**state.threads, thread.thread: thread},
        lead=state.lead or thread.thread,
        name_counts={**state.name_counts, fact.definition: count},
    )


def _resume_thread(thread: Thread) -> Thread:
    """Resume the thread. The items in its inbox begin new chains."""
    return replace(thread, paused=None, inbox=tuple(replace(item, hops=0) for item in thread.inbox))
