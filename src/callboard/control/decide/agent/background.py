"""Background agents: when they wake and sleep (Agent UI specification, Background job).

The rules read the state and the time. A time that passed while the process was down wakes an agent
once, never twice.
"""

from __future__ import annotations

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.agent import AgentWoke
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.scope import Scope
from callboard.contracts.times import format_timestamp

from ...batch import Batch, build_thread_scope
from ...state.background_agent import Background, WakeTrigger
from ...state.session import Thread
from ..turn.idle import MAX_HOPS, pause_chain
from ..turn.sleep import build_scheduled_modes, fall_asleep
from ..turn.start import start_turn

#: Consecutive failed runs after which the agent is paused.
MAX_FAILURES = 3
#: Delay of a wake that the prompt mentions, in microseconds.
_LATE = 60_000_000


def wake_due_agents(batch: Batch) -> None:
    """Start a run of each agent that is due or that a fact triggered."""
    for thread_id in batch.state.sleepers:
        thread = batch.state.threads.get(thread_id)
        background = thread.background if thread is not None else None
        if thread is not None and background is not None and _can_wake(batch, thread, background):
            _wake(batch, thread, background)


def put_to_sleep(batch: Batch) -> None:
    """Put agents without work to sleep. Pause an agent that failed repeatedly."""
    for thread_id in batch.state.sleepers:
        thread = batch.state.threads.get(thread_id)
        background = thread.background if thread is not None else None
        if thread is None or background is None or thread.run is not None:
            continue
        if background.asleep:
            if _is_oversleeping(batch, thread, background):
                fall_asleep(batch, thread, background)
            continue
        if background.is_ended or not background.is_held:
            fall_asleep(batch, thread, background)
        if background.failures >= MAX_FAILURES and thread.paused is None:
            code = thread.ended.code if thread.ended is not None else ""
            reason = f"{background.failures} consecutive runs failed, the last with {code}"
            batch.add(ThreadPaused(cause="failed", reason=reason), build_thread_scope(thread))


def _is_oversleeping(batch: Batch, thread: Thread, background: Background) -> bool:
    """Return True if the clock went back since the agent fell asleep, so that its wake time is
    later than its schedule requires."""
    if batch.inputs.now >= batch.state.at or not background.wake_at:
        return False
    definition = batch.inputs.find_definition(thread.definition)
    schedule = definition.schedule if definition is not None else None
    return schedule is not None and 0 < batch.inputs.next_wake(schedule, batch.inputs.now) < background.wake_at


def _can_wake(batch: Batch, thread: Thread, background: Background) -> bool:
    if not background.asleep or background.is_ended or batch.inputs.is_archived:
        return False
    if thread.run is not None or thread.queue or thread.paused is not None:
        return False
    return _is_due(batch, background) or background.trigger is not None


def _is_due(batch: Batch, background: Background) -> bool:
    return 0 < background.wake_at <= batch.inputs.now


def _wake(batch: Batch, thread: Thread, background: Background) -> None:
    due = background.wake_at if _is_due(batch, background) else 0
    called = background.trigger
    if called is not None and called.hops >= MAX_HOPS:
        pause_chain(batch, thread, called.hops + 1)
        return
    turn = msgspec.structs.replace(build_scheduled_modes(batch, thread, background), turn=batch.inputs.ids.new("turn"))
    scope = Scope(agent=thread.agent, thread=thread.thread, turn=turn.turn, task=background.task)
    prompt = _write_wake_prompt(batch, thread, background, due)
    before = batch.mark()
    try:
        batch.add(
            AgentWoke(reason="schedule" if due else "fact", due=due, cause=called.cause if called is not None else ""),
            scope,
        )
        batch.add(
            TurnSubmitted(
                input=batch.store_text(prompt), mode=turn.mode, permission_mode=turn.permission_mode, source="schedule"
            ),
            build_thread_scope(thread, turn.turn),
        )
        start_turn(batch, thread.thread, turn)
    except Refusal as refusal:
        batch.roll_back(before)
        batch.add(ThreadPaused(cause="failed", reason=refusal.code), build_thread_scope(thread))


def _write_wake_prompt(batch: Batch, thread: Thread, background: Background, due: int) -> str:
    """Return the prompt of an automatic run: why it wakes, and when it ran last."""
    sentences: list[str] = []
    if due:
        sentences.append(f"You wake because it is time ({background.schedule}): {_format_time(due)}.")
        if batch.inputs.now - due >= _LATE:
            sentences.append(
                f"It is now {_format_time(batch.inputs.now)}: you could not be woken earlier. Other times since then "
                "were skipped."
            )
    if background.trigger is not None:
        sentences.append(_describe_trigger(background.trigger))
    sentences.append(_describe_last_run(thread, background))
    sentences.append("End your turn when you have nothing more to do. You sleep until the next wake.")
    return " ".join(sentences)


def _describe_trigger(called: WakeTrigger) -> str:
    of = f" of {called.agent}" if called.agent else ""
    repeats = f", and {called.count - 1} more since" if called.count > 1 else ""
    return f"You wake because of an event: {called.type}{of} (event {called.cause}){repeats}."


def _describe_last_run(thread: Thread, background: Background) -> str:
    end = thread.ended
    if end is None or not background.last_ended_at:
        return "This is your first run."
    how = {"completed": "it completed", "failed": f"it failed ({end.code})"}.get(
        end.how, f"it was interrupted ({end.code})"
    )
    return f"Your last run ended at {_format_time(background.last_ended_at)}: {how}."


def _format_time(at: int) -> str:
    """Format a time to the second."""
    return f"{format_timestamp(at)[:19]}Z"
