"""Connection to one server, in its own task, so that a failure affects only this server."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal

import httpx2
from mcp import Client, MCPError
from mcp.client import ClientRequestContext, IncomingMessage, Transport
from mcp_types import (
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    Implementation,
    ListRootsResult,
    LoggingMessageNotificationParams,
    Root,
    Tool,
    ToolListChangedNotification,
)
from pydantic import FileUrl, ValidationError

from callboard import __version__
from callboard.contracts.errors import Code
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.ports.tools import Reporter, ToolOutcome
from callboard.contracts.settings import HttpServer, Server, StdioServer
from callboard.contracts.text.sentences import to_clause

from ..files.paths import display
from . import call_results, questions, resources
from .failures import describe, list_errors, to_code
from .http_transport import connect_address
from .server_log import PlainText, ServerLog
from .stdio_transport import connect_program
from .tool_selection import DeclaredTool

log = logging.getLogger(__name__)

#: Maximum seconds for the handshake and the list of tools.
MAX_HANDSHAKE_SECONDS = 30.0
#: Maximum number of pages of tools, and of tools.
_MAX_PAGES = 100
_MAX_TOOLS = 2000
_MAX_PROMPTS = 100
#: Maximum length of a progress message before redaction, in characters.
_MAX_PROGRESS_CHARS = 2000
#: Seconds between two reads of the list of tools.
_READ_INTERVAL = 1.0


class LinkLostError(Exception):
    """The server is disconnected."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message


