"""The attempts of a task: a retry is a new one, and the former stays as it was. One that is stopped goes on in another run."""

from __future__ import annotations

import msgspec

from callboard.contracts.record import Record
from callboard.contracts.rows.team import AttemptRow, RunStatus

#: How many of a task's attempts are kept in its row.
ATTEMPTS = 20
Attempts = tuple[AttemptRow, ...]


def begun(attempts: Attempts, record: Record, agent: str) -> Attempts:
    """The attempt in the scope began; it may have no run yet."""
    scope = record.scope
    new = AttemptRow(run_id=scope.run, status="running", number=scope.attempt, agent_id=agent, started=record.header.at)
    # The run may have been there before it was said to be this attempt.
    former = [one for one in attempts if not (scope.run and one.run_id == scope.run)]
    return (*former, new)[-ATTEMPTS:]


def with_run(attempts: Attempts, record: Record, *, again: bool = False) -> Attempts:
    """A run of the newest attempt began; it is another attempt's where the task had failed and is worked on `again`."""
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
    return (*attempts, new)[-ATTEMPTS:]


def over(attempts: Attempts, status: RunStatus, detail: str, at: int, *, run: str = "") -> Attempts:
    """The attempt of that run ended, or all that were under way where none is named."""
    return tuple(
        msgspec.structs.replace(one, status=status, detail=detail, ended=at)
        if one.status == "running" and run in ("", one.run_id)
        else one
        for one in attempts
    )
