"""Facts of a thread's queue, and of input steered into its run."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

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

from ..state.context import SpokenTurn, count_ref_tokens, count_tokens, measure_text
from ..state.session import Session, Thread
from ..state.turn import OpenSteer, QueuedTurn, TurnEnd
from .context import build_spoken_turn
from .fact_context import FactContext, change_run, change_thread
from .task import end_task_turn


def apply(state: Session, fact: QueueFact, context: FactContext) -> Session:
    turn_id = context.scope.turn
    match fact:
        case QueueAdded():
            return change_thread(state, context, lambda thread: _add_turn(thread, turn_id))
        case QueuePromoted():
            return change_thread(state, context, lambda thread: _promote_turn(thread, turn_id))
        case QueueRemoved():
            end = TurnEnd(how="interrupted", code="person", message="its turn was taken out of the queue")
            return end_task_turn(
                change_thread(state, context, lambda thread: _remove_turn(thread, turn_id)), end, context
            )
        case SteerRequested():
            spoken = SpokenTurn(sequence=context.sequence, size=measure_text(fact.input))
            steer = OpenSteer(
                steer=fact.steer_id, input=fact.input, refs=fact.given, missing=fact.missing, spoken=spoken
            )
            return change_run(state, context, lambda run: replace(run, steers=(*run.steers, steer)))
        case SteerAccepted(steer_id=steer_id) | SteerRejected(steer_id=steer_id):
            return change_run(
                state,
                context,
                lambda run: replace(run, steers=tuple(steer for steer in run.steers if steer.steer != steer_id)),
            )
        case QueueEdited():
            return change_thread(state, context, lambda thread: _edit_turn(thread, fact, context))
        case _:
            assert_never(fact)


def _add_turn(thread: Thread, turn_id: str) -> Thread:
    if thread.submitted is None or thread.submitted.turn != turn_id:
        return thread
    return replace(thread, queue=(*thread.queue, thread.submitted), submitted=None)


def _promote_turn(thread: Thread, turn_id: str) -> Thread:
    return replace(thread, queue=tuple(sorted(thread.queue, key=lambda turn: turn.turn != turn_id)))


def _remove_turn(thread: Thread, turn_id: str) -> Thread:
    return replace(thread, queue=tuple(turn for turn in thread.queue if turn.turn != turn_id))


def _edit_turn(thread: Thread, fact: QueueEdited, context: FactContext) -> Thread:
    def edit(turn: QueuedTurn) -> QueuedTurn:
        if turn.turn != context.scope.turn:
            return turn
        tokens = count_tokens(fact.input) + count_ref_tokens(fact.given)
        spoken = None if turn.spoken is None else build_spoken_turn(fact.input, context)
        return replace(turn, refs=fact.given, missing=fact.missing, tokens=tokens, spoken=spoken)

    return replace(thread, queue=tuple(edit(turn) for turn in thread.queue))
