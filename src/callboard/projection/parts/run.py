"""Open runs of the conversation, and the position of their parts."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.record import Record, step_id
from callboard.contracts.rows.context import ContextPart
from callboard.contracts.rows.conversation import (
    ActionPart,
    PlanPart,
    RemoteStatusPart,
    SteerPart,
    TextPart,
    ToolPart,
    part_order,
)

#: The step of parts at the end of a run: pending steers, its error, and a later pause.
LAST_STEP = (1 << 20) - 1


class PartPosition(msgspec.Struct, frozen=True):
    """The position of a run in the conversation. `started` is the sequence of its `turn.started`."""

    turn: str
    thread: str
    run: str
    started: int

    def order(self, step: int) -> int:
        """Return the order of a part that starts with this step."""
        return part_order(self.started, step)

    def fields(self, record: Record, key: str, step: int) -> dict[str, Any]:
        """Return the fields that every part has."""
        return {
            "key": key,
            "order": self.order(step),
            "sequence": record.sequence,
            "turn_id": self.turn,
            "thread_id": self.thread,
            "at": record.header.at,
        }


class RemoteTask(msgspec.Struct):
    """A remote agent's task for the run. `artifacts` are the names of its artifacts, by id."""

    row: RemoteStatusPart
    artifacts: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class OpenRun(msgspec.Struct):
    """A run in progress.

    Attributes:
        step: The highest step of its facts.
        asked_sequence: The sequence of the newest model request; live parts have it.
        asked_at: The time of that request, in microseconds since the epoch.
        texts: The finished texts since the last tool call, by step.
        tools: The open tool calls, by id.
        actions: The actions without an answer, by id.
        steers: The pending steers, by id.
        plan: The agent's newest plan.
        compaction: The compaction in progress.
        remote: The tasks of a remote agent, by remote id.
    """

    place: PartPosition
    step: int = 0
    asked_sequence: int = 0
    asked_at: int = 0
    texts: dict[int, TextPart] = msgspec.field(default_factory=dict[int, TextPart])
    tools: dict[str, ToolPart] = msgspec.field(default_factory=dict[str, ToolPart])
    actions: dict[str, ActionPart] = msgspec.field(default_factory=dict[str, ActionPart])
    steers: dict[str, SteerPart] = msgspec.field(default_factory=dict[str, SteerPart])
    plan: PlanPart | None = None
    compaction: ContextPart | None = None
    remote: dict[str, RemoteTask] = msgspec.field(default_factory=dict[str, RemoteTask])


def step_key(record: Record) -> str:
    """Return the key of a text or reasoning part."""
    return step_id(record.scope.run, record.scope.step)


def retry_key(run: str, step: int) -> str:
    """Return the key of the notice of a model call that is tried again, by the call's step."""
    return f"{run}~retry{step:05}"


def aside_key(run: str, sequence: int) -> str:
    """Return the key of a part without a step. It sorts after the part of the same order, and by sequence."""
    return f"{run}~{sequence:010}"
