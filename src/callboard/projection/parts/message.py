"""Text, reasoning and plan parts of an agent's message."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.message import (
    MessageInterrupted,
    MessageText,
    OutputFinal,
    ReasoningCompleted,
    ReasoningInterrupted,
)
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.message import ReasoningPart, TextPart
from callboard.contracts.rows.part import PartState
from callboard.contracts.rows.plan import PlanPart

from ..reducer import on, upsert
from .run import OpenRun, build_step_key


@on
def add_text(run: OpenRun, record: Record, fact: MessageText) -> list[Op]:
    return _put_text(run, record, fact.content, "final", revised=fact.revised)


@on
def interrupt_text(run: OpenRun, record: Record, fact: MessageInterrupted) -> list[Op]:
    return _put_text(run, record, fact.content, "interrupted")


@on
def add_reasoning(run: OpenRun, record: Record, fact: ReasoningCompleted) -> list[Op]:
    return _put_reasoning(run, record, fact.content, "final")


@on
def interrupt_reasoning(run: OpenRun, record: Record, fact: ReasoningInterrupted) -> list[Op]:
    return _put_reasoning(run, record, fact.content, "interrupted")


@on
def finish(run: OpenRun, record: Record, fact: OutputFinal) -> list[Op]:
    """Mark the texts outside of the final answer as commentary."""
    return mark_commentary(run, record, answer=fact.parts)


@on
def update_plan(run: OpenRun, record: Record, fact: PlanUpdated) -> list[Op]:
    """Update the plan in place. A new revision is another part."""
    state: PartState = "final" if fact.final else "streaming"
    if run.plan is not None and fact.revision > run.plan.revision:
        fields = run.position.build_fields(record, build_step_key(record), record.scope.step)
        previous = msgspec.structs.replace(run.plan, sequence=record.sequence, state="final", later=fields["key"])
        run.plan = PlanPart(**fields, state=state, steps=fact.steps, revision=fact.revision, former=previous.key)
        return upsert(previous, run.plan)
    if run.plan is None:
        fields = run.position.build_fields(record, build_step_key(record), record.scope.step)
        run.plan = PlanPart(**fields, state=state, steps=fact.steps)
    else:
        run.plan = msgspec.structs.replace(run.plan, sequence=record.sequence, state=state, steps=fact.steps)
    return upsert(run.plan)


def mark_commentary(run: OpenRun, record: Record, *, answer: tuple[int, ...] = ()) -> list[Op]:
    """Mark the texts since the last tool call as commentary, except those of the steps `answer`."""
    texts = [row for step, row in run.texts.items() if step not in answer]
    run.texts.clear()
    return upsert(*(msgspec.structs.replace(row, sequence=record.sequence, commentary=True) for row in texts))


def _put_text(run: OpenRun, record: Record, content: Text, state: PartState, *, revised: bool = False) -> list[Op]:
    fields = run.position.build_fields(record, build_step_key(record), record.scope.step)
    row = run.texts[record.scope.step] = TextPart(**fields, state=state, content=content, revised=revised)
    return upsert(row)


def _put_reasoning(run: OpenRun, record: Record, content: Text, state: PartState) -> list[Op]:
    """Add reasoning. Reasoning that the provider hides has no part."""
    if not content.text and content.ref is None:
        return []
    fields = run.position.build_fields(record, build_step_key(record), record.scope.step)
    return upsert(ReasoningPart(**fields, state=state, content=content))
