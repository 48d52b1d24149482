"""The attempts of a task. A retry is a new attempt; a stopped attempt continues in another run."""

from __future__ import annotations

import msgspec

from callboard.contracts.record import Record
from callboard.contracts.rows.run import RunStatus
from callboard.contracts.rows.task import AttemptRow

#: Maximum number of attempts in a task's row.
MAX_ATTEMPTS = 20
Attempts = tuple[AttemptRow, ...]


def start(attempts: Attempts, record: Record, agent: str) -> Attempts:
    """Add the attempt of the scope. It may have no run yet."""
    scope = record.scope
    new = AttemptRow(run_id=scope.run, status="running", number=scope.attempt, agent_id=agent, started=record.header.at)
    # The run may have started before it became this attempt.
    others = [attempt for attempt in attempts if not (scope.run and attempt.run_id == scope.run)]
    return (*others, new)[-MAX_ATTEMPTS:]


def start_run(attempts: Attempts, record: Record, *, again: bool = False) -> Attempts:
    """Start a run of the newest attempt, or of another attempt if a failed task is tried `again`."""
    scope = record.scope
    if attempts and not again:
        last = msgspec.structs.replace(attempts[-1], run_id=scope.run, status="running", detail="", ended=0)
        return (*attempts[:-1], last)
    new = AttemptRow(
        run_id=scope.run,
        status="running",
        number=attempts[-1].number + 1 if attempts else 1,
        agent_id=scope.agent,
        started=record.header.at,
    )
    return (*attempts, new)[-MAX_ATTEMPTS:]


def end(attempts: Attempts, status: RunStatus, detail: str, at: int, *, run: str = "") -> Attempts:
    """End the running attempt of `run`, or all running attempts without a `run`."""
    return tuple(
        msgspec.structs.replace(attempt, status=status, detail=detail, ended=at)
        if attempt.status == "running" and run in ("", attempt.run_id)
        else attempt
        for attempt in attempts
    )
