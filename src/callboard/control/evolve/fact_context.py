"""Where a fact stands, and how the entity that it is about is replaced in the state."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from callboard.contracts.scope import Scope

from ..state.session import Session, Thread
from ..state.turn import OpenRun


class FactContext(msgspec.Struct, frozen=True, kw_only=True):
    """The scope of the fact that is being applied, the epoch that wrote it, when (microseconds since the Unix epoch), and its
    place in the stream."""

    scope: Scope
    epoch: int
    at: int
    sequence: int


def change_thread(state: Session, place: FactContext, change: Callable[[Thread], Thread]) -> Session:
    """The state with the scope's thread changed; a thread that is not known changes nothing."""
    thread = state.threads.get(place.scope.thread)
    if thread is None:
        return state
    return msgspec.structs.replace(state, threads={**state.threads, thread.thread: change(thread)})


def change_run(state: Session, place: FactContext, change: Callable[[OpenRun], OpenRun]) -> Session:
    """The state with the scope's open run changed; a run that is over changes nothing."""

    def change_in(thread: Thread) -> Thread:
        run = thread.run
        if run is None or run.run != place.scope.run:
            return thread
        return msgspec.structs.replace(thread, run=change(run))

    return change_thread(state, place, change_in)


def past(run: OpenRun, step: int) -> int:
    """The next free step once this one is taken."""
    return max(run.next_step, step + 1)
