"""Background processes: one row each."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.process import ProcessEnded, ProcessStarted, ProcessStopRequested
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.process import ProcessRow

from .reducer import Panel, on, upsert


class ProcessesPanel(Panel):
    """The rows of running processes, by id. The input of a process is not shown."""

    running: dict[str, ProcessRow] = msgspec.field(default={})

    @on
    def start(self, record: Record, fact: ProcessStarted) -> list[Op]:
        scope = record.scope
        row = self.running[scope.process] = ProcessRow(
            key=scope.process,
            order=record.sequence,
            sequence=record.sequence,
            process_id=scope.process,
            thread_id=scope.thread,
            agent_id=scope.agent,
            turn_id=scope.turn,
            tool_call_id=scope.tool_call,
            state="running",
            command=fact.command,
            summary=fact.summary,
            started_at=record.header.at,
        )
        return upsert(row)

    @on
    def request_stop(self, record: Record, fact: ProcessStopRequested) -> list[Op]:
        row = self.running.get(record.scope.process)
        if row is None:
            return []
        row = msgspec.structs.replace(row, sequence=record.sequence, state="stopping", reason=fact.reason)
        self.running[row.key] = row
        return upsert(row)

    @on
    def end(self, record: Record, fact: ProcessEnded) -> list[Op]:
        row = self.running.pop(record.scope.process, None)
        if row is None:
            return []
        row = msgspec.structs.replace(
            row,
            sequence=record.sequence,
            state=fact.status,
            ended_at=record.header.at,
            exit_code=fact.exit_code,
            output=fact.output,
            code=fact.code,
            message=fact.message,
        )
        return upsert(row)
