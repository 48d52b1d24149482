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


#: The tools whose calls the runtime answers from the processes that it keeps.
PROCESS_TOOLS = (READ_PROCESS, STOP_PROCESS)


#: The longest that a call waits for output, in milliseconds.
MAX_WAIT_MS = 60_000


#: The most that is written to a process at once, in characters.
MAX_INPUT_CHARACTERS = 64 * 1024


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


@command("get_execution_environment", ExecutionEnvironment, serial="workspace", authority="anyone", query=True)
class GetExecutionEnvironment(Command, frozen=True, kw_only=True):
    """Read where commands of a thread run, what confines them, and their limits.

    `thread_id` defaults to the lead's thread. Without a session, the answer is for an agent of the workspace without
    limits of its own.
    """

    session_id: Id | None = None
    thread_id: Id | None = None
    workspace_id: Id | None = None


class ProcessList(Answer, frozen=True, kw_only=True):
    """The oldest first. One that runs has the newest of its output."""

    processes: tuple[ProcessRow, ...]


@command("list_processes", ProcessList, authority="anyone", query=True, live=True)
class ListProcesses(Command, frozen=True, kw_only=True):
    """List the background processes of a session or of one thread, including finished ones."""

    session_id: Id
    thread_id: Id | None = None


class ProcessChanged(Answer, frozen=True, kw_only=True):
    """What was asked is durable at `sequence`; the process' row says what comes of it."""

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
    text: Annotated[str, Meta(max_length=MAX_INPUT_CHARACTERS)] = ""
    end: bool = False


@command("terminate_process", ProcessChanged)
class TerminateProcess(Command, frozen=True, kw_only=True):
    """Terminate a background process and all its descendants."""

    session_id: Id
    process_id: Id
    reason: Reason = ""


class ReadProcessArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of ReadProcess."""

    process_id: Annotated[str, Meta(description="The process, as `bash` named it.", min_length=1, max_length=64)]
    offset: Annotated[int, Meta(description="From which character of its output on.", ge=0)] = 0
    wait: Annotated[
        int,
        Meta(description="How long to wait for more output, or its end, in milliseconds.", ge=0, le=MAX_WAIT_MS),
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
