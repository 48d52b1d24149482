"""What `callboard job` does once it knows what is wanted."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import msgspec

from callboard.client.client import Client
from callboard.contracts.commands import GetSession, SessionRead
from callboard.contracts.commands.jobs import (
    CancelJob,
    CreateJob,
    GetJob,
    JobChanged,
    JobRead,
    PauseJob,
    ResumeJob,
    RetryJobItem,
)
from callboard.contracts.commands.trust import GetTrust, TrustRead
from callboard.contracts.errors import Refusal

from ...hosting.connection import connect
from ...hosting.serve import count_untrusted
from ...reading import no_session, resolve_session
from ...reading.remote_reader import RemoteReader
from ...state_folder import StateFolder
from ..terminal.approvals import Approve
from ..terminal.broad_folders import open_folder
from ..terminal.exit_codes import ENDED_BY_PERSON
from ..terminal.ignored_settings import warn_shared_folder
from ..terminal.loop import ctrl_c
from ..terminal.milestones import untrusted_note
from ..terminal.output import Style, print_err, print_out, terminal_width, to_line
from ..terminal.wording import format_count
from .follower import JobFollower
from .formatter import format_counts, format_item

#: The facts that end a task for good.
_ENDS = ("task.completed", "task.cancelled")


async def start_job(
    command: CreateJob, folder: Path, approve: Approve | None, *, as_json: bool, wide: bool = False
) -> int:
    """Makes the job, in a new session of the folder where none is named, and follows it; returns the exit code. `wide` approves
    a broad folder. Raises Refusal."""
    with ctrl_c() as asked:
        try:
            async with _connected(makes=command.session_id is None) as client:
                made, before = await _create(client, command, folder, wide=wide)
                read = await _read(client, made.session_id, made.job_id)
                if not as_json:
                    told = f"{made.job_id} · {format_count(len(made.items), 'item')} · {made.session_id}"
                    print_err(Style(sys.stderr).dim(told))
                following = JobFollower(client, read, approve, attempts={}, before=before, as_json=as_json)
                return await following.run(made, asked)
        except asyncio.CancelledError:
            return ENDED_BY_PERSON


async def continue_job(command: ResumeJob | RetryJobItem, approve: Approve | None, *, as_json: bool) -> int:
    """Lets a job go on and follows it; returns the exit code. Raises Refusal."""
    with ctrl_c() as asked:
        try:
            async with _connected() as client:
                read = await _meant(client, command.session_id, command.job_id, still_open=True)
                before = await _head(client, read.session_id)
                if isinstance(command, ResumeJob) and read.status == "running":
                    # It goes on already: where it was begun elsewhere, or only waits for an answer.
                    attempts = {item.item_id: item.attempts for item in read.items}
                    following = JobFollower(client, read, approve, attempts=attempts, before=before, as_json=as_json)
                    return await following.run(None, asked)
                if isinstance(command, ResumeJob) and read.status != "paused":
                    hint = "callboard job retry tries again what failed." if read.status == "failed" else ""
                    raise Refusal("task_not_paused", f"The job is {read.status}, not paused.", field="jobId", hint=hint)
                command = msgspec.structs.replace(command, session_id=read.session_id, job_id=read.job_id)
                if isinstance(command, RetryJobItem) and command.item_id is not None:
                    command = msgspec.structs.replace(command, item_id=_item(read, command.item_id))
                changed: JobChanged = await client.submit(command)
                attempts = {item.item_id: item.attempts for item in read.items}
                following = JobFollower(client, read, approve, attempts=attempts, before=before, as_json=as_json)
                return await following.run(changed, asked)
        except asyncio.CancelledError:
            return ENDED_BY_PERSON


async def change_job(command: CancelJob | PauseJob, *, as_json: bool) -> None:
    """Cancels or pauses a job and tells how it stands. Raises Refusal."""
    async with _connected() as client:
        read = await _meant(client, command.session_id, command.job_id, still_open=True)
        if isinstance(command, PauseJob) and read.status == "paused":
            raise Refusal("task_paused", "The job is already paused.", field="jobId")
        await client.submit(msgspec.structs.replace(command, session_id=read.session_id, job_id=read.job_id))
        _print(await _read(client, read.session_id, read.job_id), as_json=as_json)


async def show_job(session: str, job: str, *, as_json: bool) -> None:
    """Tells how a job stands, item by item. Raises Refusal."""
    async with _connected() as client:
        read = await _meant(client, session, job, still_open=False)
    _print(read, as_json=as_json)
    if not as_json:
        style = Style(sys.stdout)
        room = terminal_width() - 4 if sys.stdout.isatty() else 0
        for number, item in enumerate(read.items, start=1):
            print_out(format_item(number, item, style, room))


async def list_jobs(session: str, *, as_json: bool) -> None:
    """Tells of all jobs of a session. Raises Refusal."""
    async with _connected() as client:
        named = await _session(client, session)
        found = [await _read(client, named, job) for job in await _jobs(client, named)]
    for read in found:
        _print(read, as_json=as_json)
    if not found and not as_json:
        print_err("This session has no jobs. `callboard job start` makes one.")


async def _create(client: Client, command: CreateJob, folder: Path, *, wide: bool) -> tuple[JobChanged, int]:
    """Makes the job; returns what became of it, and the sequence before it."""
    if command.session_id is None:
        opened = await open_folder(client.submit, folder, wide=wide)
        warn_shared_folder(opened.path)
        trust: TrustRead = await client.submit(GetTrust(workspace_id=opened.workspace_id))
        if count_untrusted(trust):
            print_err(Style(sys.stderr).warn(untrusted_note(count_untrusted(trust))))
        return await client.submit(msgspec.structs.replace(command, workspace_id=opened.workspace_id)), 0
    session = await resolve_session(RemoteReader(client), command.session_id)
    before = await _head(client, session)
    return await client.submit(msgspec.structs.replace(command, session_id=session)), before


def _connected(*, makes: bool = False):
    home = StateFolder.from_environment(os.environ)
    if not makes and not home.has_store():
        raise no_session()
    return connect(home, os.environ, lambda _: None)


async def _head(client: Client, session: str) -> int:
    read: SessionRead = await client.submit(GetSession(session_id=session, turns=1))
    return read.head


async def _read(client: Client, session: str, job: str) -> JobRead:
    return await client.submit(GetJob(session_id=session, job_id=job))


async def _session(client: Client, named: str) -> str:
    if named.startswith("job_"):
        raise Refusal(
            "invalid_input",
            f"{named} is a job: the session that it belongs to comes first.",
            field="SESSION",
            hint=f"`last {named}` is one of the newest session.",
        )
    return await resolve_session(RemoteReader(client), named)


async def _jobs(client: Client, session: str, *, still_open: bool = False) -> list[str]:
    """The jobs of the session, the newest first; all, or those that can still change."""
    jobs: dict[str, str] = {}
    async for event in RemoteReader(client).read_facts(session, after=0, follow=False):
        if event.type == "job.created":
            jobs[event.task_id] = event.job_id
        elif event.type in _ENDS and still_open:
            jobs.pop(event.task_id, None)
    return [*jobs.values()][::-1]


async def _meant(client: Client, session: str, job: str, *, still_open: bool) -> JobRead:
    """The job that is named; where none is, the newest, or the only one that can still change. Raises Refusal
    `unknown_session`, `unknown_job`, and `invalid_input` where several may be meant."""
    named = await _session(client, session)
    if job:
        return await _read(client, named, job)
    found = await _jobs(client, named, still_open=still_open)
    if not found:
        what = "no job that is still open" if still_open else "no job"
        raise Refusal("unknown_job", f"The session has {what}.", field="jobId")
    if still_open and len(found) > 1:
        there = ", ".join(found)
        raise Refusal("invalid_input", f"{len(found)} jobs are open.", field="jobId", hint=f"Name one: {there}.")
    return await _read(client, named, found[0])


def _item(read: JobRead, named: str) -> str:
    """The id of an item that is named by its number. Raises Refusal `unknown_task`."""
    if not named.isdecimal():
        return named
    if not 0 < int(named) <= len(read.items):
        raise Refusal("unknown_task", f"The job has no item {named}.", field="itemId")
    return read.items[int(named) - 1].item_id


def _print(read: JobRead, *, as_json: bool) -> None:
    if as_json:
        print_out(msgspec.json.encode(read).decode())
        return
    style = Style(sys.stdout)
    state = read.status.ljust(10)
    state = style.bad(state) if read.status == "failed" else state
    print_out(f"{read.job_id}  {state}  {style.dim(format_counts(read.counts))}  {to_line(read.title)}")
