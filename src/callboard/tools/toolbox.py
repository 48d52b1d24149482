"""Tools of a folder behind the gate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextvars import copy_context
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
from .builtin.glob import MAX_FILES, GlobArguments
from .builtin.grep import GrepArguments
from .call_binding import refuse_changed
from .files import changes
from .files.handles import Folder
from .files.paths import PATH_HINT, PathDenied, display, to_relative_path
from .gate import inventory, stations
from .gate.call_context import GateEnvironment
from .gate.call_identity import check_same_call
from .gate.rules import list_unsearchable
from .hooks.runner import HookRunner, preview
from .mcp import catalog
from .mcp.names import is_server_tool
from .mcp.server_log import PlainText
from .mcp.servers import PATIENCE, ToolServers
from .protection.atomic_write import ChangedMeanwhileError, compute_fingerprint, replace
from .search import mentioned_path
from .search.file_search import Search
from .search.search_process import run_search
from .shell import command
from .shielded_wait import wait_shielded
from .unsandboxed.reach import Reach

T = TypeVar("T")


def _reveal_unchanged(server: Server | Hook, text: str) -> str:
    return text


def _start_in_folder(server: Server | Hook, folder: str) -> str:
    return folder


def _reach_nothing(server: Server | Hook, folder: str) -> Reach:
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
        reveal: Callable[[Server | Hook, str], str] = _reveal_unchanged,
        start_folder: Callable[[Server | Hook, str], str] = _start_in_folder,
        reach: Callable[[Server | Hook, str], Reach] = _reach_nothing,
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
        """Connect to the context's disconnected servers. `whole`: wait until each is connected or lost."""
        if context.servers:
            await self._servers.prepare(context, whole=whole)

    async def reconnect(self, context: ToolContext, server: str) -> ServerState:
        """Connect to a server again, within a bounded time. Raises Refusal `unknown_server`."""
        return await self._servers.reconnect(context, server)

    async def close(self) -> None:
        """Disconnect from every server."""
        await self._servers.close()

    def preview_hooks(self, call: ToolCall, context: ToolContext) -> HookResult | None:
        """Return the hooks that match a past call, without running them; None if none matches."""
        return preview(call, context)

    async def run_hooks(self, call: ToolCall, context: ToolContext, *, session: str, thread: str) -> HookResult | None:
        """Run the hooks of a new call and return their result; None if none decides."""
        return await self._hooks.run(call, context, session=session, thread=thread)

    async def evaluate(self, call: ToolCall, context: ToolContext) -> Evaluation:
        """Return the gate's verdict. Run and change nothing."""
        if is_server_tool(call.tool):
            await self._servers.prepare_for(context, call.tool)
        server_tools = self._servers.read_catalog(context)
        return await asyncio.to_thread(
            lambda: stations.evaluate(call, context, self._detect_environment()._replace(server_tools=server_tools))
        )

    async def run(
        self, call: ToolCall, evaluation: Evaluation, context: ToolContext, reporter: Reporter
    ) -> ToolOutcome:
        """Run an allowed call. Refuse a call that changed after approval.

        All processes of the call have ended when this returns, also after a cancellation. A file
        change is reported even then.
        """
        started = time.monotonic()
        try:
            if is_server_tool(call.tool):
                outcome = await catalog.run(call, evaluation, context, self._servers, reporter)
            else:
                arguments = check_same_call(call, evaluation, context)
                outcome = await self._run(arguments, evaluation, context, reporter)
        except Refusal as refusal:
            outcome = ToolOutcome(output="", code=refusal.code, message=refusal.text)
        except PathDenied as denied:
            outcome = ToolOutcome(output="", code="path_denied", message=denied.message)
        except ChangedMeanwhileError:
            outcome = ToolOutcome(output="", code="file_changed", message=refuse_changed("The file").text)
        except OSError as error:
            outcome = ToolOutcome(output="", code="tool_failed", message=f"{error.strerror or error}.")
        return msgspec.structs.replace(outcome, duration_ms=round((time.monotonic() - started) * 1000))

    def read_path(self, path: str, context: ToolContext) -> PathContent | MissingPath:
        """Return the content of a path that a person mentions. Blocks."""
        return mentioned_path.read_mentioned(context, self._hidden, path)

    async def find_paths(self, text: str, context: ToolContext, limit: int) -> tuple[str, ...]:
        """Return file paths that contain this text in any case, shortest first."""
        return await mentioned_path.find_names(context, self._hidden, text, limit)

    async def read_text(self, path: str, context: ToolContext) -> str:
        """Return the current text of a file for an allowed read. Raises Refusal."""

        def read_whole() -> str:
            try:
                with Folder(context.folder, self._hidden) as folder:
                    return read.read_whole(folder, to_relative_path(context.folder, path))
            except PathDenied as denied:
                raise Refusal("path_denied", denied.message, hint=PATH_HINT) from denied
            except OSError as error:
                raise Refusal(
                    "tool_failed",
                    f"{display(path)}: {error.strerror or error}.",
                    hint="Check the path, then call the tool again.",
                ) from error

        return await asyncio.to_thread(read_whole)

    async def _run(
        self,
        arguments: Arguments,
        evaluation: Evaluation,
        context: ToolContext,
        reporter: Reporter,
    ) -> ToolOutcome:
        match arguments:
            case read.ReadArguments():
                return await _run_in_thread(lambda: self._read(arguments, context))
            case write.WriteArguments() | edit.EditArguments():
                return await self._change(arguments, evaluation, context)
            case GlobArguments() | GrepArguments():
                return await self._search(arguments, context)
            case BashArguments():
                if evaluation.sandbox is None:
                    raise Refusal(
                        "tool_failed",
                        "The approval has no sandbox. The command did not run.",
                        hint="Call the tool again.",
                    )
                environment = await asyncio.to_thread(self._detect_environment)
                return await command.run(
                    arguments, context.folder, evaluation.sandbox, environment, reporter.report_output
                )
            case FindToolsArguments():
                return find(arguments, declarations.list_findable(context, self._servers.read_catalog(context)))
            case FinalizeArguments(summary=summary):
                return ToolOutcome(output=summary)
            case _:
                raise Refusal("tool_unknown", "Unknown tool.", hint="Use a tool from your list.")

    def _read(self, arguments: read.ReadArguments, context: ToolContext) -> ToolOutcome:
        with Folder(context.folder, self._hidden) as folder:
            return read.read_or_show(folder, to_relative_path(context.folder, arguments.file_path), arguments)

    async def _change(
        self, arguments: write.WriteArguments | edit.EditArguments, evaluation: Evaluation, context: ToolContext
    ) -> ToolOutcome:
        stop = Event()

        def apply() -> ToolOutcome:
            path = to_relative_path(context.folder, arguments.file_path)
            with Folder(context.folder, self._hidden) as folder:
                binding = evaluation.binding
                if binding is None or binding.file != path:
                    raise refuse_changed("The call")
                if compute_fingerprint(write.read_existing(folder, path)) != binding.file_hash:
                    raise ChangedMeanwhileError
                planned = (
                    write.plan(folder, path, arguments)
                    if isinstance(arguments, write.WriteArguments)
                    else edit.plan(folder, path, arguments)
                )
                if compute_fingerprint(planned.before) != binding.file_hash:
                    raise ChangedMeanwhileError
                if planned.before == planned.after:
                    return ToolOutcome(output=f"{display(path)} already has this content.")
                change, blobs = changes.to_fact(planned)
                replace(folder, planned, stop)
            verb = "Created" if planned.before is None else "Changed"
            message = f"{verb} {display(path)}: +{change.added} −{change.removed}."
            return ToolOutcome(output=message, changes=(change,), blobs=blobs)

        outcome, _ = await wait_shielded(asyncio.to_thread(apply), stop.set)
        return outcome

    async def _search(self, arguments: GlobArguments | GrepArguments, context: ToolContext) -> ToolOutcome:
        start = to_relative_path(context.folder, arguments.path)
        excluded = list_unsearchable(context.rules, "Glob" if isinstance(arguments, GlobArguments) else "Grep")
        if isinstance(arguments, GlobArguments):
            pattern = to_relative_path(context.folder, arguments.pattern)
            start = "" if arguments.pattern.startswith("/") else start
            query = Search("Glob", pattern, start, limit=MAX_FILES, excluded=excluded)
        else:
            query = Search(
                tool="Grep",
                pattern=arguments.pattern,
                start=start,
                glob=to_relative_path(context.folder, arguments.glob),
                mode=arguments.output_mode,
                ignore_case=arguments.ignore_case,
                before=arguments.before or arguments.context,
                after=arguments.after or arguments.context,
                limit=arguments.head_limit,
                excluded=excluded,
            )
        response = await run_search(context.folder, self._hidden, query)
        if response.code is not None:
            return ToolOutcome(output="", code=response.code, message=response.message)
        notes = f"[{'; '.join(response.notes)}]" if response.notes else ""
        text = "\n".join(response.lines) or "[no matches]"
        return ToolOutcome(output=f"{text}\n\n{notes}" if notes else text)

    def _detect_environment(self) -> GateEnvironment:
        return GateEnvironment.detect(self._bwrap, self._hidden, self._programs)


async def _run_in_thread(work: Callable[[], T]) -> T:
    # Not `to_thread`, which needs a task besides the thread.
    running = asyncio.get_running_loop().run_in_executor(None, copy_context().run, work)
    result, cancelled = await wait_shielded(running)
    if cancelled:
        raise asyncio.CancelledError
    return result
