"""A connection to one server. It runs in its own task, so a failure affects only this server."""

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
from callboard.contracts.text.sentences import clause

from ..files.paths import display
from . import call_results, questions, resources
from .failures import describe, list_errors, to_code
from .http_transport import connect_address
from .server_log import PlainText, ServerLog
from .stdio_transport import connect_program
from .tool_selection import DeclaredTool

log = logging.getLogger(__name__)

#: Seconds that a server has for the handshake and its list of tools.
TO_GREET = 30.0
#: Maximum number of pages of tools, and of tools.
_MOST_PAGES = 100
_MOST_DECLARED = 2000
_MOST_PROMPTS = 100
#: Maximum length of a progress message that is redacted before it is truncated, in characters.
_MOST_HEARD = 2000
#: Seconds between two reads of the list of tools.
_CALM = 1.0


class LinkLostError(Exception):
    """The server is disconnected."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message


class _Call:
    """A running call. Its timeout pauses while a person is asked, and restarts at each progress report."""

    def __init__(self, reporter: Reporter, timeout: float, safe: Callable[[str], str]) -> None:
        self.reporter = reporter
        self._safe = safe
        self._timeout = timeout
        self._asking = 0
        self._until = time.monotonic() + timeout

    def left(self) -> float:
        """Return the remaining seconds."""
        return self._timeout if self._asking else self._until - time.monotonic()

    async def told(self, progress: float, total: float | None, message: str | None) -> None:
        """Report progress."""
        self._until = time.monotonic() + self._timeout
        self.reporter.progress(progress, total, display(self._safe((message or "")[:_MOST_HEARD]), 200))

    async def asks(self, server: str, wanted: ElicitRequestParams) -> ElicitResult | ErrorData:
        """Ask a person for the server."""
        self._asking += 1
        try:
            return await questions.ask(server, wanted, self.reporter, self._safe)
        finally:
            self._asking -= 1
            self._until = time.monotonic() + self._timeout


class Link:
    """A connection to one server for one folder. It connects at once.

    Args:
        values: Environment of a program, or headers of an address.
        veil: Returns a new redactor for the server's text, applied before truncation.
        root: Folder that a program receives as its root. An address receives none.
    Attributes:
        declared: Tools of the server, and our tool for its resources if it has any.
        changes: Number of times that the list of tools was read.
        prompts: Names of the server's prompts.
    """

    def __init__(
        self,
        server: Server,
        folder: str,
        values: Mapping[str, str],
        veil: Callable[[], StreamRedaction] = PlainText,
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
        self.log = ServerLog(veil)
        self._folder = folder
        self._values = values
        self._client: Client | None = None
        self._calls: list[_Call] = []
        self._greeted = asyncio.Event()
        self._changed = asyncio.Event()
        self._over = asyncio.Event()
        self._task = asyncio.create_task(self._live())

    @property
    def connected(self) -> bool:
        """True while the server is connected."""
        return self._client is not None

    @property
    def busy(self) -> bool:
        """True during a call or the handshake."""
        return bool(self._calls) or not self._greeted.is_set()

    async def wait_connected(self) -> None:
        """Wait until the server is connected or lost."""
        await self._greeted.wait()

    async def close(self) -> None:
        """Disconnect. A program has ended when this returns."""
        self._over.set()
        await asyncio.wait([self._task])

    async def call(self, tool: str, arguments: dict[str, Any], reporter: Reporter) -> ToolOutcome:
        """Call a tool. Cancelling sends a cancellation to the server. Raises LinkLostError if it is
        disconnected.
        """
        client = self._client
        if client is None:
            raise self.lost or LinkLostError("server_unavailable", "it is not there")
        call = _Call(reporter, self.server.timeout, self.log.redact)
        asked = asyncio.ensure_future(self._do(client, tool, arguments, call))
        self._calls.append(call)
        try:
            while not asked.done():
                left = call.left()
                if left <= 0:
                    return _timed_out(self.server)
                await asyncio.wait([asked], timeout=left)
            return await self._outcome(asked)
        finally:
            self._calls.remove(call)
            if not asked.done():
                await _cancelled(asked)

    async def _do(self, client: Client, tool: str, arguments: dict[str, Any], call: _Call) -> ToolOutcome:
        if tool == self._resources:
            return await resources.read(client, arguments)
        return call_results.to_outcome(await client.call_tool(tool, arguments, progress_callback=call.told))

    async def _outcome(self, asked: asyncio.Future[ToolOutcome]) -> ToolOutcome:
        try:
            return asked.result()
        except MCPError as error:
            if not await self._ended():
                message = f"{self.server.name} refused the call: {display(self.log.redact(error.message), 500)}"
                return ToolOutcome(output="", code="tool_failed", message=message)
        except (ValidationError, RuntimeError) as error:
            message = f"{self.server.name} answered with what is no result ({type(error).__name__})."
            return ToolOutcome(output="", code="server_failed", message=message)
        except (httpx2.HTTPError, OSError) as error:
            self.log.reason = self.log.reason or f"{type(error).__name__}: {error}"
            self._over.set()
            await asyncio.wait([self._task])
        why = self.lost.message if self.lost is not None else "it is gone"
        message = f"{self.server.name} was lost in the middle of the call ({why}). Whether it took effect is unknown."
        return ToolOutcome(output="", code="server_failed", message=message)

    async def _ended(self) -> bool:
        """Return True if the connection has ended. A call's error can arrive before the end of the
        connection.
        """
        if self.log.reason:
            self._over.set()
        if self._over.is_set():
            await asyncio.wait([self._task])
        return self._task.done()

    async def _live(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                giving_up = asyncio.create_task(self._give_up())
                try:
                    async with asyncio.timeout(TO_GREET):
                        client = await self._greet(stack)
                        await self._list(client)
                finally:
                    await _cancelled(giving_up)
                self.log.reason = ""
                self._client = client
                self._greeted.set()
                if "tools" in _listening(client):
                    listening = asyncio.create_task(self._listen(client))
                    stack.push_async_callback(_cancelled, listening)
                await self._watch(client)
                self._client = None
            self.lost = LinkLostError("server_failed", self._heard_last(self.log.reason or "it was let go"))
        except Exception as error:
            self.lost = LinkLostError(to_code(error), self._why(error))
            log.info("the server %s is lost: %s", self.server.name, self.lost.message)
        finally:
            self._client = None
            self.lost = self.lost or LinkLostError(
                "server_failed", self._heard_last(self.log.reason or "it was let go")
            )
            self._greeted.set()

    async def _give_up(self) -> None:
        """Cancel the handshake once the connection has ended."""
        await self._over.wait()
        self._task.cancel()

    async def _greet(self, stack: AsyncExitStack) -> Client:
        """Try the handshake first, then the newest protocol if the server refuses.

        Only with the handshake can a server ask a person during a call.
        """
        try:
            client = await self._introduced(stack, "legacy")
        except Exception as error:
            refused = any(isinstance(leaf, MCPError) for leaf in list_errors(error))
            if not refused or self._over.is_set() or self.log.reason:
                raise
            client = await self._introduced(stack, "auto")
        # Results are not checked against the server's schema: its patterns could take unbounded
        # time.
        client.session.validate_tool_result = _as_it_is
        about = client.server_info
        if about is not None:
            self.title = display(about.title or about.name, 100)
            self.version = display(about.version, 40)
        self.protocol = client.protocol_version
        return client

    async def _introduced(self, stack: AsyncExitStack, mode: Literal["legacy", "auto"]) -> Client:
        return await stack.enter_async_context(
            Client(
                self._streams(),
                mode=mode,
                client_info=Implementation(name="callboard", version=__version__),
                cache=None,
                elicitation_callback=self._asked,
                list_roots_callback=self._list_roots if isinstance(self.server, StdioServer) else None,
                logging_callback=self._logged,
                message_handler=self._heard,
            )
        )

    def _streams(self) -> Transport:
        match self.server:
            case StdioServer(command=command):
                return connect_program(command, self._folder, self._values, self.log, self._over)
            case HttpServer(url=url):
                return connect_address(url, self._values, self.log, self._over)

    async def _list(self, client: Client) -> None:
        found: list[DeclaredTool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += [_declared(tool) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor or len(found) > _MOST_DECLARED:
                break
        found = found[:_MOST_DECLARED]
        self._resources = ""
        if await resources.has_resources(client):
            reader = resources.declare_reader(found)
            found.append(reader)
            self._resources = reader.name
        if client.server_capabilities.prompts is not None:
            # A server may declare a capability that it does not have.
            with contextlib.suppress(MCPError):
                prompts = (await client.list_prompts()).prompts[:_MOST_PROMPTS]
                self.prompts = tuple(display(self.log.redact(one.name), 200) for one in prompts)
        self.declared = tuple(found)
        self.changes += 1

    async def _watch(self, client: Client) -> None:
        """Read a changed list of tools until the connection ends. A list that cannot be read ends it."""
        over = asyncio.ensure_future(self._over.wait())
        try:
            while not over.done():
                changed = asyncio.ensure_future(self._changed.wait())
                try:
                    await asyncio.wait([over, changed], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
                if over.done():
                    break
                self._changed.clear()
                async with asyncio.timeout(TO_GREET):
                    await self._list(client)
                await asyncio.wait([over], timeout=_CALM)
        finally:
            over.cancel()

    async def _listen(self, client: Client) -> None:
        """Subscribe to changes of the list of tools, for servers that require it."""
        with contextlib.suppress(MCPError, RuntimeError, TimeoutError, httpx2.HTTPError, OSError):
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._changed.set()

    async def _asked(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        """Ask for the newest call, because servers do not name the call. Without a call the
        question is cancelled.
        """
        if not self._calls:
            return ElicitResult(action="cancel")
        return await self._calls[-1].asks(self.server.name, params)

    async def _list_roots(self, context: ClientRequestContext) -> ListRootsResult:
        """Return the folder that the server works for."""
        root = Path(self._root)
        return ListRootsResult(roots=[Root(uri=FileUrl(root.as_uri()), name=root.name or None)])

    async def _logged(self, params: LoggingMessageNotificationParams) -> None:
        self.log.add(f"{params.level}: {params.data}\n")

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed.set()

    def _why(self, error: BaseException) -> str:
        """Return why the server is lost, with its last diagnostic line."""
        return self._heard_last(self.log.reason or describe(error, self.log.redact, TO_GREET))

    def _heard_last(self, why: str) -> str:
        last = self.log.last_line()
        return f"{clause(why)}: {display(last, 300)}" if last else why


async def _cancelled(task: asyncio.Future[Any]) -> None:
    """Cancel a task and wait until it has ended."""
    task.cancel()
    (came,) = await asyncio.gather(task, return_exceptions=True)
    if isinstance(came, Exception):
        log.info("what nobody waited for any more failed: %r", came)


async def _as_it_is(name: str, result: CallToolResult) -> None:
    """Accept the result without a check."""


def _listening(client: Client) -> tuple[str, ...]:
    tools = client.server_capabilities.tools
    return ("tools",) if tools is not None and tools.list_changed and client.protocol_version >= "2026" else ()


def _declared(tool: Tool) -> DeclaredTool:
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


def _timed_out(server: Server) -> ToolOutcome:
    message = f"{server.name} told nothing for {server.timeout:g} s and was asked to stop. Whether it did is unknown."
    return ToolOutcome(output="", code="tool_timeout", message=message)
