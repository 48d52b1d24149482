"""Tool call parts, from the model's request to the call's end, and the artifact versions that calls create."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.artifact import choose_title
from callboard.contracts.facts.artifact import ArtifactVersionCreated
from callboard.contracts.facts.permission import PermissionEvaluated, list_checks
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
from callboard.contracts.rows.artifact import ArtifactPart
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.tool import ToolPart

from ..reducer import on, upsert
from .message import mark_commentary
from .run import OpenRun

LOST = "The process that ran this ended. Whether it took effect is unknown."
CANCELLED = "Stopped before its end."
NOT_STARTED = "Not begun: the turn was stopped before."


@on
def request(run: OpenRun, record: Record, fact: ToolRequested) -> list[Op]:
    """Add the part of a tool call. The texts before it are commentary."""
    row = run.tools[record.scope.tool_call] = ToolPart(
        **run.position.build_fields(record, record.scope.tool_call, record.scope.step),
        tool_call_id=record.scope.tool_call,
        tool=fact.tool,
        state="input-available",
        summary=fact.summary,
        arguments=fact.final,
        asked=None if fact.final is fact.arguments else fact.arguments,
    )
    return [*mark_commentary(run, record), *upsert(row)]


@on
def evaluate(run: OpenRun, record: Record, fact: PermissionEvaluated) -> list[Op]:
    return change_call(run, record, verdict=fact.verdict, risk=fact.risk, checks=list_checks(fact.checks))


@on
def apply_sandbox(run: OpenRun, record: Record, fact: SandboxApplied) -> list[Op]:
    return change_call(run, record, sandbox=fact.level, network=fact.network)


@on
def start(run: OpenRun, record: Record, fact: ToolStarted) -> list[Op]:
    return change_call(run, record, state="running", started_at=record.header.at)


@on
def complete(run: OpenRun, record: Record, fact: ToolCompleted) -> list[Op]:
    return _end(
        run,
        record,
        state="output-available",
        output=fact.output,
        exit_code=fact.exit_code,
        duration_ms=fact.duration_ms,
        changes=fact.changes,
        images=fact.images,
    )


@on
def fail(run: OpenRun, record: Record, fact: ToolFailed) -> list[Op]:
    return _end(
        run,
        record,
        state="output-error",
        code=fact.code,
        message=fact.message,
        output=fact.output,
        exit_code=fact.exit_code,
        duration_ms=fact.duration_ms,
        changes=fact.changes,
    )


@on
def refuse(run: OpenRun, record: Record, fact: ToolRefused) -> list[Op]:
    return _end(run, record, state="output-error", code=fact.code, message=fact.message)


@on
def lose(run: OpenRun, record: Record, fact: ToolLost) -> list[Op]:
    return _end(run, record, state="output-error", code="tool_lost", message=LOST, output=fact.output)


@on
def cancel(run: OpenRun, record: Record, fact: ToolCancelled) -> list[Op]:
    return _end(
        run,
        record,
        state="cancelled",
        code="tool_cancelled" if fact.started else "tool_not_started",
        message=CANCELLED if fact.started else NOT_STARTED,
        output=fact.output,
        duration_ms=fact.duration_ms,
        changes=fact.changes,
    )


@on
def add_version(run: OpenRun, record: Record, fact: ArtifactVersionCreated) -> list[Op]:
    """Add the version after the tool call that created it."""
    part = ArtifactPart(
        **run.position.build_aside_fields(record, record.scope.step or run.step),
        artifact_id=record.scope.artifact,
        title=choose_title(fact.title, fact.path),
        version=fact.version,
        path=fact.path,
        added=fact.added,
        removed=fact.removed,
    )
    return upsert(part)


def change_call(run: OpenRun, record: Record, **fields: Any) -> list[Op]:
    """Change the part of an open call. An ended call has no changes."""
    row = run.tools.get(record.scope.tool_call)
    if row is None:
        return []
    row = run.tools[row.key] = msgspec.structs.replace(row, sequence=record.sequence, **fields)
    return upsert(row)


def _end(run: OpenRun, record: Record, **fields: Any) -> list[Op]:
    ops = change_call(run, record, **fields)
    run.tools.pop(record.scope.tool_call, None)
    return ops
