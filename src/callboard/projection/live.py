"""Text in the making, laid over the rows of facts. It is no part of a view's state: the fact that ends a part says all."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts import (
    MessageInterrupted,
    MessageText,
    ModelFailed,
    ModelRequested,
    ReasoningCompleted,
    ReasoningInterrupted,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRequested,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
)
from callboard.contracts.live import Frame, partial_key
from callboard.contracts.record import Record, step_id
from callboard.contracts.rows import AppendText, Op, ReasoningPart, StatusRow, TextPart, ToolPart
from callboard.contracts.rows.conversation import StatusDetail

from .parts import OpenRun, PartsPanel
from .reducer import remove, upsert
from .status import StatusPanel

LiveRow = TextPart | ReasoningPart | ToolPart

_DETAILS: dict[str, StatusDetail] = {"text": "answering", "reasoning": "reasoning", "arguments": "calling_tool"}


class _LivePart(msgspec.Struct):
    """A part in the making. `row` is what viewers have without the text, which grows in `field`."""

    run: str
    row: LiveRow
    field: str
    pieces: list[str]
    length: int

    def whole(self) -> LiveRow:
        return msgspec.structs.replace(self.row, **{self.field: Text(text="".join(self.pieces))})


class Live:
    """What is being streamed now, by partial key, the finer status line of each thread that streams, and how far calls are."""

    def __init__(self) -> None:
        self._parts: dict[str, _LivePart] = {}
        self._status: dict[str, StatusRow] = {}
        self._far: dict[str, dict[str, Any]] = {}

    def frame(self, frame: Frame, parts: PartsPanel, status: StatusPanel) -> list[Op]:
        """The operations of a piece: a new row for the first, an append for the others.

        A piece that was seen is skipped. One of a run that is over, of a part that is finished or behind a piece that was
        missed changes nothing: the part's fact brings the whole.
        """
        run = parts.runs.get(frame.scope.turn)
        if run is None or run.place.run != frame.scope.run:
            return []
        if frame.kind == "progress":
            return self._progress(run, frame)
        key = partial_key(frame.kind, frame.scope)
        part = self._parts.get(key)
        if part is None:
            row = None if frame.offset else _first(run, frame)
            if row is None:
                return []
            if isinstance(row, ToolPart) and frame.kind == "output":
                row = msgspec.structs.replace(row, **self._far.get(row.key, {}))
            part = self._parts[key] = _LivePart(
                run=run.place.run, row=row, field=_FIELDS[frame.kind], pieces=[frame.text], length=len(frame.text)
            )
            return [*upsert(part.whole()), *self._finer(frame, status)]
        fresh = frame.text[part.length - frame.offset :] if frame.offset <= part.length else ""
        if not fresh:
            return []
        op = AppendText(panel="parts", key=part.row.key, field=part.field, offset=part.length, text=fresh)
        part.pieces.append(fresh)
        part.length += len(fresh)
        return [op, *self._finer(frame, status)]

    def _progress(self, run: OpenRun, frame: Frame) -> list[Op]:
        """How far a call is stands in its row, beside what it has printed. One that is over is not told of any more."""
        part = self._parts.get(partial_key("output", frame.scope))
        row = run.tools.get(frame.scope.tool_call)
        if row is None or row.state != "running":
            return []
        far = _far(frame)
        self._far[frame.scope.tool_call] = far
        if part is None:
            return upsert(msgspec.structs.replace(row, **far))
        part.row = msgspec.structs.replace(part.row, **far)
        return upsert(part.whole())

    def settle(self, record: Record, ops: list[Op]) -> list[Op]:
        """What the fact makes of the parts in the making: those that it ends are its own rows from now on, those that it
        leaves behind are gone. `ops` are the operations that the fact led to."""
        if not self._parts and not self._status and not self._far:
            return []
        if any(op.panel == "status" for op in ops):
            self._status.pop(record.scope.thread, None)
        scope = record.scope
        match record.fact:
            case MessageText() | MessageInterrupted():
                self._parts.pop(partial_key("text", scope), None)
            case ReasoningCompleted() | ReasoningInterrupted():
                self._parts.pop(partial_key("reasoning", scope), None)
            case ToolRequested():
                self._parts.pop(partial_key("arguments", scope), None)
            case ToolCompleted() | ToolFailed() | ToolCancelled() | ToolLost():
                self._parts.pop(partial_key("output", scope), None)
                self._far.pop(scope.tool_call, None)
            case ModelFailed() | ModelRequested() | TurnCompleted() | TurnFailed() | TurnInterrupted():
                return self._leave(scope.run)
            case _:
                pass
        return []

    def _leave(self, run: str) -> list[Op]:
        left = {key: part for key, part in self._parts.items() if part.run == run}
        for key in left:
            del self._parts[key]
        return [op for part in left.values() if part.field != "output" for op in remove(type(part.row), part.row.key)]

    def _finer(self, frame: Frame, status: StatusPanel) -> list[Op]:
        """The status line while this kind of text comes. It does not hide that something waits or is being stopped."""
        thread, detail = status.threads.get(frame.scope.thread), _DETAILS.get(frame.kind)
        if thread is None or detail is None or not thread.open or thread.stopping or thread.waiting:
            return []
        shown = self._status.get(frame.scope.thread, thread.row)
        finer = msgspec.structs.replace(thread.row, status="streaming", detail=detail, tool=frame.tool)
        if shown == finer:
            return []
        self._status[frame.scope.thread] = finer
        return upsert(finer)


def _far(frame: Frame) -> dict[str, Any]:
    """How far the call is, as its row tells it."""
    return {"state": "progress", "done": frame.done, "total": frame.total, "message": frame.text}


_FIELDS = {"text": "content", "reasoning": "content", "arguments": "arguments", "output": "output"}


def _first(run: OpenRun, frame: Frame) -> LiveRow | None:
    """The row that the first piece of a part brings; None where the part is over or cannot be yet."""
    scope = frame.scope
    common: dict[str, Any] = {
        "key": step_id(scope.run, scope.step),
        "order": run.place.order(scope.step),
        "sequence": run.asked_sequence,
        "turn_id": run.place.turn,
        "thread_id": run.place.thread,
        "at": run.asked_at,
    }
    if frame.kind == "output":
        row = run.tools.get(scope.tool_call)
        return None if row is None or row.state != "running" else msgspec.structs.replace(row, state="progress")
    if scope.step <= run.step:
        return None
    if frame.kind == "text":
        return TextPart(**common, state="streaming", content=Text())
    if frame.kind == "reasoning":
        return ReasoningPart(**common, state="streaming", content=Text())
    common["key"] = scope.tool_call
    return ToolPart(**common, tool_call_id=scope.tool_call, tool=frame.tool, state="input-streaming")
