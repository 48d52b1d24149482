"""The processes that a session's commands started in the background: kept for as long as the session is, and told of."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from callboard.contracts.commands.processes import READ_PROCESS, ReadProcessArguments, StopProcessArguments
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.process import ProcessEnd
from callboard.contracts.ports.processes import Process
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext, ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import Outcome, ProcessEndReported, ProcessStartReported

from .dependencies import Dependencies

log = logging.getLogger(__name__)

#: How much of an output one call reads, in characters; and how many processes that are over can still be read.
MOST_READ = 30_000
MOST_OVER = 16


@dataclass
class _KeptProcess:
    """A process of this host. `how` is set by what ends it, `came` by its end."""

    process: Process
    scope: Scope
    following: asyncio.Task[None] | None = None
    how: ProcessEnd = "exited"
    came: ToolOutcome | None = None


class Processes:
    """Those of one session. `report` takes what becomes of them."""

    def __init__(self, dependencies: Dependencies, report: Callable[[Outcome], Awaitable[None]]) -> None:
        self._dependencies = dependencies
        self._report = report
        self._kept: dict[str, _KeptProcess] = {}

    @property
    def has_running(self) -> bool:
        """True while one of them is not over."""
        return any(one.came is None for one in self._kept.values())

    def newest_output(self, process: str, most: int) -> str:
        """The newest of what a process printed, at most so many characters; empty where it is not here."""
        found = self._kept.get(process)
        if found is None:
            return ""
        total = found.process.read(0, 0).total
        return found.process.read(max(0, total - most), most).text

    async def start(self, scope: Scope, call: ToolCall, evaluation: Evaluation, context: ToolContext) -> ToolOutcome:
        """Starts the command of a call, to go on behind it: what the call comes to."""
        shells = self._dependencies.shells
        if shells is None:
            return ToolOutcome(output="", code="tool_failed", message="Nothing goes on in the background here.")
        try:
            process = await shells.start(call, evaluation, context, self._dependencies.secrets.redact_stream())
        except Refusal as refusal:
            return ToolOutcome(output="", code=refusal.code, message=refusal.problem.message)
        name = self._dependencies.ids.new("process")
        kept = self._kept[name] = _KeptProcess(process, msgspec.structs.replace(scope, process=name))
        try:
            began = ProcessStartReported(scope=kept.scope, command=evaluation.preview, summary=evaluation.summary)
            await self._report(began)
        except Refusal:
            del self._kept[name]
            await process.stop()
            raise
        finally:
            # Where nobody waits for the call any more, what it started is told of all the same.
            if name in self._kept:
                kept.following = asyncio.create_task(self._follow(name, kept))
        return ToolOutcome(output=msgspec.json.encode({"process_id": name, "state": "running"}).decode())

    async def run_tool(self, tool: str, arguments: str, thread: str) -> ToolOutcome:
        """Answers a call of one of the tools by which an agent has to do with the processes that it started."""
        try:
            if tool == READ_PROCESS:
                asked = msgspec.json.decode(arguments, type=ReadProcessArguments)
                return await self._read(self._of(asked.process_id, thread), asked)
            stopped = msgspec.json.decode(arguments, type=StopProcessArguments)
            kept = self._of(stopped.process_id, thread)
            await self._end(kept, "terminated")
            return ToolOutcome(output=_state(kept))
        except Refusal as refusal:
            return ToolOutcome(output="", code=refusal.code, message=refusal.problem.message)

    async def write(self, process: str, text: str, *, end: bool) -> None:
        """Writes to a process; that it does not read is no failure of anybody's."""
        found = self._kept.get(process)
        if found is not None:
            try:
                await found.process.write(self._dependencies.secrets.reveal(text), end=end)
            except Refusal as refusal:
                log.warning("%s was not given what was written to it: %s", process, refusal.problem.message)

    async def end(self, scope: Scope) -> None:
        """Ends the process in the scope, or all of the scope's thread where it names none."""
        mine = [
            one
            for name, one in self._kept.items()
            if (name == scope.process if scope.process else one.scope.thread == scope.thread)
        ]
        await self._end_all(mine, "terminated")

    async def close(self) -> None:
        """Ends all of them with their session, and tells so."""
        await self._end_all(list(self._kept.values()), "session_closed")

    async def _end_all(self, kept: list[_KeptProcess], how: ProcessEnd) -> None:
        for came in await asyncio.gather(*(self._end(one, how) for one in kept), return_exceptions=True):
            if isinstance(came, BaseException):
                log.error("a process could not be ended", exc_info=came)

    async def _end(self, kept: _KeptProcess, how: ProcessEnd) -> None:
        if kept.came is None:
            kept.how = how
            await kept.process.stop()
        if kept.following is not None:
            await asyncio.wait([kept.following])

    async def _follow(self, name: str, kept: _KeptProcess) -> None:
        came = await kept.process.wait()
        kept.came = came
        how: ProcessEnd = "limited" if came.code == "resource_limit" else kept.how
        over = ProcessEndReported(
            process=name,
            status=how,
            exit_code=came.exit_code,
            output=came.output,
            duration_ms=came.duration_ms,
            code=came.code or "",
            message=came.message,
        )
        try:
            await self._report(over)
        except Refusal as refusal:
            # Whoever opens the session next says that it is lost.
            log.warning("that %s is over is not told: %s", name, refusal.problem.message)
        gone = [key for key, one in self._kept.items() if one.came is not None][:-MOST_OVER]
        for key in gone:
            del self._kept[key]

    def _of(self, process: str, thread: str) -> _KeptProcess:
        found = self._kept.get(process)
        if found is None or found.scope.thread != thread:
            raise Refusal(
                "process_unavailable" if process.startswith("prc_") else "unknown_process",
                f"There is no process {process} of yours any more that could be reached.",
            )
        return found

    async def _read(self, kept: _KeptProcess, asked: ReadProcessArguments) -> ToolOutcome:
        if asked.wait:
            with suppress(TimeoutError):
                await asyncio.wait_for(kept.process.wait_for_output(asked.offset), asked.wait / 1000)
        part = kept.process.read(asked.offset, MOST_READ)
        left = f"[{part.start - asked.offset:,} characters are not kept]\n" if part.start > asked.offset else ""
        more = f" There is more behind it, up to {part.total}." if part.next < part.total else ""
        return ToolOutcome(output=f"{left}{part.text}\n[{_state(kept)} The next offset is {part.next}.{more}]")


def _state(kept: _KeptProcess) -> str:
    name, came = kept.scope.process, kept.came
    if came is None:
        return f"{name} runs."
    if kept.how == "terminated":
        return f"{name} was ended."
    if came.code is not None and came.exit_code is None:
        return f"{name} is over: {came.message}"
    return f"{name} ended with exit code {came.exit_code}."
