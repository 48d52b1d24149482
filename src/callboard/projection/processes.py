"""Background processes: one row each."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.process import ProcessEnded, ProcessStarted, ProcessStopRequested
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.process import ProcessRow

from .reducer import upsert


class ProcessesPanel(msgspec.Struct):
    """The rows of running processes, by id. The input of a process is not shown."""

    running: dict[str, ProcessRow] = msgspec.field(default_factory=dict[str, ProcessRow])

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact."""
        process = record.scope.process
        match record.fact:
            case ProcessStarted() as fact:
                row = self.running[process] = _row(record, fact)
                return upsert(row)
            case ProcessStopRequested() as fact if process in self.running:
                row = self.running[process] = msgspec.structs.replace(
                    self.running[process], sequence=record.sequence, state="stopping", reason=fact.reason
                )
                return upsert(row)
            case ProcessEnded() as fact if process in self.running:
                return upsert(
                    msgspec.structs.replace(
                        self.running.pop(process),
                        sequence=record.sequence,
                        state=fact.status,
                        ended_at=record.header.at,
                        exit_code=fact.exit_code,
                        output=fact.output,
                        code=fact.code,
                        message=fact.message,
                    )
                )
            case _:
                return []


def _row(record: Record, fact: ProcessStarted) -> ProcessRow:
    scope = record.scope
    return ProcessRow(
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
