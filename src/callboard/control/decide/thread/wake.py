"""Wakes of idle agents by their inbox. A lead in `chat` waits for its person."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.queue import QueueAdded
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.turn import TurnSubmitted

from ...batch import Batch, build_thread_scope
from ...state.session import Thread
from ...state.turn import QueuedTurn
from ..agent.addressing import carry_mode, resolve_modes
from ..subagent.children import continue_child
from ..subagent.slots import start_or_wait
from ..turn.idle import MAX_HOPS, can_wake, pause_chain
from ..turn.sleep import build_scheduled_modes
from ..turn.start import start_turn


def wake_agent(batch: Batch, thread: Thread) -> None:
    """Start a turn with the inbox if the agent wakes for it."""
    if not can_wake(batch.state, thread):
        return
    hops = max(item.hops for item in thread.inbox)
    if hops > MAX_HOPS:
        pause_chain(batch, thread, hops)
        return
    turn = _wake_turn(batch, thread)
    before = batch.mark()
    try:
        _submit(batch, thread, turn)
        start_turn(batch, thread.thread, turn)
    except Refusal as refusal:
        batch.roll_back(before)
        batch.add(ThreadPaused(cause="failed", reason=refusal.code), build_thread_scope(thread))


def deliver_inbox(batch: Batch, thread: Thread) -> None:
    """Give an idle agent a turn with its inbox at a person's request, however its last turn ended.
    An ended child works again. Raises what `start_turn` raises."""
    turn = _wake_turn(batch, thread)
    if thread.child is None:
        _submit(batch, thread, turn)
        start_turn(batch, thread.thread, turn)
        return
    continue_child(batch, thread, thread.child, "Read what was sent")
    turn = msgspec.structs.replace(turn, permission_mode=carry_mode(batch, thread, turn.permission_mode))
    _submit(batch, thread, turn)
    batch.add(QueueAdded(position=len(thread.queue) + 1), build_thread_scope(thread, turn.turn))
    start_or_wait(batch, thread.thread)


def _wake_turn(batch: Batch, thread: Thread) -> QueuedTurn:
    background = thread.background
    modes = resolve_modes(batch, thread) if background is None else build_scheduled_modes(batch, thread, background)
    return QueuedTurn(
        turn=batch.inputs.ids.new("turn"), mode=modes.mode, permission_mode=modes.permission_mode, woken=True
    )


def _submit(batch: Batch, thread: Thread, turn: QueuedTurn) -> None:
    batch.add(
        TurnSubmitted(input=Text(), mode=turn.mode, permission_mode=turn.permission_mode, source="inbox"),
        build_thread_scope(thread, turn.turn),
    )
