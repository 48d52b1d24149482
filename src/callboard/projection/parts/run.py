"""Open runs of the conversation, and the position of their parts."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.turn import TurnStarted
from callboard.contracts.record import Record, format_step_id
from callboard.contracts.rows.action import ActionPart
from callboard.contracts.rows.agent import RemoteStatusPart
from callboard.contracts.rows.context import ContextPart
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.part import compute_part_order
from callboard.contracts.rows.plan import PlanPart
from callboard.contracts.rows.queue import SteerPart
from callboard.contracts.rows.tool import ToolPart
from callboard.contracts.scope import Scope

from ..reducer import Reducer, on

#: The step of parts at the end of a run: pending steers, its error, and a later pause.
LAST_STEP = (1 << 20) - 1


class PartPosition(msgspec.Struct, frozen=True, gc=False):
    """The position of a run in the conversation. `started` is the sequence of its `turn.started`."""

    turn: str
    thread: str
    run: str
    started: int

    def compute_order(self, step: int) -> int:
        """Return the order of a part that starts with this step."""
        return compute_part_order(self.started, step)

    def build_fields(self, record: Record, key: str, step: int) -> dict[str, Any]:
        """Return the fields that every part has."""
        return {
            "key": key,
            "order": self.compute_order(step),
            "sequence": record.sequence,
            "turn_id": self.turn,
            "thread_id": self.thread,
            "at": record.header.at,
        }

    def build_aside_fields(self, record: Record, step: int) -> dict[str, Any]:
        """Return the fields of a part that is not a step of the model."""
        return self.build_fields(record, build_aside_key(self.run, record.sequence), step)


class RemoteTask(msgspec.Struct, gc=False):
    """A remote agent's task for the run. `artifacts` are the names of its artifacts, by id."""

    row: RemoteStatusPart
    artifacts: dict[str, str] = {}


class OpenRun(msgspec.Struct, gc=False):
    """A run in progress.

    Attributes:
        step: The highest step of its facts.
        model_calls: How often a model call was requested or failed. Live parts belong to the newest count.
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

    position: PartPosition
    step: int = 0
    model_calls: int = 0
    asked_sequence: int = 0
    asked_at: int = 0
    texts: dict[int, TextPart] = {}
    tools: dict[str, ToolPart] = {}
    actions: dict[str, ActionPart] = {}
    steers: dict[str, SteerPart] = {}
    plan: PlanPart | None = None
    compaction: ContextPart | None = None
    remote: dict[str, RemoteTask] = {}


class Runs(Reducer):
    """The open runs by turn, and in `newest` the position of each thread's newest run, open or ended."""

    open: dict[str, OpenRun] = msgspec.field(default={})
    newest: dict[str, PartPosition] = msgspec.field(default={})

    @on
    def start(self, record: Record, fact: TurnStarted) -> None:
        scope = record.scope
        position = PartPosition(turn=scope.turn, thread=scope.thread, run=scope.run, started=record.sequence)
        self.open[scope.turn] = OpenRun(position=position)
        self.newest[scope.thread] = position

    def find(self, scope: Scope) -> OpenRun | None:
        """Return the open run of the scope; None if the scope names another run of its turn."""
        run = self.open.get(scope.turn)
        return None if run is None or (scope.run and scope.run != run.position.run) else run

    def build_notice_fields(self, record: Record, thread: str) -> dict[str, Any]:
        """Return the fields of a notice within the open run of the fact.

        A notice outside of runs is at the end of the newest run of `thread`, or alone if the thread had no run.
        """
        run, scope = self.find(record.scope), record.scope
        if run is not None:
            return run.position.build_aside_fields(record, run.step)
        alone = PartPosition(turn=scope.turn, thread=scope.thread, run=scope.run, started=record.sequence)
        return self.newest.get(thread, alone).build_aside_fields(record, LAST_STEP)


def build_step_key(record: Record) -> str:
    """Return the key of a text or reasoning part."""
    return format_step_id(record.scope.run, record.scope.step)


def build_retry_key(run: str, step: int) -> str:
    """Return the key of the notice of a model call that is tried again, by the call's step."""
    return f"{run}~retry{step:05}"


def build_aside_key(run: str, sequence: int) -> str:
    """Return the key of a part without a step. It sorts after the part of the same order, and by sequence."""
    return f"{run}~{sequence:010}"
