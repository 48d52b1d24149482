"""An idle agent with something in its inbox gets a turn. A lead that talks with a person waits for that person."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ThreadPaused, TurnSubmitted

from ..batch import Batch, thread_scope
from ..state import QueuedTurn, Session, Thread
from .held import rests, startable
from .hops import MOST_HOPS, pause
from .inbox import deliverable
from .sleep import modes as sleeping_modes
from .team.agents import modes_of
from .turns import start


def wake(batch: Batch, thread: Thread) -> None:
    """Starts a turn with what waits, where the agent is to be woken for it."""
    if not wakes(batch.state, thread):
        return
    hops = max(one.hops for one in thread.inbox)
    if hops > MOST_HOPS:
        pause(batch, thread, hops)
        return
    background = thread.background
    modes = modes_of(batch, thread) if background is None else sleeping_modes(batch, thread, background)
    turn = QueuedTurn(
        turn=batch.known.ids.new("turn"), mode=modes.mode, permission_mode=modes.permission_mode, woken=True
    )
    before = batch.mark()
    try:
        batch.say(
            TurnSubmitted(input=Text(), mode=turn.mode, permission_mode=turn.permission_mode, source="inbox"),
            thread_scope(thread, turn.turn),
        )
        start(batch, thread.thread, turn)
    except Refusal as refusal:
        batch.back_to(before)
        batch.say(ThreadPaused(cause="failed", reason=refusal.code), thread_scope(thread))


def wakes(state: Session, thread: Thread) -> bool:
    """True where the agent is idle and is to be woken for what its inbox holds."""
    if thread.run is not None or thread.paused is not None or not deliverable(thread):
        return False
    if startable(state, thread) is not None or rests(state, thread):
        return False
    if thread.background is not None and (thread.background.held or thread.background.over):
        return False
    if thread.kind == "human" or (thread.child is not None and thread.child.status != "running"):
        return False
    if thread.ended is not None and thread.ended.how != "completed":
        # What failed or was stopped would likely fail again, or was stopped for a reason.
        return False
    return thread.thread != state.lead or (thread.last is not None and thread.last.mode == "auto")
