"""Text and reasoning parts of the assistant's message."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts import MessageText
from callboard.contracts.record import Record
from callboard.contracts.rows import Op, ReasoningPart, TextPart
from callboard.contracts.rows.conversation import PartState

from ..reducer import upsert
from .run import OpenRun, step_key


def said(run: OpenRun, record: Record, content: Text, state: PartState) -> list[Op]:
    """A text part is finished, or was cut short."""
    fact = record.fact
    row = TextPart(
        **_common(run, record),
        state=state,
        content=content,
        revised=isinstance(fact, MessageText) and fact.revised,
    )
    run.texts[record.scope.step] = row
    return upsert(row)


def reasoned(run: OpenRun, record: Record, content: Text, state: PartState) -> list[Op]:
    """A reasoning part is finished, or was cut short. What the provider shows nobody is no part."""
    if not content.text and content.ref is None:
        return []
    return upsert(ReasoningPart(**_common(run, record), state=state, content=content))


def followed_by_call(run: OpenRun, record: Record) -> list[Op]:
    """A tool call follows what was said so far: it is commentary, and stays where it is."""
    commentary = [msgspec.structs.replace(row, sequence=record.sequence, commentary=True) for row in run.texts.values()]
    run.texts.clear()
    return upsert(*commentary)


def final(run: OpenRun, record: Record, parts: tuple[int, ...]) -> list[Op]:
    """The answer is settled: text that is not among its parts is commentary."""
    commentary = [
        msgspec.structs.replace(row, sequence=record.sequence, commentary=True)
        for step, row in run.texts.items()
        if step not in parts
    ]
    run.texts.clear()
    return upsert(*commentary)


def _common(run: OpenRun, record: Record) -> dict[str, Any]:
    return {
        "key": step_key(record),
        "order": run.place.order(record.scope.step),
        "sequence": record.sequence,
        "turn_id": run.place.turn,
        "thread_id": run.place.thread,
        "at": record.header.at,
    }
