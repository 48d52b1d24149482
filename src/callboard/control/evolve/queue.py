"""The queue of a thread, and input steered into its run."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import SteerRequested

from ..state import OpenSteer, Session, Thread, TurnEnd
from .place import Place, change_run, change_thread
from .tasks import turn_ended


def added(state: Session, place: Place) -> Session:
    def add(thread: Thread) -> Thread:
        if thread.submitted is None or thread.submitted.turn != place.scope.turn:
            return thread
        return msgspec.structs.replace(thread, queue=(*thread.queue, thread.submitted), submitted=None)

    return change_thread(state, place, add)


def promoted(state: Session, place: Place) -> Session:
    def promote(thread: Thread) -> Thread:
        first = tuple(turn for turn in thread.queue if turn.turn == place.scope.turn)
        rest = tuple(turn for turn in thread.queue if turn.turn != place.scope.turn)
        return msgspec.structs.replace(thread, queue=first + rest)

    return change_thread(state, place, promote)


def removed(state: Session, place: Place) -> Session:
    def remove(thread: Thread) -> Thread:
        queue = tuple(turn for turn in thread.queue if turn.turn != place.scope.turn)
        return msgspec.structs.replace(thread, queue=queue)

    end = TurnEnd(how="interrupted", code="person", message="its turn was taken out of the queue")
    return turn_ended(change_thread(state, place, remove), end, place)


def steer_requested(state: Session, fact: SteerRequested, place: Place) -> Session:
    steer = OpenSteer(steer=fact.steer_id, input=fact.input)
    return change_run(state, place, lambda run: msgspec.structs.replace(run, steers=(*run.steers, steer)))


def steer_settled(state: Session, steer_id: str, place: Place) -> Session:
    return change_run(
        state,
        place,
        lambda run: msgspec.structs.replace(
            run, steers=tuple(steer for steer in run.steers if steer.steer != steer_id)
        ),
    )
