"""The toolbox: tools of a folder behind the gate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from threading import Event
from typing import TypeVar

import msgspec

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.entities.tool_inventory import ServerState, ToolInfo
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import ToolSpec
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.ports.tools import (
    Evaluation,
    HookResult,
    MissingPath,
    PathContent,
    Reporter,
    ToolCall,
    ToolContext,
    ToolOutcome,
)
from callboard.contracts.settings import Hook, Server

from .builtin import declarations, edit, read, write
from .builtin.bash import BashArguments
from .builtin.finalize import FinalizeArguments
from .builtin.find_tools import FindToolsArguments, find
from .builtin.glob import MOST_FILES, GlobArguments
from .builtin.grep import GrepArguments
from .call_binding import changed
from .files import changes
from .files.handles import Folder
from .files.paths import PathDenied, display, relative
from .gate import inventory, stations
from .gate.call_context import GateEnvironment
from .gate.call_identity import check_same_call
from .gate.rules import list_unsearchable
from .hooks.runner import HookRunner, preview
from .mcp import catalog
from .mcp.names import is_server_tool
from .mcp.server_log import PlainText
from .mcp.servers import PATIENCE, ToolServers
from .protection.atomic_write import ChangedMeanwhileError, fingerprint, replace
from .sandbox.ability import detect_ability
from .search import mentioned_path
from .search.file_search import Search
from .search.search_process import run_search
from .shell import command
from .shielded_wait import wait_shielded
from .unsandboxed.reach import Reach

T = TypeVar("T")


def _as_it_is(server: Server | Hook, text: str) -> str:
    return text


def _there(server: Server | Hook, folder: str) -> str:
    return folder


def _none(server: Server | Hook, folder: str) -> Reach:
    return Reach()


class FolderToolbox:
    """Implements the port `Toolbox`.

    Args:
        hidden: Folders that no tool enters, such as the user's state and keys.
        programs: Toolchain folders that sandboxed commands can read.
        bwrap: Path or name of bubblewrap.
        reveal: Returns the value of a server's or hook's setting, such as of a handle.
        start_folder: Returns the folder in which a server or hook starts.
        reach: Returns the folders where agents could change its program.
        new_redactor: Returns a new redactor for a server's output.
    """

    def __init__(
        self,
        *,
        hidden: Sequence[str] = (),
        programs: Sequence[str] = (),
        bwrap: str = "bwrap",
        reveal: Callable[[Server | Hook, str], str] = _as_it_is,
        start_folder: Callable[[Server | Hook, str], str] = _there,
        reach: Callable[[Server | Hook, str], Reach] = _none,
        patience: float = PATIENCE,
        new_redactor: Callable[[], StreamRedaction] = PlainText,
    ) -> None:
        self._bwrap = bwrap
        self._hidden = tuple(hidden)
        self._programs = tuple(programs)
        self._servers = ToolServers(reveal, patience, start_folder, new_redactor, reach)
        self._hooks = HookRunner(reveal, start_folder, reach, new_redactor)

    def list_specs(self, context: ToolContext) -> tuple[ToolSpec, ...]:
        """Return the tools that this agent can see, by name."""
        return declarations.list_specs(context, self._servers.read_catalog(context))

    def list_tools(self, context: ToolContext) -> tuple[ToolInfo, ...]:
        """Return every tool with its availability for this agent, by name."""
        return inventory.list_tools(context, self._servers.read_catalog(context))

    def list_servers(self, context: ToolContext) -> tuple[ServerState, ...]:
        """Return the current state of the context's servers."""
        return self._servers.states(context)

    async def prepare(self, context: ToolContext, *, whole: bool = False) -> None:
        """Connect to the context's disconnected servers. `whole` waits until each is connected or lost."""
        if context.servers:
            await self._servers.prepare(context, whole=whole)

    async def reconnect(self, context: ToolContext, server: str) -> ServerState:
        """Connect to a server again, within a bounded time. Raises Refusal `unknown_server`."""
        return await self._servers.reconnect(context, server)

    async def close(self) -> None:
        """Disconnect from every server."""
        await self._servers.close()

    def preview_hooks(self, call: ToolCall, context: ToolContext) -> HookResult | None:
        """Return what is known about the hooks of a past call; None if no hook matches."""
        return preview(call, context)

    async def run_hooks(self, call: ToolCall, context: ToolContext, *, session: str, thread: str) -> HookResult | None:
        """Run the hooks of a new call and return their result; None if none decides."""
        return await self._hooks.run(call, context, session=session, thread=thread)

    async def evaluate(self, call: ToolCall, context: ToolContext) -> Evaluation:
        """Pass the call through the gate. Run and change nothing."""
        if is_server_tool(call.tool):
            await self._servers.prepare_for(context, call.tool)
        there = self._servers.read_catalog(context)
        return await asyncio.to_thread(
            lambda: stations.evaluate(call, context, self._ground()._replace(server_tools=there))
        )

    async def run(
        self, call: ToolCall, evaluation: Evaluation, context: ToolContext, reporter: Reporter
    ) -> ToolOutcome:
        """Run a call that the gate or a person allowed. Refuse a call that changed after approval.

        If the task is cancelled, every process of the call has ended when this returns. A change
        that was made is reported.
        """
        started = time.monotonic()
        try:
            if is_server_tool(call.tool):
                outcome = await catalog.run(call, evaluation, context, self._servers, reporter)
            else:
                asked = check_same_call(call, evaluation, context)
                outcome = await self._run(asked, evaluation, context, reporter)
        except Refusal as refusal:
            outcome = ToolOutcome(output="", code=refusal.code, message=refusal.problem.message)
        except PathDenied as denied:
            outcome = ToolOutcome(output="", code="path_denied", message=denied.message)
        except ChangedMeanwhileError:
            outcome = ToolOutcome(output="", code="file_changed", message=changed("The file").problem.message)
        except OSError as error:
            outcome = ToolOutcome(output="", code="tool_failed", message=f"{error.strerror or error}.")
        return msgspec.structs.replace(outcome, duration_ms=round((time.monotonic() - started) * 1000))

    def read_path(self, path: str, context: ToolContext) -> PathContent | MissingPath:
        """Return the content of a path that a person mentions. Blocks."""
        return mentioned_path.read_mentioned(context, self._hidden, path)

    async def find_paths(self, text: str, context: ToolContext, limit: int) -> tuple[str, ...]:
        """Return paths of files that contain this text in any case, shortest first."""
        return await mentioned_path.find_names(context, self._hidden, text, limit)

    async def read_text(self, path: str, context: ToolContext) -> str:
        """Return the current text of a file for an allowed read. Raises Refusal."""

        def text() -> str:
            try:
                with Folder(context.folder, self._hidden) as folder:
                    return read.read_whole(folder, relative(context.folder, path))
            except PathDenied as denied:
                raise Refusal("path_denied", denied.message) from denied
            except OSError as error:
                raise Refusal("tool_failed", f"{display(path)}: {error.strerror or error}.") from error

        return await asyncio.to_thread(text)

    async def _run(
        self,
        asked: Arguments,
        evaluation: Evaluation,
        context: ToolContext,
        reporter: Reporter,
    ) -> ToolOutcome:
        match asked:
            case read.ReadArguments():
                return await _in_thread(lambda: self._read(asked, context))
            case write.WriteArguments() | edit.EditArguments():
                return await self._change(asked, evaluation, context)
            case GlobArguments() | GrepArguments():
                return await self._search(asked, context)
            case BashArguments():
                if evaluation.sandbox is None:
                    raise Refusal(
                        "tool_failed", "The approval has no sandbox. The command did not run. Call the tool again."
                    )
                ground = await asyncio.to_thread(self._ground)
                return await command.run(asked, context.folder, evaluation.sandbox, ground, reporter.output)
            case FindToolsArguments():
                return find(asked, declarations.list_findable(context, self._servers.read_catalog(context)))
            case FinalizeArguments(summary=summary):
                return ToolOutcome(output=summary)
            case _:
                raise Refusal("tool_unknown", "There is no such tool.")

    def _read(self, asked: read.ReadArguments, context: ToolContext) -> ToolOutcome:
        with Folder(context.folder, self._hidden) as folder:
            return read.read_or_show(folder, relative(context.folder, asked.file_path), asked)

    async def _change(
        self, asked: write.WriteArguments | edit.EditArguments, evaluation: Evaluation, context: ToolContext
    ) -> ToolOutcome:
        stop = Event()

        def make() -> ToolOutcome:
            path = relative(context.folder, asked.file_path)
            with Folder(context.folder, self._hidden) as folder:
                binding = evaluation.binding
                if binding is None or binding.file != path:
                    raise changed("The call")
                if fingerprint(write.read_existing(folder, path)) != binding.file_hash:
                    raise ChangedMeanwhileError
                planned = (
                    write.plan(folder, path, asked)
                    if isinstance(asked, write.WriteArguments)
                    else edit.plan(folder, path, asked)
                )
                if fingerprint(planned.before) != binding.file_hash:
                    raise ChangedMeanwhileError
                if planned.before == planned.after:
                    return ToolOutcome(output=f"{display(path)} has this content already.")
                change, blobs = changes.to_fact(planned)
                replace(folder, planned, stop)
            said = (
                f"{'Made' if planned.before is None else 'Changed'} {display(path)}: +{change.added} −{change.removed}."
            )
            return ToolOutcome(output=said, changes=(change,), blobs=blobs)

        outcome, _ = await wait_shielded(asyncio.to_thread(make), stop.set)
        return outcome

    async def _search(self, asked: GlobArguments | GrepArguments, context: ToolContext) -> ToolOutcome:
        below = relative(context.folder, asked.path)
        keep_out = list_unsearchable(context.rules, "Glob" if isinstance(asked, GlobArguments) else "Grep")
        if isinstance(asked, GlobArguments):
            pattern = relative(context.folder, asked.pattern)
            below = "" if asked.pattern.startswith("/") else below
            wanted = Search("Glob", pattern, below, limit=MOST_FILES, excluded=keep_out)
        else:
            wanted = Search(
                tool="Grep",
                pattern=asked.pattern,
                start=below,
                glob=relative(context.folder, asked.glob),
                mode=asked.output_mode,
                ignore_case=asked.ignore_case,
                before=asked.before or asked.context,
                after=asked.after or asked.context,
                limit=asked.head_limit,
                excluded=keep_out,
            )
        answer = await run_search(context.folder, self._hidden, wanted)
        if answer.code is not None:
            return ToolOutcome(output="", code=answer.code, message=answer.message)
        notes = f"[{'; '.join(answer.notes)}]" if answer.notes else ""
        text = "\n".join(answer.lines) or "[nothing found]"
        return ToolOutcome(output=f"{text}\n\n{notes}" if notes else text)

    def _ground(self) -> GateEnvironment:
        return GateEnvironment(detect_ability(self._bwrap), hidden=self._hidden, programs=self._programs)


async def _in_thread(work: Callable[[], T]) -> T:
    result, cancelled = await wait_shielded(asyncio.to_thread(work))
    if cancelled:
        raise asyncio.CancelledError
    return result
