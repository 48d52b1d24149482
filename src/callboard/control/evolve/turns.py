"""Turns: submitted, started, asked to stop, ended."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import TurnStarted, TurnSubmitted

from ..state import OpenRun, QueuedTurn, Session, Thread
from .place import Place, change_run, change_thread


def submitted(state: Session, fact: TurnSubmitted, place: Place) -> Session:
    turn = QueuedTurn(turn=place.scope.turn, mode=fact.mode, permission_mode=fact.permission_mode)
    return change_thread(state, place, lambda thread: msgspec.structs.replace(thread, submitted=turn))


def started(state: Session, fact: TurnStarted, place: Place) -> Session:
    run = OpenRun(
        run=place.scope.run,
        turn=place.scope.turn,
        mode=fact.mode,
        permission_mode=fact.permission_mode,
        max_iters=fact.max_iters,
        definition=fact.definition,
        definition_hash=fact.definition_hash,
        epoch=place.epoch,
        prompts=fact.prompts,
        tools=fact.tools,
    )

    def begin(thread: Thread) -> Thread:
        queue = tuple(turn for turn in thread.queue if turn.turn != run.turn)
        return msgspec.structs.replace(thread, run=run, queue=queue, submitted=None)

    return change_thread(state, place, begin)


def stopping(state: Session, place: Place) -> Session:
    return change_run(state, place, lambda run: msgspec.structs.replace(run, stopping=True))


def ended(state: Session, place: Place) -> Session:
    return change_thread(state, place, lambda thread: msgspec.structs.replace(thread, run=None))
