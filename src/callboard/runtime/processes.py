"""Background processes of a session's commands."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from callboard.contracts.commands.process import READ_PROCESS, ReadProcessArguments, StopProcessArguments
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.process import ProcessEnd
from callboard.contracts.ports.processes import Process
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext, ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import Outcome, ProcessEndReported, ProcessStartReported

from .dependencies import Dependencies

log = logging.getLogger(__name__)

#: Characters that one call reads, and the number of ended processes whose output can still be read.
MAX_READ_CHARS = 30_000
MAX_ENDED = 16


@dataclass
class _TrackedProcess:
    """A process of this host.

    `how` is set by the request that ends it, `result` when it has ended.
    """

    process: Process
    scope: Scope
    following: asyncio.Task[None] | None = None
    how: ProcessEnd = "exited"
    result: ToolOutcome | None = None


class Processes:
    """The background processes of one session. `report` receives their outcomes."""

    def __init__(self, dependencies: Dependencies, report: Callable[[Outcome], Awaitable[None]]) -> None:
        self._dependencies = dependencies
        self._report = report
        self._processes: dict[str, _TrackedProcess] = {}

    @property
    def has_running(self) -> bool:
        """Return True while a process is running."""
        return any(tracked.result is None for tracked in self._processes.values())

    def read_newest_output(self, process: str, max_chars: int) -> str:
        """Return at most `max_chars` characters of a process's newest output; empty for an unknown process."""
        tracked = self._processes.get(process)
        if tracked is None:
            return ""
        total = tracked.process.read(0, 0).total
        return tracked.process.read(max(0, total - max_chars), max_chars).text

    async def start(self, scope: Scope, call: ToolCall, evaluation: Evaluation, context: ToolContext) -> ToolOutcome:
        """Start the command of a call in the background and return the call's outcome."""
        shells = self._dependencies.shells
        if shells is None:
            return ToolOutcome(
                output="",
                code="tool_failed",
                message="Background commands are not available here. Run the command in the foreground.",
            )
        try:
            process = await shells.start(call, evaluation, context, self._dependencies.secrets.redact_stream())
        except Refusal as refusal:
            return ToolOutcome(output="", code=refusal.code, message=refusal.text)
        name = self._dependencies.ids.new("process")
        tracked = self._processes[name] = _TrackedProcess(process, msgspec.structs.replace(scope, process=name))
        try:
            started = ProcessStartReported(scope=tracked.scope, command=evaluation.preview, summary=evaluation.summary)
            await self._report(started)
        except Refusal:
            del self._processes[name]
            await process.stop()
            raise
        finally:
            # Follow the process even if the call was cancelled, so that its end is recorded.
            if name in self._processes:
                tracked.following = asyncio.create_task(self._follow(name, tracked))
        return ToolOutcome(output=msgspec.json.encode({"process_id": name, "state": "running"}).decode())

    async def run_tool(self, tool: str, arguments: str, thread: str) -> ToolOutcome:
        """Run `read_process` or `stop_process` for the thread that started the process."""
        try:
            if tool == READ_PROCESS:
                request = msgspec.json.decode(arguments, type=ReadProcessArguments)
                return await self._read(self._get(request.process_id, thread), request)
            stopped = msgspec.json.decode(arguments, type=StopProcessArguments)
            tracked = self._get(stopped.process_id, thread)
            await self._end(tracked, "terminated")
            return ToolOutcome(output=_describe_state(tracked))
        except Refusal as refusal:
            return ToolOutcome(output="", code=refusal.code, message=refusal.text)

    async def write(self, process: str, text: str, *, end: bool) -> None:
        """Write to a process's input. A process that does not read it is only logged."""
        tracked = self._processes.get(process)
        if tracked is not None:
            try:
                await tracked.process.write(self._dependencies.secrets.reveal(text), end=end)
            except Refusal as refusal:
                log.warning("the input of %s was not written: %s", process, refusal.problem.message)

    async def end(self, scope: Scope) -> None:
        """End the process of the scope, or all processes of its thread if it names none."""
        matching = [
            tracked
            for name, tracked in self._processes.items()
            if (name == scope.process if scope.process else tracked.scope.thread == scope.thread)
        ]
        await self._end_all(matching, "terminated")

    async def close(self) -> None:
        """End all processes with their session and report it."""
        await self._end_all(list(self._processes.values()), "session_closed")

    async def _end_all(self, processes: list[_TrackedProcess], how: ProcessEnd) -> None:
        for result in await asyncio.gather(*(self._end(tracked, how) for tracked in processes), return_exceptions=True):
            if isinstance(result, BaseException):
                log.error("a process could not be stopped", exc_info=result)

    async def _end(self, tracked: _TrackedProcess, how: ProcessEnd) -> None:
        if tracked.result is None:
            tracked.how = how
            await tracked.process.stop()
        if tracked.following is not None:
            await asyncio.wait([tracked.following])

    async def _follow(self, name: str, tracked: _TrackedProcess) -> None:
        result = await tracked.process.wait()
        tracked.result = result
        how: ProcessEnd = "limited" if result.code == "resource_limit" else tracked.how
        report = ProcessEndReported(
            process=name,
            status=how,
            exit_code=result.exit_code,
            output=result.output,
            duration_ms=result.duration_ms,
            code=result.code or "",
            message=result.message,
        )
        try:
            await self._report(report)
        except Refusal as refusal:
            # The next opening of the session records the process as lost.
            log.warning("the end of %s was not recorded: %s", name, refusal.problem.message)
        expired = [key for key, other in self._processes.items() if other.result is not None][:-MAX_ENDED]
        for key in expired:
            del self._processes[key]

    def _get(self, process: str, thread: str) -> _TrackedProcess:
        tracked = self._processes.get(process)
        if tracked is None or tracked.scope.thread != thread:
            raise Refusal(
                "process_unavailable" if process.startswith("prc_") else "unknown_process",
                f"You have no process {process}. It has ended, or another agent started it.",
                hint="Start the command again with `bash` and background set to true.",
            )
        return tracked

    async def _read(self, tracked: _TrackedProcess, request: ReadProcessArguments) -> ToolOutcome:
        if request.wait:
            with suppress(TimeoutError):
                await asyncio.wait_for(tracked.process.wait_for_output(request.offset), request.wait / 1000)
        part = tracked.process.read(request.offset, MAX_READ_CHARS)
        left = f"[{part.start - request.offset:,} characters were discarded]\n" if part.start > request.offset else ""
        more = f" There is more output, up to {part.total}." if part.next < part.total else ""
        return ToolOutcome(
            output=f"{left}{part.text}\n[{_describe_state(tracked)} The next offset is {part.next}.{more}]"
        )


def _describe_state(tracked: _TrackedProcess) -> str:
    name, result = tracked.scope.process, tracked.result
    if result is None:
        return f"{name} is running."
    if tracked.how == "terminated":
        return f"{name} was stopped."
    if result.code is not None and result.exit_code is None:
        return f"{name} ended: {result.message}"
    return f"{name} ended with exit code {result.exit_code}."
