"""Commands and queries of `callboard job`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import msgspec

from callboard.client import Client
from callboard.contracts.commands.job import (
    CancelJob,
    CreateJob,
    GetJob,
    JobChanged,
    JobRead,
    PauseJob,
    ResumeJob,
    RetryJobItem,
)
from callboard.contracts.commands.permission import GetTrust, TrustRead
from callboard.contracts.commands.session import GetSession, SessionRead
from callboard.contracts.errors import Refusal
from callboard.contracts.text.sentences import format_count

from ...hosting.connection import connect
from ...hosting.serve import count_untrusted
from ...reading import build_no_session_refusal, resolve_session
from ...reading.remote_reader import RemoteReader
from ...state_folder import StateFolder
from ..terminal.approvals import Approve
from ..terminal.broad_folders import open_folder
from ..terminal.exit_codes import ENDED_BY_PERSON
from ..terminal.ignored_settings import warn_shared_folder
from ..terminal.loop import handle_ctrl_c
from ..terminal.milestones import format_untrusted
from ..terminal.output import Style, print_err, print_out, read_terminal_width, to_line
from .follower import JobFollower
from .formatter import format_counts, format_item

#: Facts that end a task.
_ENDS = ("task.completed", "task.cancelled")


async def start_job(
    command: CreateJob, folder: Path, approve: Approve | None, *, as_json: bool, wide: bool = False
) -> int:
    """Create a job and follow it; return the exit code.

    Args:
        folder: Folder of the new session, if the command names no session.
        approve: None if the person in the terminal answers approvals.
        wide: Whether a broad folder is approved.
    Raises:
        Refusal: Any refusal of the command.
    """
    with handle_ctrl_c() as stop:
        try:
            async with _connect(creates=command.session_id is None) as client:
                created, before = await _create(client, command, folder, wide=wide)
                read = await _read(client, created.session_id, created.job_id)
                if not as_json:
                    items = format_count(len(created.items), "item")
                    print_err(Style(sys.stderr).dim(f"{created.job_id} · {items} · {created.session_id}"))
                follower = JobFollower(client, read, approve, attempts={}, before=before, as_json=as_json)
                return await follower.run(created, stop)
        except asyncio.CancelledError:
            return ENDED_BY_PERSON


async def continue_job(command: ResumeJob | RetryJobItem, approve: Approve | None, *, as_json: bool) -> int:
    """Resume or retry a job and follow it; return the exit code. Raises Refusal."""
    with handle_ctrl_c() as stop:
        try:
            async with _connect() as client:
                read = await _resolve(client, command.session_id, command.job_id, still_open=True)
                before = await _read_head(client, read.session_id)
                attempts = {item.item_id: item.attempts for item in read.items}
                follower = JobFollower(client, read, approve, attempts=attempts, before=before, as_json=as_json)
                if isinstance(command, ResumeJob) and read.status == "running":
                    # Another process started it, or it only waits for an answer.
                    return await follower.run(None, stop)
                if isinstance(command, ResumeJob) and read.status != "paused":
                    hint = "`callboard job retry` retries failed items." if read.status == "failed" else ""
                    raise Refusal("task_not_paused", f"The job is {read.status}, not paused.", field="jobId", hint=hint)
                command = msgspec.structs.replace(command, session_id=read.session_id, job_id=read.job_id)
                if isinstance(command, RetryJobItem) and command.item_id is not None:
                    command = msgspec.structs.replace(command, item_id=_find_item(read, command.item_id))
                changed: JobChanged = await client.submit(command)
                return await follower.run(changed, stop)
        except asyncio.CancelledError:
            return ENDED_BY_PERSON


async def change_job(command: CancelJob | PauseJob, *, as_json: bool) -> None:
    """Cancel or pause a job and print its state. Raises Refusal."""
    async with _connect() as client:
        read = await _resolve(client, command.session_id, command.job_id, still_open=True)
        if isinstance(command, PauseJob) and read.status == "paused":
            raise Refusal(
                "task_paused",
                "The job is already paused.",
                field="jobId",
                hint="`callboard job resume SESSION` continues it.",
            )
        await client.submit(msgspec.structs.replace(command, session_id=read.session_id, job_id=read.job_id))
        _print(await _read(client, read.session_id, read.job_id), as_json=as_json)


async def show_job(session: str, job: str, *, as_json: bool) -> None:
    """Print a job with its items. Raises Refusal."""
    async with _connect() as client:
        read = await _resolve(client, session, job, still_open=False)
    _print(read, as_json=as_json)
    if not as_json:
        style = Style(sys.stdout)
        width = read_terminal_width() - 4 if sys.stdout.isatty() else 0
        for number, item in enumerate(read.items, start=1):
            print_out(format_item(number, item, style, width))


async def list_jobs(session: str, *, as_json: bool) -> None:
    """Print all jobs of a session. Raises Refusal."""
    async with _connect() as client:
        session_id = await _resolve_session(client, session)
        jobs = [await _read(client, session_id, job) for job in await _list_jobs(client, session_id)]
    for read in jobs:
        _print(read, as_json=as_json)
    if not jobs and not as_json:
        print_err("This session has no jobs. `callboard job start` creates one.")


async def _create(client: Client, command: CreateJob, folder: Path, *, wide: bool) -> tuple[JobChanged, int]:
    """Create the job; return the result, and the sequence before it."""
    if command.session_id is None:
        opened = await open_folder(client.submit, folder, wide=wide)
        warn_shared_folder(opened.path)
        trust: TrustRead = await client.submit(GetTrust(workspace_id=opened.workspace_id))
        if count_untrusted(trust):
            print_err(Style(sys.stderr).warn(format_untrusted(count_untrusted(trust))))
        return await client.submit(msgspec.structs.replace(command, workspace_id=opened.workspace_id)), 0
    session = await resolve_session(RemoteReader(client), command.session_id)
    before = await _read_head(client, session)
    return await client.submit(msgspec.structs.replace(command, session_id=session)), before


def _connect(*, creates: bool = False):
    state_folder = StateFolder.from_environment(os.environ)
    if not creates and not state_folder.has_store():
        raise build_no_session_refusal()
    return connect(state_folder, os.environ, lambda _: None)


async def _read_head(client: Client, session: str) -> int:
    read: SessionRead = await client.submit(GetSession(session_id=session, turns=1))
    return read.head


async def _read(client: Client, session: str, job: str) -> JobRead:
    return await client.submit(GetJob(session_id=session, job_id=job))


async def _resolve_session(client: Client, name: str) -> str:
    if name.startswith("job_"):
        raise Refusal(
            "invalid_input",
            f"{name} is a job id; the session comes first.",
            field="SESSION",
            hint=f"For the newest session, write `last {name}`.",
        )
    return await resolve_session(RemoteReader(client), name)


async def _list_jobs(client: Client, session: str, *, still_open: bool = False) -> list[str]:
    """Return the job ids of the session, newest first; with `still_open` only jobs that can change."""
    jobs: dict[str, str] = {}
    async for event in RemoteReader(client).read_facts(session, after=0, follow=False):
        if event.type == "job.created":
            jobs[event.task_id] = event.job_id
        elif event.type in _ENDS and still_open:
            jobs.pop(event.task_id, None)
    return [*jobs.values()][::-1]


async def _resolve(client: Client, session: str, job: str, *, still_open: bool) -> JobRead:
    """Return the named job, else the newest; with `still_open` the only one that can change.

    Raises:
        Refusal: `unknown_session`, `unknown_job`, and `invalid_input` if several jobs match.
    """
    session_id = await _resolve_session(client, session)
    if job:
        return await _read(client, session_id, job)
    jobs = await _list_jobs(client, session_id, still_open=still_open)
    if not jobs:
        raise Refusal(
            "unknown_job",
            f"The session has no {'open ' if still_open else ''}job.",
            field="jobId",
            hint="`callboard job list SESSION` lists the jobs.",
        )
    if still_open and len(jobs) > 1:
        hint = f"Name one: {', '.join(jobs)}."
        raise Refusal("invalid_input", f"{len(jobs)} jobs are open.", field="jobId", hint=hint)
    return await _read(client, session_id, jobs[0])


def _find_item(read: JobRead, name: str) -> str:
    """Return the id of an item, named by number or id. Raises Refusal `unknown_task`."""
    if not name.isdecimal():
        return name
    if not 0 < int(name) <= len(read.items):
        raise Refusal(
            "unknown_task",
            f"The job has no item {name}.",
            field="itemId",
            hint=f"Its items are 1 to {len(read.items)}.",
        )
    return read.items[int(name) - 1].item_id


def _print(read: JobRead, *, as_json: bool) -> None:
    if as_json:
        print_out(msgspec.json.encode(read).decode())
        return
    style = Style(sys.stdout)
    state = read.status.ljust(10)
    state = style.bad(state) if read.status == "failed" else state
    print_out(f"{read.job_id}  {state}  {style.dim(format_counts(read.counts))}  {to_line(read.title)}")
