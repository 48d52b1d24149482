"""Commands that manage jobs: durable work in batches (Control plane specification, Jobs)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..entities.team import AgentName, Isolation, Ref
from ..facts.turn import PermissionMode
from ..rows.team import JobItems
from .base import Answer, Command, Declaration
from .team import Title
from .turns import Id, Reason

#: How a job stands. One that is `failed` has items that failed and none that could go on.
JobStatus = Literal["running", "paused", "failed", "completed", "cancelling", "cancelled"]
#: How an item of a job stands, apart from its job.
JobItemStatus = Literal["waiting", "running", "paused", "failed", "completed", "cancelling", "cancelled"]


class JobItemGiven(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """One item: what its worker is told behind the job's instructions. `title` is its first line where it is left out."""

    input: Annotated[str, Meta(min_length=1, max_length=8192)]
    title: Title = ""


class CreateJob(Command, frozen=True, kw_only=True):
    """Work on every item, each in a child of its own, apart from the conversation. `agent` is the subagent that works on each;
    it may be left out where there is only one. `parallel` is how many work at once. Without `session_id` a session is made in
    `workspace_id`. `permission_mode` is that of the workers, the lead's where it is left out, and in a new session the usual
    one."""

    session_id: Id | None = None
    workspace_id: Id | None = None
    title: Annotated[str, Meta(min_length=1, max_length=200)]
    instructions: Annotated[str, Meta(max_length=8192)] = ""
    items: Annotated[tuple[JobItemGiven, ...], Meta(min_length=1, max_length=500)]
    agent: AgentName | None = None
    parallel: Annotated[int, Meta(ge=1, le=64)] | None = None
    isolation: Isolation | None = None
    permission_mode: PermissionMode | None = None


class _OnJob(Command, frozen=True, kw_only=True):
    session_id: Id
    job_id: Id
    reason: Reason = ""


class CancelJob(_OnJob, frozen=True, kw_only=True):
    """Cancel a job: what is done stays done, what runs is stopped, and what waits is not begun."""


class PauseJob(_OnJob, frozen=True, kw_only=True):
    """Stop the work on a job until it is resumed. What is done stays done."""


class ResumeJob(_OnJob, frozen=True, kw_only=True):
    """Let a paused job go on: what was stopped is taken up again, and what waits begins as there is room."""


class RetryJobItem(_OnJob, frozen=True, kw_only=True):
    """Another attempt of an item that failed, or of all that did where none is named. What is done is not done again."""

    item_id: Id | None = None


class GetJob(Command, frozen=True, kw_only=True):
    """A job and its items."""

    session_id: Id
    job_id: Id


class JobChanged(Answer, frozen=True, kw_only=True):
    """`items` are the ids of the items that the command is about, in their order."""

    session_id: str
    job_id: str
    task_id: str
    status: JobStatus
    items: tuple[str, ...] = ()
    sequence: int


class JobItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An item. `attempts` counts its attempts, `agent_id` is the child that works on it or did last; `output` is the head of
    what the attempt that completed it came to, `problem` why it failed. With `plain_text` that attempt answered in plain text
    and did not finalize."""

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


class JobRead(Answer, frozen=True, kw_only=True):
    """`agent` is the definition whose children work on the items."""

    session_id: str
    job_id: str
    task_id: str
    title: str
    agent: str
    status: JobStatus
    counts: JobItems
    items: tuple[JobItem, ...]
    sequence: int


JOB_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="create_job",
        command=CreateJob,
        answer=JobChanged,
        serial="session",
        summary="Begin durable work in batches: a child works on each item, so many at once.",
    ),
    Declaration(
        name="get_job",
        command=GetJob,
        answer=JobRead,
        serial="session",
        authority="anyone",
        query=True,
        summary="A job and how each of its items stands.",
    ),
    Declaration(
        name="cancel_job",
        command=CancelJob,
        answer=JobChanged,
        serial="session",
        summary="Cancel a job; items that are done stay done.",
    ),
    Declaration(
        name="pause_job",
        command=PauseJob,
        answer=JobChanged,
        serial="session",
        summary="Stop the work on a job until it is resumed.",
    ),
    Declaration(
        name="resume_job",
        command=ResumeJob,
        answer=JobChanged,
        serial="session",
        summary="Let a paused job go on.",
    ),
    Declaration(
        name="retry_job_item",
        command=RetryJobItem,
        answer=JobChanged,
        serial="session",
        summary="Begin another attempt of items that failed; what is done is not done again.",
    ),
)
