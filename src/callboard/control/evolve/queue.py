"""The queue of a thread, and input steered into its run."""

from __future__ import annotations

from typing import assert_never

import msgspec

from callboard.contracts.facts.queue import (
    QueueAdded,
    QueueEdited,
    QueueFact,
    QueuePromoted,
    QueueRemoved,
    SteerAccepted,
    SteerRejected,
    SteerRequested,
)

from ..state.context import SpokenTurn, count_ref_tokens, count_tokens, text_size
from ..state.session import Session, Thread
from ..state.team import TurnEnd
from ..state.turn import OpenSteer, QueuedTurn
from .context import asked
from .fact_context import FactContext, change_run, change_thread
from .task import turn_ended


def apply(state: Session, fact: QueueFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case QueueAdded():
            return added(state, place)
        case QueuePromoted():
            return promoted(state, place)
        case QueueRemoved():
            return removed(state, place)
        case SteerRequested():
            return steer_requested(state, fact, place)
        case SteerAccepted() | SteerRejected():
            return steer_settled(state, fact.steer_id, place)
        case QueueEdited():
            return edited(state, fact, place)
        case _:
            assert_never(fact)


def added(state: Session, place: FactContext) -> Session:
    def add(thread: Thread) -> Thread:
        if thread.submitted is None or thread.submitted.turn != place.scope.turn:
            return thread
        return msgspec.structs.replace(thread, queue=(*thread.queue, thread.submitted), submitted=None)

    return change_thread(state, place, add)


def promoted(state: Session, place: FactContext) -> Session:
    def promote(thread: Thread) -> Thread:
        first = tuple(turn for turn in thread.queue if turn.turn == place.scope.turn)
        rest = tuple(turn for turn in thread.queue if turn.turn != place.scope.turn)
        return msgspec.structs.replace(thread, queue=first + rest)

    return change_thread(state, place, promote)


def edited(state: Session, fact: QueueEdited, place: FactContext) -> Session:
    def edit(turn: QueuedTurn) -> QueuedTurn:
        if turn.turn != place.scope.turn:
            return turn
        tokens = count_tokens(fact.input) + count_ref_tokens(fact.given)
        said = None if turn.spoken is None else asked(fact.input, place)
        return msgspec.structs.replace(turn, refs=fact.given, missing=fact.missing, tokens=tokens, spoken=said)

    def change(thread: Thread) -> Thread:
        return msgspec.structs.replace(thread, queue=tuple(edit(turn) for turn in thread.queue))

    return change_thread(state, place, change)


def removed(state: Session, place: FactContext) -> Session:
    def remove(thread: Thread) -> Thread:
        queue = tuple(turn for turn in thread.queue if turn.turn != place.scope.turn)
        return msgspec.structs.replace(thread, queue=queue)

    end = TurnEnd(how="interrupted", code="person", message="its turn was taken out of the queue")
    return turn_ended(change_thread(state, place, remove), end, place)


def steer_requested(state: Session, fact: SteerRequested, place: FactContext) -> Session:
    said = SpokenTurn(sequence=place.sequence, size=text_size(fact.input))
    steer = OpenSteer(steer=fact.steer_id, input=fact.input, refs=fact.given, missing=fact.missing, spoken=said)
    return change_run(state, place, lambda run: msgspec.structs.replace(run, steers=(*run.steers, steer)))


def steer_settled(state: Session, steer_id: str, place: FactContext) -> Session:
    return change_run(
        state,
        place,
        lambda run: msgspec.structs.replace(
            run, steers=tuple(steer for steer in run.steers if steer.steer != steer_id)
        ),
    )
