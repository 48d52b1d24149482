"""Commands that manage jobs: durable work in batches (Control plane specification, Jobs)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..entities.team import AgentName, Isolation, Ref
from ..facts.turn import PermissionMode
from ..rows.task import JobItems
from .base import Answer, Command, Id, Reason, Title, command

#: Status of a job. A `failed` job has failed items and no item that can continue.
JobStatus = Literal["running", "paused", "failed", "completed", "cancelling", "cancelled"]


#: Status of a job item, independent of its job.
JobItemStatus = Literal["waiting", "running", "paused", "failed", "completed", "cancelling", "cancelled"]


class JobItemInput(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An item.

    Its worker receives `input` after the instructions of the job. `title` defaults to the first
    line of `input`.
    """

    input: Annotated[str, Meta(min_length=1, max_length=8192)]
    title: Title = ""


class JobChanged(Answer, frozen=True, kw_only=True):
    """The job with its new status.

    `items` are the ids of the items that the command concerns, in order.
    """

    session_id: str
    job_id: str
    task_id: str
    status: JobStatus
    items: tuple[str, ...] = ()
    sequence: int


@command("create_job", JobChanged)
class CreateJob(Command, frozen=True, kw_only=True):
    """Start durable work in batches, with a child agent on each item.

    `agent` is the subagent for the items; it may be omitted if there is only one. `parallel` is the maximum number of
    items at work. Without `session_id` a session is created in `workspace_id`. `permission_mode` is the mode of the
    workers; it defaults to the lead's, and in a new session to the folder's.
    """

    session_id: Id | None = None
    workspace_id: Id | None = None
    title: Annotated[str, Meta(min_length=1, max_length=200)]
    instructions: Annotated[str, Meta(max_length=8192)] = ""
    items: Annotated[tuple[JobItemInput, ...], Meta(min_length=1, max_length=500)]
    agent: AgentName | None = None
    parallel: Annotated[int, Meta(ge=1, le=64)] | None = None
    isolation: Isolation | None = None
    permission_mode: PermissionMode | None = None


class _JobCommand(Command, frozen=True, kw_only=True):
    session_id: Id
    job_id: Id
    reason: Reason = ""


@command("cancel_job", JobChanged)
class CancelJob(_JobCommand, frozen=True, kw_only=True):
    """Cancel a job.

    Finished items stay finished, running items are stopped, waiting items do not start.
    """


@command("pause_job", JobChanged)
class PauseJob(_JobCommand, frozen=True, kw_only=True):
    """Pause a job until it is resumed.

    Finished items stay finished.
    """


@command("resume_job", JobChanged)
class ResumeJob(_JobCommand, frozen=True, kw_only=True):
    """Resume a paused job.

    Interrupted items continue, and waiting items start as slots become free.
    """


@command("retry_job_item", JobChanged)
class RetryJobItem(_JobCommand, frozen=True, kw_only=True):
    """Start another attempt of one failed item, or of all failed items.

    Finished items are not run again.
    """

    item_id: Id | None = None


class JobRead(Answer, frozen=True, kw_only=True):
    """A job. `agent` is the definition of the children that work on the items."""

    session_id: str
    job_id: str
    task_id: str
    title: str
    agent: str
    status: JobStatus
    counts: JobItems
    items: tuple[JobItem, ...]
    sequence: int


@command("get_job", JobRead, authority="anyone", query=True)
class GetJob(Command, frozen=True, kw_only=True):
    """Read a job and the state of each item."""

    session_id: Id
    job_id: Id


class JobItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An item.

    `agent_id` is its newest worker. `output` is the head of the successful attempt's result,
    `problem` the reason of a failure. With `plain_text` that attempt answered in plain text and did
    not finalize.
    """

    item_id: str
    title: str
    status: JobItemStatus
    attempts: int = 0
    agent_id: str = ""
    run_id: str = ""
    output: str = ""
    refs: tuple[Ref, ...] = ()
    problem: str = ""
    plain_text: bool = False
