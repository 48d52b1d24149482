"""An idle agent with something in its inbox gets a turn. A lead that talks with a person waits for that person."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import QueueAdded, ThreadPaused, TurnSubmitted

from ...batch import Batch, thread_scope
from ...state.session import QueuedTurn, Thread
from ..agent.addressing import carried_mode, modes_of
from ..subagent.children import go_on
from ..subagent.slots import start_or_wait
from ..turn.idle import wakes
from ..turn.sleep import modes as sleeping_modes
from ..turn.start import start
from ..turn.wake_depth import MOST_HOPS, pause


def wake(batch: Batch, thread: Thread) -> None:
    """Starts a turn with what waits, where the agent is to be woken for it."""
    if not wakes(batch.state, thread):
        return
    hops = max(one.hops for one in thread.inbox)
    if hops > MOST_HOPS:
        pause(batch, thread, hops)
        return
    turn = _turn(batch, thread)
    before = batch.mark()
    try:
        _submit(batch, thread, turn)
        start(batch, thread.thread, turn)
    except Refusal as refusal:
        batch.back_to(before)
        batch.say(ThreadPaused(cause="failed", reason=refusal.code), thread_scope(thread))


def deliver(batch: Batch, thread: Thread) -> None:
    """Give an idle agent a turn with its inbox because a person asked for it, however its last turn ended. A child that had
    ended works again. Raises what `start` raises."""
    turn = _turn(batch, thread)
    if thread.child is None:
        _submit(batch, thread, turn)
        start(batch, thread.thread, turn)
        return
    go_on(batch, thread, thread.child, "Read what was sent")
    turn = msgspec.structs.replace(turn, permission_mode=carried_mode(batch, thread, turn.permission_mode))
    _submit(batch, thread, turn)
    batch.say(QueueAdded(position=len(thread.queue) + 1), thread_scope(thread, turn.turn))
    start_or_wait(batch, thread.thread)


def _turn(batch: Batch, thread: Thread) -> QueuedTurn:
    background = thread.background
    modes = modes_of(batch, thread) if background is None else sleeping_modes(batch, thread, background)
    return QueuedTurn(
        turn=batch.known.ids.new("turn"), mode=modes.mode, permission_mode=modes.permission_mode, woken=True
    )


def _submit(batch: Batch, thread: Thread, turn: QueuedTurn) -> None:
    batch.say(
        TurnSubmitted(input=Text(), mode=turn.mode, permission_mode=turn.permission_mode, source="inbox"),
        thread_scope(thread, turn.turn),
    )
