"""Context of a fact, and changes of its thread and its run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from callboard.contracts.scope import Scope

from ..state.session import Session, Thread
from ..state.turn import OpenRun

T = TypeVar("T")


class FactContext(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Scope and sequence of the fact being applied, the epoch that wrote it, and its time in microseconds."""

    scope: Scope
    epoch: int
    at: int
    sequence: int


def change_thread(state: Session, context: FactContext, change: Callable[[Thread], Thread]) -> Session:
    """Change the thread of the fact, if it is open."""
    thread = state.threads.get(context.scope.thread)
    if thread is None:
        return state
    return _replace_thread(state, change(thread))


def change_run(state: Session, context: FactContext, change: Callable[[OpenRun], OpenRun]) -> Session:
    """Change the run of the fact, if it is open."""
    run = find_open_run(state, context)
    return state if run is None else _replace_run(state, context, change(run))


def update_thread(state: Session, context: FactContext, **changes: object) -> Session:
    thread = state.threads.get(context.scope.thread)
    return state if thread is None else _replace_thread(state, replace(thread, **changes))


def update_run(state: Session, context: FactContext, **changes: object) -> Session:
    run = find_open_run(state, context)
    return state if run is None else _replace_run(state, context, replace(run, **changes))


def _replace_thread(state: Session, thread: Thread) -> Session:
    return replace(state, threads={**state.threads, thread.thread: thread})


def _replace_run(state: Session, context: FactContext, run: OpenRun) -> Session:
    return _replace_thread(state, replace(state.threads[context.scope.thread], run=run))


def record_step(state: Session, context: FactContext, **changes: object) -> Session:
    """Change the run of the fact, whose step is used up."""
    return change_run(state, context, lambda run: replace(run, next_step=compute_next_step(run, context), **changes))


def find_open_run(state: Session, context: FactContext) -> OpenRun | None:
    thread = state.threads.get(context.scope.thread)
    run = thread.run if thread is not None else None
    return run if run is not None and run.run == context.scope.run else None


def compute_next_step(run: OpenRun, context: FactContext) -> int:
    """Return the run's next free step once the fact's step is used up."""
    return max(run.next_step, context.scope.step + 1)


def drop_entry(entries: dict[str, T], key: str) -> dict[str, T]:
    return {name: entry for name, entry in entries.items() if name != key} if key in entries else entries
