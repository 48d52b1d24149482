"""Live text, shown over the rows of facts. It is not part of a view's state: a part's final fact replaces it."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.live import Frame, build_partial_key
from callboard.contracts.record import format_step_id
from callboard.contracts.rows.base import AppendText, Op, Upsert
from callboard.contracts.rows.message import ReasoningPart, TextPart
from callboard.contracts.rows.status import StatusDetail, StatusRow
from callboard.contracts.rows.tool import ToolPart

from .parts import PartsPanel
from .parts.run import OpenRun
from .reducer import remove, upsert
from .status import StatusPanel

LiveRow = TextPart | ReasoningPart | ToolPart

_DETAILS: dict[str, StatusDetail] = {"text": "answering", "reasoning": "reasoning", "arguments": "calling_tool"}


class _LivePart(msgspec.Struct, gc=False):
    """A live part. `row` has no text; the text grows in `field`. `model_calls` is the run's count when the part began."""

    run: str
    model_calls: int
    row: LiveRow
    field: str
    pieces: list[str]
    length: int

    def complete_row(self) -> LiveRow:
        return msgspec.structs.replace(self.row, **{self.field: Text(text="".join(self.pieces))})


class Live:
    """The live parts by partial key, the refined status of each thread, and the progress of calls."""

    def __init__(self) -> None:
        self._parts: dict[str, _LivePart] = {}
        self._status: dict[str, StatusRow] = {}
        self._calls: dict[str, dict[str, Any]] = {}

    def apply_frame(self, frame: Frame, parts: PartsPanel, status: StatusPanel) -> list[Op]:
        """Return the row operations of a frame: a new row for the first frame of a part, then appends.

        Repeated frames, frames after a gap, and frames of ended runs or finished parts have no operations.
        """
        run = parts.runs.open.get(frame.scope.turn)
        if run is None or run.position.run != frame.scope.run:
            return []
        if frame.kind == "progress":
            return self._show_progress(run, frame)
        key = build_partial_key(frame.kind, frame.scope)
        part = self._parts.get(key)
        if part is None:
            row = None if frame.offset else _build_first_row(run, frame)
            if row is None:
                return []
            if isinstance(row, ToolPart) and frame.kind == "output":
                row = msgspec.structs.replace(row, **self._calls.get(row.key, {}))
            part = self._parts[key] = _LivePart(
                run=run.position.run,
                model_calls=run.model_calls,
                row=row,
                field=_FIELDS[frame.kind],
                pieces=[frame.text],
                length=len(frame.text),
            )
            return [*upsert(part.complete_row()), *self._refine(frame, status)]
        new = frame.text[part.length - frame.offset :] if frame.offset <= part.length else ""
        if not new:
            return []
        op = AppendText(panel="parts", key=part.row.key, field=part.field, offset=part.length, text=new)
        part.pieces.append(new)
        part.length += len(new)
        return [op, *self._refine(frame, status)]

    def _show_progress(self, run: OpenRun, frame: Frame) -> list[Op]:
        """Show the progress of a running call in its row."""
        part = self._parts.get(build_partial_key("output", frame.scope))
        row = run.tools.get(frame.scope.tool_call)
        if row is None or row.state != "running":
            return []
        fields = _build_progress_fields(frame)
        self._calls[frame.scope.tool_call] = fields
        if part is None:
            return upsert(msgspec.structs.replace(row, **fields))
        part.row = msgspec.structs.replace(part.row, **fields)
        return upsert(part.complete_row())

    def settle(self, ops: list[Op], parts: PartsPanel) -> list[Op]:
        """End the live parts that a fact completed, and return the removal of abandoned parts.

        Args:
            ops: The row operations of the fact.
        """
        if not self._parts and not self._status and not self._calls:
            return []
        for op in ops:
            if not isinstance(op, Upsert):
                continue
            if isinstance(op.row, StatusRow):
                self._status.pop(op.row.key, None)
            elif isinstance(op.row, LiveRow) and op.row.state != "running":
                self._calls.pop(op.row.key, None)
                self._parts = {key: part for key, part in self._parts.items() if part.row.key != op.row.key}
        abandoned = [key for key, part in self._parts.items() if _is_abandoned(part, parts)]
        removed = [self._parts.pop(key) for key in abandoned]
        return [op for part in removed if part.field != "output" for op in remove(type(part.row), part.row.key)]

    def _refine(self, frame: Frame, status: StatusPanel) -> list[Op]:
        """Refine the status line by the kind of frame, unless the thread waits or is stopping."""
        thread, detail = status.threads.get(frame.scope.thread), _DETAILS.get(frame.kind)
        if thread is None or detail is None or thread.run is None or thread.run.stopping or thread.run.waiting:
            return []
        current = self._status.get(frame.scope.thread, thread.row)
        refined = msgspec.structs.replace(thread.row, status="streaming", detail=detail, tool=frame.tool)
        if current == refined:
            return []
        self._status[frame.scope.thread] = refined
        return upsert(refined)


def _is_abandoned(part: _LivePart, parts: PartsPanel) -> bool:
    """Return whether the run of the part ended, or its model call failed or was followed by another."""
    run = parts.runs.open.get(part.row.turn_id)
    return run is None or run.position.run != part.run or run.model_calls != part.model_calls


def _build_progress_fields(frame: Frame) -> dict[str, Any]:
    """Return the progress fields of a call's row."""
    return {"state": "progress", "done": frame.done, "total": frame.total, "message": frame.text}


_FIELDS = {"text": "content", "reasoning": "content", "arguments": "arguments", "output": "output"}


def _build_first_row(run: OpenRun, frame: Frame) -> LiveRow | None:
    """Return the row of a new part; None if the part has ended or cannot exist yet."""
    scope = frame.scope
    common: dict[str, Any] = {
        "key": format_step_id(scope.run, scope.step),
        "order": run.position.compute_order(scope.step),
        "sequence": run.asked_sequence,
        "turn_id": run.position.turn,
        "thread_id": run.position.thread,
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