class _Call:
    """A running call. The timeout pauses during a question to a person, and restarts at each progress report."""

    def __init__(self, reporter: Reporter, timeout: float, redact: Callable[[str], str]) -> None:
        self.reporter = reporter
        self._redact = redact
        self._timeout = timeout
        self._questions = 0
        self._deadline = time.monotonic() + timeout

    def remaining(self) -> float:
        """Return the remaining seconds."""
        return self._timeout if self._questions else self._deadline - time.monotonic()

    async def report_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Report progress."""
        self._deadline = time.monotonic() + self._timeout
        self.reporter.report_progress(
            progress, total, display(self._redact((message or "")[:_MAX_PROGRESS_CHARS]), 200)
        )

    async def ask(self, server: str, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        """Forward a question of the server to a person."""
        self._questions += 1
        try:
            return await questions.ask(server, params, self.reporter, self._redact)
        finally:
            self._questions -= 1
            self._deadline = time.monotonic() + self._timeout


class Link:
    """A connection to one server for one folder, opened immediately.

    Args:
        values: Environment of a program, or headers of an address.
        new_redactor: Returns a new redactor for the server's text.
        root: Folder that a program receives as its root.
    Attributes:
        declared: Tools of the server, and our tool for its resources if it has any.
        changes: Number of reads of the list of tools.
        prompts: Names of the server's prompts.
    """

    def __init__(
        self,
        server: Server,
        folder: str,
        values: Mapping[str, str],
        new_redactor: Callable[[], StreamRedaction] = PlainText,
        root: str = "",
    ) -> None:
        self.server = server
        self.title = self.version = self.protocol = ""
        self.declared: tuple[DeclaredTool, ...] = ()
        self.prompts: tuple[str, ...] = ()
        self._root = root or folder
        self._resources = ""
        self.changes = 0
        self.lost: LinkLostError | None = None
        self.log = ServerLog(new_redactor)
        self._folder = folder
        self._values = values
        self._client: Client | None = None
        self._calls: list[_Call] = []
        self._greeting_done = asyncio.Event()
        self._changed = asyncio.Event()
        self._end = asyncio.Event()
        self._task = asyncio.create_task(self._keep_connected())

    @property
    def connected(self) -> bool:
        """Return True while the server is connected."""
        return self._client is not None

    @property
    def busy(self) -> bool:
        """True during a call or the handshake."""
        return bool(self._calls) or not self._greeting_done.is_set()

    async def wait_connected(self) -> None:
        """Wait until the server is connected or lost."""
        await self._greeting_done.wait()

    async def close(self) -> None:
        """Disconnect. The server's program has ended when this returns."""
        self._end.set()
        await asyncio.wait([self._task])

    async def call(self, tool: str, arguments: dict[str, Any], reporter: Reporter) -> ToolOutcome:
        """Call a tool. A cancellation is sent to the server. Raises LinkLostError if it is disconnected."""
        client = self._client
        if client is None:
            raise self.lost or LinkLostError("server_unavailable", "it is not connected")
        call = _Call(reporter, self.server.timeout, self.log.redact)
        running = asyncio.ensure_future(self._run(client, tool, arguments, call))
        self._calls.append(call)
        try:
            while not running.done():
                remaining = call.remaining()
                if remaining <= 0:
                    return _to_timeout(self.server)
                await asyncio.wait([running], timeout=remaining)
            return await self._read_outcome(running)
        finally:
            self._calls.remove(call)
            if not running.done():
                await _cancel(running)

    async def _run(self, client: Client, tool: str, arguments: dict[str, Any], call: _Call) -> ToolOutcome:
        if tool == self._resources:
            return await resources.read(client, arguments)
        return call_results.to_outcome(await client.call_tool(tool, arguments, progress_callback=call.report_progress))

    async def _read_outcome(self, running: asyncio.Future[ToolOutcome]) -> ToolOutcome:
        try:
            return running.result()
        except MCPError as error:
            if not await self._has_ended():
                message = f"{self.server.name} rejected the call: {display(self.log.redact(error.message), 500)}"
                return ToolOutcome(output="", code="tool_failed", message=message)
        except (ValidationError, RuntimeError) as error:
            message = f"{self.server.name} returned an invalid result ({type(error).__name__})."
            return ToolOutcome(output="", code="server_failed", message=message)
        except (httpx2.HTTPError, OSError) as error:
            self.log.reason = self.log.reason or f"{type(error).__name__}: {error}"
            self._end.set()
            await asyncio.wait([self._task])
        reason = self.lost.message if self.lost is not None else "it is disconnected"
        message = (
            f"{self.server.name} disconnected during the call ({reason}). "
            "Its effect is unknown: check before you retry."
        )
        return ToolOutcome(output="", code="server_failed", message=message)

    async def _has_ended(self) -> bool:
        """Return True if the connection has ended, which can follow a call's error."""
        if self.log.reason:
            self._end.set()
        if self._end.is_set():
            await asyncio.wait([self._task])
        return self._task.done()

    async def _keep_connected(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                cancelling = asyncio.create_task(self._cancel_at_end())
                try:
                    async with asyncio.timeout(MAX_HANDSHAKE_SECONDS):
                        client = await self._connect(stack)
                        await self._read_list(client)
                finally:
                    await _cancel(cancelling)
                self.log.reason = ""
                self._client = client
                self._greeting_done.set()
                if "tools" in _can_subscribe(client):
                    listening = asyncio.create_task(self._subscribe(client))
                    stack.push_async_callback(_cancel, listening)
                await self._follow_changes(client)
                self._client = None
        except Exception as error:
            self.lost = LinkLostError(to_code(error), self._explain(error))
            log.info("the server %s disconnected: %s", self.server.name, self.lost.message)
        finally:
            self._client = None
            self.lost = self.lost or LinkLostError(
                "server_failed", self._add_last_line(self.log.reason or "it was disconnected")
            )
            self._greeting_done.set()

    async def _cancel_at_end(self) -> None:
        """Cancel the handshake when the connection ends."""
        await self._end.wait()
        self._task.cancel()

    async def _connect(self, stack: AsyncExitStack) -> Client:
        """Try the handshake first, then the newest protocol if the server refuses.

        Only after the handshake can a server ask a person during a call.
        """
        try:
            client = await self._open_client(stack, "legacy")
        except Exception as error:
            refused = any(isinstance(leaf, MCPError) for leaf in list_errors(error))
            if not refused or self._end.is_set() or self.log.reason:
                raise
            client = await self._open_client(stack, "auto")
        # Do not check results against the server's schema: its patterns could take unbounded time.
        client.session.validate_tool_result = _accept_result
        server_info = client.server_info
        if server_info is not None:
            self.title = display(server_info.title or server_info.name, 100)
            self.version = display(server_info.version, 40)
        self.protocol = client.protocol_version
        return client

    async def _open_client(self, stack: AsyncExitStack, mode: Literal["legacy", "auto"]) -> Client:
        return await stack.enter_async_context(
            Client(
                self._open_streams(),
                mode=mode,
                client_info=Implementation(name="callboard", version=__version__),
                cache=None,
                elicitation_callback=self._on_question,
                list_roots_callback=self._list_roots if isinstance(self.server, StdioServer) else None,
                logging_callback=self._handle_log,
                message_handler=self._handle_message,
            )
        )

    def _open_streams(self) -> Transport:
        match self.server:
            case StdioServer(command=command):
                return connect_program(command, self._folder, self._values, self.log, self._end)
            case HttpServer(url=url):
                return connect_address(url, self._values, self.log, self._end)

    async def _read_list(self, client: Client) -> None:
        tools: list[DeclaredTool] = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += [_to_declared(tool) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor or len(tools) > _MAX_TOOLS:
                break
        tools = tools[:_MAX_TOOLS]
        self._resources = ""
        if await resources.has_resources(client):
            reader = resources.declare_reader(tools)
            tools.append(reader)
            self._resources = reader.name
        if client.server_capabilities.prompts is not None:
            # Some servers declare a capability that they do not have.
            with contextlib.suppress(MCPError):
                prompts = (await client.list_prompts()).prompts[:_MAX_PROMPTS]
                self.prompts = tuple(display(self.log.redact(prompt.name), 200) for prompt in prompts)
        self.declared = tuple(tools)
        self.changes += 1

    async def _follow_changes(self, client: Client) -> None:
        """Read changed lists of tools until the connection ends. A failed read ends it."""
        ended = asyncio.ensure_future(self._end.wait())
        try:
            while not ended.done():
                changed = asyncio.ensure_future(self._changed.wait())
                try:
                    await asyncio.wait([ended, changed], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
                if ended.done():
                    break
                self._changed.clear()
                async with asyncio.timeout(MAX_HANDSHAKE_SECONDS):
                    await self._read_list(client)
                await asyncio.wait([ended], timeout=_READ_INTERVAL)
        finally:
            ended.cancel()

    async def _subscribe(self, client: Client) -> None:
        """Subscribe to changes of the list of tools, which newer servers require."""
        with contextlib.suppress(MCPError, RuntimeError, TimeoutError, httpx2.HTTPError, OSError):
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._changed.set()

    async def _on_question(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        """Ask on behalf of the newest call, because servers do not name the call. Without a call, cancel."""
        if not self._calls:
            return ElicitResult(action="cancel")
        return await self._calls[-1].ask(self.server.name, params)

    async def _list_roots(self, context: ClientRequestContext) -> ListRootsResult:
        """Return the folder that the server works for."""
        root = Path(self._root)
        return ListRootsResult(roots=[Root(uri=FileUrl(root.as_uri()), name=root.name or None)])

    async def _handle_log(self, params: LoggingMessageNotificationParams) -> None:
        self.log.add(f"{params.level}: {params.data}\n")

    async def _handle_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed.set()

    def _explain(self, error: BaseException) -> str:
        """Return why the server disconnected, with its last diagnostic line."""
        return self._add_last_line(self.log.reason or describe(error, self.log.redact, MAX_HANDSHAKE_SECONDS))

    def _add_last_line(self, why: str) -> str:
        last = self.log.find_last_line()
        return f"{to_clause(why)}: {display(last, 300)}" if last else why


async def _cancel(task: asyncio.Future[Any]) -> None:
    """Cancel a task and wait until it has ended."""
    task.cancel()
    (result,) = await asyncio.gather(task, return_exceptions=True)
    if isinstance(result, Exception):
        log.info("a cancelled task failed: %r", result)


async def _accept_result(name: str, result: CallToolResult) -> None:
    """Accept the result without a check."""


def _can_subscribe(client: Client) -> tuple[str, ...]:
    tools = client.server_capabilities.tools
    return ("tools",) if tools is not None and tools.list_changed and client.protocol_version >= "2026" else ()


def _to_declared(tool: Tool) -> DeclaredTool:
    hints = tool.annotations
    execution = tool.execution
    return DeclaredTool(
        name=tool.name,
        description=tool.description or tool.title or "",
        schema=tool.input_schema,
        read_only=hints.read_only_hint if hints is not None else None,
        destructive=hints.destructive_hint if hints is not None else None,
        needs_task=execution is not None and execution.task_support == "required",
    )


def _to_timeout(server: Server) -> ToolOutcome:
    message = (
        f"{server.name} sent nothing for {server.timeout:g} s, so the call was cancelled. "
        "Its effect is unknown: check before you retry."
    )
    return ToolOutcome(output="", code="tool_timeout", message=message)
