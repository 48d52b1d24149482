"""Facts of an agent's messages: text, reasoning and plans."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.facts.message import (
    MessageFact,
    MessageInterrupted,
    MessageText,
    OutputFinal,
    ReasoningCompleted,
    ReasoningInterrupted,
)
from callboard.contracts.facts.plan import PlanFact, PlanUpdated

from ..state.repetition import record_text
from ..state.session import Session
from ..state.turn import OpenPlan, OpenRun
from .fact_context import FactContext, change_run, compute_next_step, record_step


def apply(state: Session, fact: MessageFact | PlanFact, context: FactContext) -> Session:
    match fact:
        case MessageText():
            return _add_text(state, fact, context)
        case ReasoningCompleted() | ReasoningInterrupted() | MessageInterrupted():
            return record_step(state, context)
        case PlanUpdated():
            plan = OpenPlan(step=context.scope.step, steps=fact.steps, revision=fact.revision)
            return record_step(state, context, plan=plan)
        case OutputFinal():
            return state
        case _:
            assert_never(fact)


def _add_text(state: Session, fact: MessageText, context: FactContext) -> Session:
    def add(run: OpenRun) -> OpenRun:
        changed = replace(
            run,
            answer_parts=(*run.answer_parts, context.scope.step),
            answer=(*run.answer, fact.content),
            next_step=compute_next_step(run, context),
        )
        return record_text(changed, fact.content)

    return change_run(state, context, add)
