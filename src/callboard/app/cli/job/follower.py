"""A job in the terminal: printed, answered, and paused by Ctrl-C."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from contextlib import aclosing

import msgspec

from callboard.client import Client
from callboard.contracts.commands.job import GetJob, JobChanged, JobRead, JobStatus, PauseJob
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.task import TaskCancelled, TaskCompleted, TaskFailed, TaskPaused
from callboard.contracts.record import WireEvent, decode_payload
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.task import TaskRow

from ...turn_follower import answer_actions
from ..terminal.approvals import Approvals, Approve
from ..terminal.exit_codes import INTERRUPTED, work_exit_code
from ..terminal.output import Style, print_err, print_out, read_terminal_width
from ..terminal.team_watcher import HeldOutput
from .formatter import JobEvents, format_counts, format_job_event, format_next_command

_BY_HAND = "Ctrl-C in the terminal"
#: Refusals of a pause: the job has ended, is being cancelled, or is already paused.
_NOT_PAUSED = ("unknown_job", "unknown_task", "task_paused")
#: Facts that start or continue a job.
_BEGINS = ("job.created", "job.item.retried", "task.resumed")


class JobFollower:
    """One job, from the command that starts or continues it until it ends or is paused."""

    def __init__(
        self,
        client: Client,
        read: JobRead,
        approve: Approve | None,
        *,
        attempts: Mapping[str, int],
        before: int,
        as_json: bool,
    ) -> None:
        """Prepare to follow the job.

        Args:
            approve: None if the person in the terminal answers approvals.
            attempts: Number of earlier attempts by item id.
            before: Sequence before the command.
            as_json: Print only facts, those after `before`.
        """
        self._client = client
        self._job = read
        self._before = before
        self._json = as_json
        self._style = Style(sys.stdout)
        self._events = JobEvents(read.items, attempts, self._style, max(read_terminal_width() - 4, 20))
        self._items = {item.item_id for item in read.items}
        self._workers: set[str] = set()
        self._lines = HeldOutput(print_out)
        print_line = _ignore if as_json and approve is not None else print_err
        self._approvals = Approvals(client, read.session_id, approve, print_line, self._lines.hold)

    async def run(self, changed: JobChanged | None, stop: asyncio.Event) -> int:
        """Follow the job to its end; pause it once `stop` is set.

        Args:
            changed: Result of the command; None for a job that is already running.
        Returns:
            The exit code.
        Raises:
            Refusal: Any refusal of a command or query.
        """
        try:
            async with asyncio.TaskGroup() as group:
                helpers = [
                    group.create_task(self._approvals.run()),
                    group.create_task(self._answer_actions()),
                    group.create_task(self._pause(stop)),
                ]
                status = await self._follow_facts(changed)
                for task in helpers:
                    task.cancel()
        except ExceptionGroup as failures:
            self._lines.hold(holds=False)
            if isinstance(failures.exceptions[0], Refusal) and failures.exceptions[0].code == "unreachable":
                # Finished items stay finished; the rest waits for the next process.
                print_err(
                    Style(sys.stderr).warn(
                        f"The process that ran the job ended. {format_next_command('paused', self._job)}"
                    )
                )
                return INTERRUPTED
            raise failures.exceptions[0] from failures
        self._lines.hold(holds=False)
        if not self._json:
            await self._end(status)
        return await self._choose_exit_code(status, by_hand=stop.is_set())

    async def _follow_facts(self, changed: JobChanged | None) -> JobStatus:
        began = changed is None
        async with aclosing(self._client.follow_facts(self._job.session_id, after=self._before)) as events:
            async for event in events:
                status = self._apply(event)
                began = began or (event.type in _BEGINS and event.job_id == self._job.job_id)
                if began and status is not None:
                    return status
                if changed is not None and changed.status != "running" and event.sequence >= changed.sequence:
                    # No item could start or continue.
                    return changed.status
        raise Refusal(
            "gap",
            f"The facts of {self._job.session_id} ended before its job did.",
            hint=f"`callboard job show {self._job.session_id}` shows its status.",
        )

    def _apply(self, event: WireEvent) -> JobStatus | None:
        """Print a fact of the job; return the job's status if the fact ends or pauses it."""
        if self._json:
            print_out(msgspec.json.encode(event).decode())
        if event.task_id not in self._items and event.task_id != self._job.task_id:
            return None
        fact = decode_payload(event.type, None if event.erased else bytes(event.payload), event.schema_version)
        is_job = event.task_id == self._job.task_id
        line = format_job_event(fact, self._style) if is_job else self._events.apply_item_event(event.task_id, fact)
        if line and not self._json:
            self._lines.print(line)
        match fact:
            case TaskCompleted() if is_job:
                return "completed"
            case TaskFailed() if is_job:
                return "failed"
            case TaskCancelled() if is_job:
                return "cancelled"
            case TaskPaused() if is_job:
                return "paused"
            case _:
                return None

    async def _answer_actions(self) -> None:
        """Answer the requests of agents that work on items of this job."""
        async with aclosing(self._client.follow_ops(self._job.session_id)) as batches:
            async for batch in batches:
                if batch.kind == "snapshot":
                    # A snapshot does not include all cards of a large job.
                    read = await self._read()
                    self._workers.update(item.agent_id for item in read.items if item.agent_id)
                for op in batch.ops:
                    if isinstance(op, Upsert) and isinstance(op.row, TaskRow) and op.row.job == self._job.job_id:
                        self._workers.update(attempt.agent_id for attempt in op.row.attempts if attempt.agent_id)
                answer_actions(batch, self._approvals, lambda row: row.agent_id in self._workers or None)

    async def _pause(self, stop: asyncio.Event) -> None:
        await stop.wait()
        if self._approvals.abandon_question():
            print_err()
        if not self._json:
            print_err(Style(sys.stderr).dim("Pausing the job. Ctrl-C again exits immediately."))
        try:
            await self._client.submit(
                PauseJob(session_id=self._job.session_id, job_id=self._job.job_id, reason=_BY_HAND)
            )
        except Refusal as refusal:
            if refusal.code not in _NOT_PAUSED:
                raise

    async def _read(self) -> JobRead:
        return await self._client.submit(GetJob(session_id=self._job.session_id, job_id=self._job.job_id))

    async def _end(self, status: JobStatus) -> None:
        style = Style(sys.stderr)
        read = await self._read()
        print_err(style.dim(f"{status} · {format_counts(read.counts)} · {format_next_command(status, read)}"))

    async def _choose_exit_code(self, status: JobStatus, *, by_hand: bool) -> int:
        is_partly_cancelled = status == "completed" and (await self._read()).counts.cancelled > 0
        state = "cancelled" if is_partly_cancelled else status
        return work_exit_code(state, unapproved=self._approvals.refused, by_hand=by_hand and not is_partly_cancelled)


def _ignore(_: str) -> None:
    pass
