"""Queries about a session's tasks."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import msgspec

from callboard.contracts.commands.job import GetJob, JobRead
from callboard.contracts.commands.task import GetTask, ListTasks, TaskAttempt, TaskEntry, TaskList, TaskRead
from callboard.contracts.rows.task import TaskRow
from callboard.control.task_status import build_unknown_task
from callboard.projection.snapshot import TaskFold

from ..dependencies import Dependencies
from ..service import Service, answers
from ..session_registry import OpenSession, SessionRegistry
from ..sessions.host import SessionHost
from ..workspaces.registry import WorkspaceRegistry
from .jobs import build_job

#: Number of facts or rows per read.
_PAGE = 1000


class TaskReads(Service):
    """Answers task queries.

    Snapshots are folded from facts. A fold is kept with its open session, and later queries
    continue it.
    """

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        super().__init__(dependencies, sessions, workspaces)
        self._folds: WeakKeyDictionary[SessionHost, TaskFold] = WeakKeyDictionary()

    @answers(GetJob)
    async def get_job(self, query: GetJob) -> JobRead:
        """Return a job with its items in order."""
        rows, sequence = await self._read_job_rows(query.session_id, query.job_id)
        return build_job(query, rows, sequence)

    async def _read_job_rows(self, session: str, job: str) -> tuple[list[TaskRow], int]:
        """Return the rows of a job and its items in order, and their sequence; empty for an unknown job."""
        opened, sequence = await self._open_current(session)
        rows = [row for row in opened.views.rows(TaskRow) if row.job == job]
        if _is_complete(rows):
            return rows, sequence
        # The window has only the newest rows and the open ones, so read the table.
        await opened.views.flush()
        rows, before = list[TaskRow](), None
        while page := await self._dependencies.store.rows.read_rows(session, TaskRow.panel, before=before, limit=_PAGE):
            rows = [*(row for row in page if isinstance(row, TaskRow) and row.job == job), *rows]
            if _is_complete(rows):
                return rows, sequence
            before = page[0].order
        return [], sequence

    @answers(ListTasks)
    async def list_tasks(self, query: ListTasks) -> TaskList:
        """Return the tasks of a session, newest first."""
        opened, sequence = await self._open_current(query.session_id)
        rows = [row for row in opened.views.rows(TaskRow) if query.status in (None, row.status)]
        return TaskList(
            session_id=query.session_id, tasks=tuple(map(_to_list_entry, reversed(rows))), sequence=sequence
        )

    @answers(GetTask)
    async def get_task(self, query: GetTask) -> TaskRead:
        """Return one task."""
        opened, sequence = await self._open_current(query.session_id)
        row = next((candidate for candidate in opened.views.rows(TaskRow) if candidate.key == query.task_id), None)
        if row is None:
            raise build_unknown_task(query.task_id)
        fold = await self._fold(opened, sequence)
        snapshot = next(candidate for candidate in fold.build_snapshots() if candidate.task_id == query.task_id)
        return TaskRead(
            session_id=query.session_id,
            task=_to_list_entry(row),
            snapshot=msgspec.to_builtins(snapshot),
            sequence=fold.through,
        )

    async def _open_current(self, session: str) -> tuple[OpenSession, int]:
        """Return the session when its rows show all durable facts, which a client may have seen."""
        opened = await self._sessions.get(session)
        sequence = (await self._dependencies.store.facts.read_head(session)).sequence
        await opened.views.wait_for(sequence)
        return opened, sequence

    async def _fold(self, opened: OpenSession, sequence: int) -> TaskFold:
        """Return the fold up to a sequence. Concurrent calls fold separately, so no partial fold is kept."""
        fold = self._folds.pop(opened.host, None) or TaskFold()
        while fold.through < sequence:
            records = await self._dependencies.store.facts.read(opened.host.session, after=fold.through, limit=_PAGE)
            if not records:
                break
            fold.apply(records)
        self._folds[opened.host] = fold
        return fold


def _is_complete(rows: list[TaskRow]) -> bool:
    """Return True if the rows of the job and of all its items are present."""
    counts = next((row.items for row in rows if row.items is not None), None)
    return counts is not None and sum(msgspec.structs.astuple(counts)) == len(rows) - 1


def _to_list_entry(row: TaskRow) -> TaskEntry:
    return TaskEntry(
        task_id=row.key,
        title=row.title,
        status=row.status,
        entity=row.entity,
        paused=row.paused,
        assignee=row.assignee,
        parent_task=row.parent_task,
        depends_on=row.depends_on,
        blocker=row.blocker,
        job=row.job,
        attempts=tuple(
            TaskAttempt(
                number=attempt.number,
                run_id=attempt.run_id,
                agent_id=attempt.agent_id,
                status=attempt.status,
                detail=attempt.detail,
                started=attempt.started,
                ended=attempt.ended,
            )
            for attempt in row.attempts
        ),
    )
