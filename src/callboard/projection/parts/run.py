"""What the conversation needs of a run while it is open, and where its parts stand."""

from __future__ import annotations

import msgspec

from callboard.contracts.record import Record, step_id
from callboard.contracts.rows import ActionPart, ContextPart, PlanPart, RemoteStatusPart, SteerPart, TextPart, ToolPart
from callboard.contracts.rows.conversation import part_order

#: The step of what stands at the end of a run: steers that no model call has taken, the error that ended it, a pause after it.
LAST_STEP = (1 << 20) - 1


class PartPosition(msgspec.Struct, frozen=True):
    """Where a run stands in the conversation: `started` is the sequence of its `turn.started`."""

    turn: str
    thread: str
    run: str
    started: int

    def order(self, step: int) -> int:
        """The order of a part that began with this step."""
        return part_order(self.started, step)


class RemoteTask(msgspec.Struct):
    """What an agent elsewhere told of its task for the run; `artifacts` are the names of what it delivered, by id."""

    row: RemoteStatusPart
    artifacts: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class OpenRun(msgspec.Struct):
    """A run under way.

    `step` is the highest step that a fact told; `asked_sequence` and `asked_at` are of the newest request to the model, which
    shapes what it streams. `texts` are the finished texts since the last tool call, `tools`, `actions` and `steers` those
    without an end, each by its id. `plan` is the agent's, `remote` what one elsewhere told of its tasks, by their ids there;
    `compaction` is a summary in the making.
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
    """The key of a text or reasoning part."""
    return step_id(record.scope.run, record.scope.step)


def retry_key(run: str, step: int) -> str:
    """Return the key of the notice of a model call that is tried again, by the call's step."""
    return f"{run}~retry{step:05}"


def aside_key(run: str, sequence: int) -> str:
    """The key of a part without a step of its own: it sorts behind the part of the same order, and asides by their sequence."""
    return f"{run}~{sequence:010}"
