"""What a person reads of a session's tasks: the board with its attempts, and the snapshot of one."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import msgspec

from callboard.contracts.commands.tasks import GetTask, ListTasks, TaskAttempt, TaskInList, TaskList, TaskRead
from callboard.contracts.errors import Refusal
from callboard.contracts.rows import TaskRow
from callboard.projection.snapshot import TaskFold

from ..dependencies import Dependencies
from ..session_registry import OpenSession, SessionRegistry
from ..sessions.host import SessionHost

#: How many facts are folded, or cards are read, at a time.
_AT_ONCE = 1000


class TaskReads:
    """Reads of tasks. A snapshot is folded from the facts; what was folded is kept with the open session, so that the next one
    folds what is new."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._folds: WeakKeyDictionary[SessionHost, TaskFold] = WeakKeyDictionary()

    async def job_rows(self, session: str, job: str) -> tuple[list[TaskRow], int]:
        """The cards of a job and of its items, in their order, and the sequence that they show; none where there is no such
        job. Raises Refusal `unknown_session`."""
        found, sequence = await self._at(session)
        rows = [row for row in found.views.rows(TaskRow) if row.job == job]
        if _is_whole(rows):
            return rows, sequence
        # What is in sight are the newest cards, and those that can still change.
        await found.views.flush()
        rows, before = list[TaskRow](), None
        while page := await self._dependencies.store.rows.rows(session, TaskRow.panel, before=before, limit=_AT_ONCE):
            rows = [*(row for row in page if isinstance(row, TaskRow) and row.job == job), *rows]
            if _is_whole(rows):
                return rows, sequence
            before = page[0].order
        return [], sequence

    async def list(self, query: ListTasks) -> TaskList:
        """The tasks of a session, newest first. Raises Refusal `unknown_session`."""
        found, sequence = await self._at(query.session_id)
        rows = [row for row in found.views.rows(TaskRow) if query.status in (None, row.status)]
        return TaskList(session_id=query.session_id, tasks=tuple(map(_in_list, reversed(rows))), sequence=sequence)

    async def get(self, query: GetTask) -> TaskRead:
        """One task. Raises Refusal `unknown_session`, `unknown_task`."""
        found, sequence = await self._at(query.session_id)
        row = next((one for one in found.views.rows(TaskRow) if one.key == query.task_id), None)
        if row is None:
            raise Refusal("unknown_task", f"There is no task {query.task_id}.", field="taskId")
        fold = await self._folded(found, sequence)
        snapshot = next(one for one in fold.snapshots() if one.task_id == query.task_id)
        return TaskRead(
            session_id=query.session_id,
            task=_in_list(row),
            snapshot=msgspec.to_builtins(snapshot),
            sequence=fold.through,
        )

    async def _at(self, session: str) -> tuple[OpenSession, int]:
        """The session with rows that show all that is durable: whoever follows the log may have seen it before."""
        found = await self._sessions.get(session)
        sequence = (await self._dependencies.store.facts.head(session)).sequence
        await found.views.wait_for(sequence)
        return found, sequence

    async def _folded(self, found: OpenSession, sequence: int) -> TaskFold:
        """Whoever asks at the same time folds for himself: a fold that is kept is never half taken."""
        former = self._folds.pop(found.host, None) or TaskFold()
        while former.through < sequence:
            records = await self._dependencies.store.facts.read(
                found.host.session, after=former.through, limit=_AT_ONCE
            )
            if not records:
                break
            former.take(records)
        self._folds[found.host] = former
        return former


def _is_whole(rows: list[TaskRow]) -> bool:
    """True where a job's own card is there and so are those of all its items."""
    counts = next((row.items for row in rows if row.items is not None), None)
    return counts is not None and sum(msgspec.structs.astuple(counts)) == len(rows) - 1


def _in_list(row: TaskRow) -> TaskInList:
    return TaskInList(
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
                number=one.number,
                run_id=one.run_id,
                agent_id=one.agent_id,
                status=one.status,
                detail=one.detail,
                started=one.started,
                ended=one.ended,
            )
            for one in row.attempts
        ),
    )
