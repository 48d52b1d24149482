"""Tool call parts, from the model's request to the call's end."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.permission import PermissionEvaluated, passed
from callboard.contracts.facts.tool import (
    SandboxApplied,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolStarted,
)
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.conversation import ToolPart

from ..reducer import upsert
from .run import OpenRun

LOST = "The process that ran this ended. Whether it took effect is unknown."
CANCELLED = "Stopped before its end."
NOT_STARTED = "Not begun: the turn was stopped before."


def request(run: OpenRun, record: Record, fact: ToolRequested) -> list[Op]:
    """Add the part of a tool call."""
    row = run.tools[record.scope.tool_call] = ToolPart(
        **run.place.fields(record, record.scope.tool_call, record.scope.step),
        tool_call_id=record.scope.tool_call,
        tool=fact.tool,
        state="input-available",
        summary=fact.summary,
        arguments=fact.final,
        asked=None if fact.final is fact.arguments else fact.arguments,
    )
    return upsert(row)


def change(run: OpenRun, record: Record) -> list[Op]:
    """Change the part of an open call. An ended call has no changes."""
    call = record.scope.tool_call
    row = run.tools.get(call)
    if row is None:
        return []
    changes = _progress(record) or _end(record)
    row = msgspec.structs.replace(row, sequence=record.sequence, **changes)
    if row.state in ("output-available", "output-error", "cancelled"):
        del run.tools[call]
    else:
        run.tools[call] = row
    return upsert(row)


def _progress(record: Record) -> dict[str, Any]:
    match record.fact:
        case PermissionEvaluated() as fact:
            return {"verdict": fact.verdict, "risk": fact.risk, "checks": passed(fact.checks)}
        case SandboxApplied() as fact:
            return {"sandbox": fact.level, "network": fact.network}
        case ActionRequired():
            return {"action_id": record.scope.action}
        case ToolStarted():
            return {"state": "running", "started_at": record.header.at}
        case _:
            return {}


def _end(record: Record) -> dict[str, Any]:
    match record.fact:
        case ToolCompleted() as fact:
            return {
                "state": "output-available",
                "output": fact.output,
                "exit_code": fact.exit_code,
                "duration_ms": fact.duration_ms,
                "changes": fact.changes,
                "images": fact.images,
            }
        case ToolFailed() as fact:
            return {
                "state": "output-error",
                "code": fact.code,
                "message": fact.message,
                "output": fact.output,
                "exit_code": fact.exit_code,
                "duration_ms": fact.duration_ms,
                "changes": fact.changes,
            }
        case ToolRefused() as fact:
            return {"state": "output-error", "code": fact.code, "message": fact.message}
        case ToolLost() as fact:
            return {"state": "output-error", "code": "tool_lost", "message": LOST, "output": fact.output}
        case ToolCancelled() as fact:
            return {
                "state": "cancelled",
                "code": "tool_cancelled" if fact.started else "tool_not_started",
                "message": CANCELLED if fact.started else NOT_STARTED,
                "output": fact.output,
                "duration_ms": fact.duration_ms,
                "changes": fact.changes,
            }
        case _:
            return {}
