"""Facts of what an agent writes: text, reasoning and plans."""

from __future__ import annotations

from typing import assert_never

import msgspec

from callboard.contracts.facts.message import (
    MessageFact,
    MessageInterrupted,
    MessageText,
    OutputFinal,
    PlanUpdated,
    ReasoningCompleted,
    ReasoningInterrupted,
)

from ..state.repetition import said
from ..state.session import Session
from ..state.turn import OpenPlan, OpenRun
from .fact_context import FactContext, change_run, past


def apply(state: Session, fact: MessageFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case MessageText():
            return text(state, fact, place)
        case ReasoningCompleted() | ReasoningInterrupted() | MessageInterrupted():
            return step_taken(state, place)
        case PlanUpdated():
            return plan_updated(state, fact, place)
        case OutputFinal():
            return state
        case _:
            assert_never(fact)


def text(state: Session, fact: MessageText, place: FactContext) -> Session:
    step = place.scope.step

    def say(run: OpenRun) -> OpenRun:
        changed = msgspec.structs.replace(
            run,
            answer_parts=(*run.answer_parts, step),
            answer=(*run.answer, fact.content),
            next_step=past(run, step),
        )
        return said(changed, fact.content)

    return change_run(state, place, say)


def step_taken(state: Session, place: FactContext) -> Session:
    return change_run(state, place, lambda run: msgspec.structs.replace(run, next_step=past(run, place.scope.step)))


def plan_updated(state: Session, fact: PlanUpdated, place: FactContext) -> Session:
    plan = OpenPlan(step=place.scope.step, steps=fact.steps, revision=fact.revision)
    return change_run(
        state,
        place,
        lambda run: msgspec.structs.replace(run, plan=plan, next_step=past(run, plan.step)),
    )
