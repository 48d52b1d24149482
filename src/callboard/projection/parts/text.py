"""Text and reasoning parts of an agent's message."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.message import MessageText
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.conversation import PartState, ReasoningPart, TextPart

from ..reducer import upsert
from .run import OpenRun, step_key


def add_text(run: OpenRun, record: Record, content: Text, state: PartState) -> list[Op]:
    """Add a finished or interrupted text part."""
    fact = record.fact
    row = TextPart(
        **run.place.fields(record, step_key(record), record.scope.step),
        state=state,
        content=content,
        revised=isinstance(fact, MessageText) and fact.revised,
    )
    run.texts[record.scope.step] = row
    return upsert(row)


def add_reasoning(run: OpenRun, record: Record, content: Text, state: PartState) -> list[Op]:
    """Add a finished or interrupted reasoning part. Reasoning that the provider hides has no part."""
    if not content.text and content.ref is None:
        return []
    return upsert(
        ReasoningPart(**run.place.fields(record, step_key(record), record.scope.step), state=state, content=content)
    )


def mark_commentary(run: OpenRun, record: Record) -> list[Op]:
    """Mark the texts before a tool call as commentary."""
    commentary = [msgspec.structs.replace(row, sequence=record.sequence, commentary=True) for row in run.texts.values()]
    run.texts.clear()
    return upsert(*commentary)


def finish(run: OpenRun, record: Record, parts: tuple[int, ...]) -> list[Op]:
    """Mark the texts outside of the final answer as commentary."""
    commentary = [
        msgspec.structs.replace(row, sequence=record.sequence, commentary=True)
        for step, row in run.texts.items()
        if step not in parts
    ]
    run.texts.clear()
    return upsert(*commentary)
