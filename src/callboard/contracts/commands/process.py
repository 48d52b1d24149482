"""Commands and tools that manage processes."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ..entities.arguments import Arguments
from ..facts.tool import ResourceLimits, SandboxLevel
from ..facts.turn import PermissionMode
from ..rows.process import ProcessRow
from .base import Answer, Command, Id, Reason, command

READ_PROCESS = "ReadProcess"


STOP_PROCESS = "StopProcess"


#: Tools whose calls the runtime answers from its background processes.
PROCESS_TOOLS = (READ_PROCESS, STOP_PROCESS)


#: Maximum time that a call waits for output, in milliseconds.
MAX_WAIT_MS = 60_000


#: Maximum characters of one write to a process.
MAX_INPUT_CHARS = 64 * 1024


class ExecutionEnvironment(Answer, frozen=True, kw_only=True):
    """The folder in which commands run, and their confinement.

    `level` is the effective sandbox on this machine, and `why` explains a lower one. No command can
    write `protected` paths; `hidden` paths appear empty. `programs` are the folders of programs, in
    order.
    """

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


@command("get_execution_environment", ExecutionEnvironment, serial="workspace", authority="anyone", query=True)
class GetExecutionEnvironment(Command, frozen=True, kw_only=True):
    """Read where commands of a thread run, what confines them, and their limits.

    `thread_id` defaults to the lead's thread. Without a session, the answer is for an agent of the workspace
    that has no limits.
    """

    session_id: Id | None = None
    thread_id: Id | None = None
    workspace_id: Id | None = None


class ProcessList(Answer, frozen=True, kw_only=True):
    """The processes, oldest first. A running one has its newest output."""

    processes: tuple[ProcessRow, ...]


@command("list_processes", ProcessList, authority="anyone", query=True, live=True)
class ListProcesses(Command, frozen=True, kw_only=True):
    """List the background processes of a session or of one thread, including finished ones."""

    session_id: Id
    thread_id: Id | None = None


class ProcessChanged(Answer, frozen=True, kw_only=True):
    """The request is recorded at `sequence`. The row of the process has the result."""

    session_id: str
    process_id: str
    sequence: int


@command("write_process_stdin", ProcessChanged)
class WriteProcessStdin(Command, frozen=True, kw_only=True):
    """Write to the standard input of a background process.

    `end` closes the input.
    """

    session_id: Id
    process_id: Id
    text: Annotated[str, Meta(max_length=MAX_INPUT_CHARS)] = ""
    end: bool = False


@command("terminate_process", ProcessChanged)
class TerminateProcess(Command, frozen=True, kw_only=True):
    """Terminate a background process and all its descendants."""

    session_id: Id
    process_id: Id
    reason: Reason = ""


class ReadProcessArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of ReadProcess."""

    process_id: Annotated[
        str, Meta(description="Id of the process, from the result of `bash`.", min_length=1, max_length=64)
    ]
    offset: Annotated[int, Meta(description="First character of the output to read, from 0.", ge=0)] = 0
    wait: Annotated[
        int,
        Meta(description="Maximum time to wait for more output or the exit, in milliseconds.", ge=0, le=MAX_WAIT_MS),
    ] = 0


class StopProcessArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of StopProcess."""

    process_id: Annotated[
        str, Meta(description="Id of the process, from the result of `bash`.", min_length=1, max_length=64)
    ]


class ProcessTool(msgspec.Struct, frozen=True):
    """A process tool with its description for models."""

    name: str
    description: str
    arguments: type[Arguments]


PROCESS_TOOL_TABLE: tuple[ProcessTool, ...] = (
    ProcessTool(
        READ_PROCESS,
        "Read the output of a background process that `bash` started, from an offset, and its status. "
        "The result has the next offset.",
        ReadProcessArguments,
    ),
    ProcessTool(
        STOP_PROCESS,
        "Terminate a background process that `bash` started, with all its child processes.",
        StopProcessArguments,
    ),
)
