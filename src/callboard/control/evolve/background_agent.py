"""Agents that sleep and wake."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

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

from ..state.background_agent import Background, WakeTrigger
from ..state.session import Session, Thread
from .fact_context import FactContext, change_thread


def sleep(state: Session, fact: AgentSlept, context: FactContext) -> Session:
    """Put the agent to sleep. The first time, it becomes a background agent."""

    def rest(thread: Thread) -> Thread:
        background = thread.background or Background(task=context.scope.task, permission_mode=fact.permission_mode)
        asleep = replace(
            background,
            asleep=True,
            slept_sequence=context.sequence,
            schedule=fact.schedule,
            wake_at=fact.wake_at,
            wake_on=fact.wake_on,
            turn="",
        )
        return replace(thread, background=asleep)

    changed, thread = change_thread(state, context, rest), context.scope.thread
    if thread in state.sleepers or thread not in state.threads:
        return changed
    return replace(changed, sleepers=(*state.sleepers, thread))


def wake(state: Session, fact: AgentWoke, context: FactContext) -> Session:
    """Wake the agent. A turn that began for a schedule or a fact uses up the trigger."""

    def rouse(background: Background) -> Background:
        is_triggered = fact.reason in ("schedule", "fact")
        trigger = background.trigger if is_triggered else None
        return replace(
            background,
            asleep=False,
            wake_at=0,
            turn=context.scope.turn,
            woke_at=context.at,
            hops=trigger.hops + 1 if trigger is not None else 0,
            trigger=None if is_triggered else background.trigger,
        )

    return _change(state, context.scope.thread, rouse)


def update_sleepers(state: Session, fact: Fact, context: FactContext) -> Session:
    """Apply a fact to the background agents: to their tasks, their runs and their triggers."""
    for thread_id in state.sleepers:
        thread = state.threads.get(thread_id)
        if thread is None or thread.background is None:
            continue
        background = thread.background
        if context.scope.task == background.task:
            background = _apply_to_task(thread, background, fact, context)
        if context.scope.thread == thread_id:
            background = _apply_to_run(background, fact, context)
        if fact.type in background.wake_on and _is_trigger(state, thread, background, context):
            background = _add_trigger(state, background, fact, context)
        if background is not thread.background:
            changed = background
            state = _change(state, thread_id, lambda _, changed=changed: changed)
    return state


def _apply_to_task(thread: Thread, background: Background, fact: Fact, context: FactContext) -> Background:
    """Pausing the task disables the triggers of its agent. The end of the task ends its waking."""
    match fact:
        case TaskStarted():
            return replace(background, attempt=context.scope.attempt)
        case TaskPaused() | TaskCancelRequested():
            return replace(background, is_held=True, asleep=False, wake_at=0, trigger=None)
        case TaskResumed():
            turn = background.turn if thread.run is not None else ""
            return replace(background, is_held=False, failures=0, turn=turn)
        case TaskCancelled() | TaskCompleted():
            return replace(background, is_ended=True, asleep=False, wake_at=0, trigger=None)
        case _:
            return background


def _apply_to_run(background: Background, fact: Fact, context: FactContext) -> Background:
    """Count failed runs. A run whose host died failed: an agent that crashes its host must not wake
    for ever. A run of a sleeping agent only compacts its thread and does not count."""
    match fact:
        case TurnCompleted() | TurnFailed() | TurnInterrupted() if background.asleep:
            return background
        case TurnCompleted():
            return replace(background, last_ended_at=context.at, failures=0)
        case TurnFailed():
            return replace(background, last_ended_at=context.at, failures=background.failures + 1)
        case TurnInterrupted(cause=cause):
            failed = 1 if cause in ("crash", "lost", "storage") else 0
            return replace(background, last_ended_at=context.at, failures=background.failures + failed)
        case ThreadResumed():
            trigger = replace(background.trigger, hops=0) if background.trigger is not None else None
            return replace(background, failures=0, trigger=trigger)
        case _:
            return background


def _is_trigger(state: Session, thread: Thread, background: Background, context: FactContext) -> bool:
    """Exclude facts that the agent itself or a child of it caused."""
    if background.is_held or background.is_ended or context.scope.agent == thread.agent:
        return False
    actor = state.threads.get(context.scope.thread)
    parent = actor.child.parent if actor is not None and actor.child is not None else context.scope.parent_thread
    return parent != thread.thread


def _add_trigger(state: Session, background: Background, fact: Fact, context: FactContext) -> Background:
    """Record the fact as the trigger, or count it if the agent has one already."""
    trigger, hops = background.trigger, _count_hops(state.threads.get(context.scope.thread))
    if trigger is not None:
        changed = replace(trigger, hops=max(trigger.hops, hops), count=trigger.count + 1)
    else:
        cause = f"{state.session}/{context.sequence}"
        changed = WakeTrigger(cause=cause, type=fact.type, agent=context.scope.agent, hops=hops)
    return replace(background, trigger=changed)


def _count_hops(actor: Thread | None) -> int:
    """Return how many agents passed on what led to the actor's fact."""
    if actor is None:
        return 0
    newest = actor.run or actor.ended
    return max((newest.hops if newest is not None else 0, *(item.hops for item in actor.inbox)))


def _change(state: Session, thread_id: str, change: Callable[[Background], Background]) -> Session:
    thread = state.threads.get(thread_id)
    if thread is None or thread.background is None:
        return state
    return replace(state, threads={**state.threads, thread_id: replace(thread, background=change(thread.background))})
