"""Agents that sleep and wake."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from callboard.contracts.facts.agent import AgentSlept, AgentWoke
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.session import ThreadResumed
from callboard.contracts.facts.task import (
    TaskCancelled,
    TaskCancelRequested,
    TaskCompleted,
    TaskPaused,
    TaskResumed,
    TaskStarted,
)
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted

from ..state.session import Session, Thread
from ..state.team import Background, WakeTrigger
from .fact_context import FactContext, change_thread


def slept(state: Session, fact: AgentSlept, place: FactContext) -> Session:
    """The first of an agent makes it one that sleeps."""

    def rest(thread: Thread) -> Thread:
        former = thread.background or Background(task=place.scope.task, permission_mode=fact.permission_mode)
        now = msgspec.structs.replace(
            former,
            asleep=True,
            slept_sequence=place.sequence,
            schedule=fact.schedule,
            wake_at=fact.wake_at,
            wake_on=fact.wake_on,
            turn="",
        )
        return msgspec.structs.replace(thread, background=now)

    changed = change_thread(state, place, rest)
    if place.scope.thread in state.sleepers or place.scope.thread not in state.threads:
        return changed
    return msgspec.structs.replace(changed, sleepers=(*state.sleepers, place.scope.thread))


def woke(state: Session, fact: AgentWoke, place: FactContext) -> Session:
    """What called it is told by this turn, where it woke for that; else it stays to be told."""

    def rouse(background: Background) -> Background:
        told = fact.reason in ("schedule", "fact")
        called = background.trigger if told else None
        return msgspec.structs.replace(
            background,
            asleep=False,
            wake_at=0,
            turn=place.scope.turn,
            woke_at=place.at,
            hops=called.hops + 1 if called is not None else 0,
            trigger=None if told else background.trigger,
        )

    return _change(state, place.scope.thread, rouse)


def heard(state: Session, fact: Fact, place: FactContext) -> Session:
    """What any fact means to the agents that sleep: to their tasks, their runs, and what wakes them."""
    for thread_id in state.sleepers:
        thread = state.threads.get(thread_id)
        if thread is None or thread.background is None:
            continue
        background = thread.background
        if place.scope.task == background.task:
            background = _of_task(thread, background, fact, place)
        if place.scope.thread == thread_id:
            background = _of_run(background, fact, place)
        if fact.type in background.wake_on and _calls(state, thread, background, place):
            background = _called(state, background, fact, place)
        if background is not thread.background:
            changed = background
            state = _change(state, thread_id, lambda _, changed=changed: changed)
    return state


def _of_task(thread: Thread, background: Background, fact: Fact, place: FactContext) -> Background:
    """Whoever pauses its task makes it deaf, and the end of the task is the end of its waking."""
    match fact:
        case TaskStarted():
            return msgspec.structs.replace(background, attempt=place.scope.attempt)
        case TaskPaused() | TaskCancelRequested():
            return msgspec.structs.replace(background, is_held=True, asleep=False, wake_at=0, trigger=None)
        case TaskResumed():
            turn = background.turn if thread.run is not None else ""
            return msgspec.structs.replace(background, is_held=False, failures=0, turn=turn)
        case TaskCancelled() | TaskCompleted():
            return msgspec.structs.replace(background, is_ended=True, asleep=False, wake_at=0, trigger=None)
        case _:
            return background


def _of_run(background: Background, fact: Fact, place: FactContext) -> Background:
    """A run that its host died of counts as failed: one that brings the host down must not do so for ever. One that it did not
    wake for was there to summarise."""
    match fact:
        case TurnCompleted() | TurnFailed() | TurnInterrupted() if background.asleep:
            return background
        case TurnCompleted():
            return msgspec.structs.replace(background, last_ended_at=place.at, failures=0)
        case TurnFailed():
            return msgspec.structs.replace(background, last_ended_at=place.at, failures=background.failures + 1)
        case TurnInterrupted(cause=cause):
            failed = 1 if cause in ("crash", "lost", "storage") else 0
            return msgspec.structs.replace(background, last_ended_at=place.at, failures=background.failures + failed)
        case ThreadResumed():
            called = background.trigger
            again = msgspec.structs.replace(called, hops=0) if called is not None else None
            return msgspec.structs.replace(background, failures=0, trigger=again)
        case _:
            return background


def _calls(state: Session, thread: Thread, background: Background, place: FactContext) -> bool:
    """False for what the agent caused itself, alone or by a child."""
    if background.is_held or background.is_ended or place.scope.agent == thread.agent:
        return False
    doer = state.threads.get(place.scope.thread)
    parent = doer.child.parent if doer is not None and doer.child is not None else place.scope.parent_thread
    return parent != thread.thread


def _called(state: Session, background: Background, fact: Fact, place: FactContext) -> Background:
    """Facts that come before it wakes are one call, told by the first."""
    former = background.trigger
    hops = _hops(state.threads.get(place.scope.thread))
    if former is not None:
        called = msgspec.structs.replace(former, hops=max(former.hops, hops), count=former.count + 1)
    else:
        cause = f"{state.session}/{place.sequence}"
        called = WakeTrigger(cause=cause, type=fact.type, agent=place.scope.agent, hops=hops)
    return msgspec.structs.replace(background, trigger=called)


def _hops(doer: Thread | None) -> int:
    """How many agents passed on what led to this fact, as far as its doer tells."""
    if doer is None:
        return 0
    if doer.run is not None:
        return max((doer.run.hops, *(one.hops for one in doer.inbox)))
    return max((doer.ended.hops if doer.ended is not None else 0, *(one.hops for one in doer.inbox)))


def _change(state: Session, thread_id: str, change: Callable[[Background], Background]) -> Session:
    thread = state.threads.get(thread_id)
    if thread is None or thread.background is None:
        return state
    changed = msgspec.structs.replace(thread, background=change(thread.background))
    return msgspec.structs.replace(state, threads={**state.threads, thread_id: changed})
