"""The commands of processes, and the tools by which an agent has to do with those that it started."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ..entities.arguments import Arguments
from ..facts.sandbox import ResourceLimits, SandboxLevel
from ..facts.turn import PermissionMode
from ..rows.process import ProcessRow
from .base import Answer, Command, Declaration
from .turns import Id, Reason

READ_PROCESS = "ReadProcess"
STOP_PROCESS = "StopProcess"
#: The tools whose calls the runtime answers from the processes that it keeps.
PROCESS_TOOLS = (READ_PROCESS, STOP_PROCESS)
#: The longest that a call waits for output, in milliseconds.
LONGEST_WAIT_MS = 60_000
#: The most that is written to a process at once, in characters.
MOST_INPUT = 64 * 1024


class GetExecutionEnvironment(Command, frozen=True, kw_only=True):
    """What a command of this thread would find. Without a session, that of an agent without limits of its own in the
    workspace; without a thread, the lead's."""

    session_id: Id | None = None
    thread_id: Id | None = None
    workspace_id: Id | None = None


class ExecutionEnvironment(Answer, frozen=True, kw_only=True):
    """`level` is what really holds commands in on this machine, and `why` says why it is not more, or what of it is missing.
    `protected` are the paths that no command writes, `hidden` those that appear empty; `programs` the folders in which
    programs are found, in their order."""

    cwd: str
    workspace_roots: tuple[str, ...]
    level: SandboxLevel
    why: str
    seccomp: bool
    network: bool
    limits: ResourceLimits
    writable: tuple[str, ...]
    protected: tuple[str, ...]
    hidden: tuple[str, ...]
    programs: tuple[str, ...]
    trusted: bool
    permission_mode: PermissionMode


class ListProcesses(Command, frozen=True, kw_only=True):
    """The processes of a session, those that are over included; with `thread_id`, those of one thread."""

    session_id: Id
    thread_id: Id | None = None


class ProcessList(Answer, frozen=True, kw_only=True):
    """The oldest first. One that runs has the newest of its output."""

    processes: tuple[ProcessRow, ...]


class WriteProcessStdin(Command, frozen=True, kw_only=True):
    """Write to a process, and end its input with `end`."""

    session_id: Id
    process_id: Id
    text: Annotated[str, Meta(max_length=MOST_INPUT)] = ""
    end: bool = False


class TerminateProcess(Command, frozen=True, kw_only=True):
    """End a process with all that came of it."""

    session_id: Id
    process_id: Id
    reason: Reason = ""


class ProcessChanged(Answer, frozen=True, kw_only=True):
    """What was asked is durable at `sequence`; the process' row says what comes of it."""

    session_id: str
    process_id: str
    sequence: int


class ReadProcessArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of ReadProcess."""

    process_id: Annotated[str, Meta(description="The process, as `bash` named it.", min_length=1, max_length=64)]
    offset: Annotated[int, Meta(description="From which character of its output on.", ge=0)] = 0
    wait: Annotated[
        int,
        Meta(description="How long to wait for more output, or its end, in milliseconds.", ge=0, le=LONGEST_WAIT_MS),
    ] = 0


class StopProcessArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of StopProcess."""

    process_id: Annotated[str, Meta(description="The process, as `bash` named it.", min_length=1, max_length=64)]


class ProcessTool(msgspec.Struct, frozen=True):
    """One of these tools as a model is told of it."""

    name: str
    description: str
    arguments: type[Arguments]


PROCESS_TOOL_TABLE: tuple[ProcessTool, ...] = (
    ProcessTool(
        READ_PROCESS,
        "Reads what a process that `bash` started in the background printed, from an offset on, and whether it still runs. "
        "Each answer names the next offset.",
        ReadProcessArguments,
    ),
    ProcessTool(
        STOP_PROCESS,
        "Ends a process that `bash` started in the background, with all that came of it.",
        StopProcessArguments,
    ),
)

PROCESS_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="get_execution_environment",
        command=GetExecutionEnvironment,
        answer=ExecutionEnvironment,
        serial="workspace",
        authority="anyone",
        query=True,
        summary="Where commands of a thread run, what holds them in, and what they may take.",
    ),
    Declaration(
        name="list_processes",
        command=ListProcesses,
        answer=ProcessList,
        serial="session",
        authority="anyone",
        query=True,
        summary="The processes that a session's commands started in the background.",
    ),
    Declaration(
        name="write_process_stdin",
        command=WriteProcessStdin,
        answer=ProcessChanged,
        serial="session",
        summary="Write to a process that runs in the background.",
    ),
    Declaration(
        name="terminate_process",
        command=TerminateProcess,
        answer=ProcessChanged,
        serial="session",
        summary="End a process that runs in the background, with all that came of it.",
    ),
)
