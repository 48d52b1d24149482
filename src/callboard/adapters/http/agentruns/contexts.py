"""A run's context: its own facts or a summary of them, and no facts of other runs (MAR-15)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.message import MessageInterrupted, MessageText
from callboard.contracts.facts.queue import QueueEdited, SteerAccepted, SteerRequested
from callboard.contracts.facts.tool import (
    FileChange,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
)
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.ports.runtime import RunReads
from callboard.contracts.record import Record, WireEvent, format_step_id
from callboard.contracts.rows.run import AgentRunRecord, LocatedRun
from callboard.projection.emit.runtime import build_wire_event

PAGE = 1000


class RunMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message. If the text is long, `text` is its beginning and `text_ref` the blob of all of it."""

    role: str
    text: str
    text_ref: str = ""
    part_id: str = ""
    interrupted: bool = False


class RunTool(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A tool call. `status` is `open` until it ends."""

    tool_call_id: str
    tool: str
    summary: str = ""
    status: str = "open"
    code: str = ""
    duration_ms: int = 0


class RunArtifact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that the run changed, with the numbers of added and removed lines."""

    path: str
    kind: str
    added: int = 0
    removed: int = 0


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Messages, tool calls and changed files of a run."""

    run: AgentRunRecord
    view: str
    messages: list[RunMessage]
    tools: list[RunTool]
    artifacts: list[RunArtifact]


class RawContext(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a run's facts in sequence order. `next` is the `after` of the next page, null on the last one."""

    run: AgentRunRecord
    view: str
    events: tuple[WireEvent, ...]
    next: int | None


async def read_raw_context(reads: RunReads, run: LocatedRun, after: int, limit: int, store_id: str) -> RawContext:
    """Return a page of the run's facts."""
    records = await reads.read_facts(run, after=after, limit=limit + 1)
    page = records[:limit]
    return RawContext(
        run=run.record,
        view="raw",
        events=tuple(build_wire_event(record, store_id) for record in page),
        next=page[-1].sequence if len(records) > limit else None,
    )


async def summarise_run(reads: RunReads, run: LocatedRun) -> RunSummary:
    """Return the summary of the run."""
    builder = _SummaryBuilder()
    async for record in _read_facts(reads, run):
        builder.add(record)
    return RunSummary(
        run=run.record,
        view="summary",
        messages=builder.messages,
        tools=list(builder.tools.values()),
        artifacts=list(builder.artifacts.values()),
    )


async def _read_facts(reads: RunReads, run: LocatedRun) -> AsyncIterator[Record]:
    after = 0
    while records := await reads.read_facts(run, after=after, limit=PAGE):
        for record in records:
            yield record
        after = records[-1].sequence


class _SummaryBuilder:
    def __init__(self) -> None:
        self.messages: list[RunMessage] = []
        self.tools: dict[str, RunTool] = {}
        self.artifacts: dict[str, RunArtifact] = {}
        self._steers: dict[str, Text] = {}

    def add(self, record: Record) -> None:
        part = format_step_id(record.scope.run, record.scope.step)
        match record.fact:
            case TurnSubmitted() as fact:
                self._add_message("user" if fact.source == "person" else "agent", fact.input)
            case QueueEdited() as fact:
                self.messages.clear()
                self._add_message("user", fact.input)
            case SteerRequested() as fact:
                self._steers[fact.steer_id] = fact.input
            case SteerAccepted() as fact:
                self._add_message("user", self._steers.pop(fact.steer_id, Text()))
            case MessageText() as fact:
                self._add_message("assistant", fact.content, part_id=part)
            case MessageInterrupted() as fact:
                self._add_message("assistant", fact.content, part_id=part, interrupted=True)
            case ToolRequested() as fact:
                call = record.scope.tool_call
                self.tools[call] = RunTool(tool_call_id=call, tool=fact.tool, summary=fact.summary)
            case ToolCompleted() as fact:
                self._end_tool(record, "completed", duration_ms=fact.duration_ms)
                self._add_changes(fact.changes)
            case ToolFailed() as fact:
                self._end_tool(record, "failed", code=fact.code, duration_ms=fact.duration_ms)
                self._add_changes(fact.changes)
            case ToolRefused() as fact:
                self._end_tool(record, "refused", code=fact.code)
            case ToolCancelled() as fact:
                self._end_tool(record, "cancelled", duration_ms=fact.duration_ms)
                self._add_changes(fact.changes)
            case ToolLost():
                self._end_tool(record, "lost")
            case _:
                pass

    def _add_message(self, role: str, text: Text, **more: Any) -> None:
        if text.text:
            ref = text.ref.hash if text.ref is not None else ""
            self.messages.append(RunMessage(role=role, text=text.text, text_ref=ref, **more))

    def _end_tool(self, record: Record, status: str, *, code: str = "", duration_ms: int = 0) -> None:
        tool = self.tools.get(record.scope.tool_call)
        if tool is not None:
            tool.status, tool.code, tool.duration_ms = status, code, duration_ms

    def _add_changes(self, changes: tuple[FileChange, ...]) -> None:
        for change in changes:
            before = self.artifacts.get(change.path)
            self.artifacts[change.path] = RunArtifact(
                path=change.path,
                kind=before.kind if before is not None and change.kind == "modified" else change.kind,
                added=change.added + (before.added if before is not None else 0),
                removed=change.removed + (before.removed if before is not None else 0),
            )
