"""Connections to the servers of all folders: opened before a run, retried, and closed when idle."""

from __future__ import annotations

import asyncio
import importlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from callboard.contracts.entities.tool_inventory import ServerState
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.ports.tools import Reporter, ToolContext, ToolOutcome
from callboard.contracts.settings import HttpServer, Server, StdioServer
from callboard.contracts.text.sentences import clause

from ..unsandboxed.reach import Reach, check_program
from . import names
from .environment import base_environment
from .server_log import PlainText
from .tool_selection import ToolOffer, ToolSelection, select_tools

if TYPE_CHECKING:
    from .connection import Link

log = logging.getLogger(__name__)

#: Seconds that a run waits for servers before it starts without them.
PATIENCE = 10.0
#: Seconds until a lost server is retried: at first, and at most.
_FIRST_REST, _LONGEST_REST = 1.0, 60.0
#: Seconds until an unused connection is closed.
IDLE = 900.0


class McpCatalog(NamedTuple):
    """Tools of servers for a folder.

    Attributes:
        offered: Tools by name, also those of a server that is now disconnected.
        left_out: Tools that the settings exclude, with their server.
        missing: Disconnected servers and the reason, by their part of tool names.
    """

    offers: Mapping[str, ToolOffer] = {}
    excluded: Mapping[str, str] = {}
    missing: Mapping[str, tuple[str, str]] = {}

    def find_outage(self, server: str) -> str:
        """Return why the server is disconnected; empty if it is connected."""
        return next((why for name, why in self.missing.values() if name == server), "")


class _Slot:
    """One server for one folder. `known` are its tools at the last connection."""

    def __init__(self, server: Server, folder: str) -> None:
        self.server = server
        self.folder = folder
        self.link: Link | None = None
        self.connecting: asyncio.Task[None] | None = None
        self.begun = self.used = 0.0
        self.failures = 0
        self.problem: Refusal | None = None
        self.known = ToolSelection({})
        self._read = (0, "")

    @property
    def connected(self) -> bool:
        return self.link is not None and self.link.connected

    def taken(self, part: str) -> ToolSelection:
        """Return the server's tools under that part of their names."""
        link = self.link
        if link is not None and link.connected and self._read != (link.changes, part):
            self.known = select_tools(self.server, part, link.declared)
            self._read = (link.changes, part)
        return self.known

    def forget(self) -> None:
        """Read the declarations of a new connection again."""
        self._read = (0, "")

    def why(self) -> tuple[str, str]:
        """Return the code and the text for a disconnected server."""
        if self.problem is not None:
            return self.problem.code, self.problem.problem.message
        lost = self.link.lost if self.link is not None else None
        if lost is not None:
            return lost.code, lost.message
        return "server_unavailable", "it has not answered yet" if self.connecting else "it was not needed yet"


def _served(context: ToolContext) -> str:
    return context.trusted_folder or context.folder


def _there(server: Server, folder: str) -> str:
    return folder


def _none(server: Server, folder: str) -> Reach:
    return Reach()


class ToolServers:
    """Connections to tool servers.

    Args:
        reveal: Returns the value of a server's setting. Raises Refusal if it is missing.
        starts: Returns the folder in which a server starts.
        reach: Returns the folders where agents could change its program.
        veil: Returns a new redactor for a server's text.
    """

    def __init__(
        self,
        reveal: Callable[[Server, str], str],
        patience: float = PATIENCE,
        starts: Callable[[Server, str], str] = _there,
        veil: Callable[[], StreamRedaction] = PlainText,
        reach: Callable[[Server, str], Reach] = _none,
    ) -> None:
        self._reveal = reveal
        self._veil = veil
        self._starts = starts
        self._reach = reach
        self._patience = patience
        self._slots: dict[tuple[str, bytes], _Slot] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def prepare(self, context: ToolContext, *, whole: bool = False) -> None:
        """Connect to disconnected servers that may be retried, within the patience. `whole` waits
        until each is connected or lost.
        """
        now = time.monotonic()
        self._sweep(context, now)
        waited: list[asyncio.Task[None]] = []
        for slot in self._of(context):
            slot.used = now
            if slot.connected:
                continue
            rest = min(_FIRST_REST * 2 ** (slot.failures - 1), _LONGEST_REST) if slot.failures else 0.0
            if slot.connecting is None and now >= slot.begun + rest:
                self._begin(slot)
            if slot.connecting is not None and (whole or slot.begun + self._patience > now):
                waited.append(slot.connecting)
        if waited:
            await asyncio.wait(waited, timeout=None if whole else self._patience)

    async def prepare_for(self, context: ToolContext, tool: str) -> None:
        """Do the same for a call of the tool. Wait until its server is connected or lost."""
        await self.prepare(context)
        parts = names.map_servers(server.name for server in context.servers)
        for slot in self._of(context):
            if slot.connecting is not None and tool.startswith(f"{names.PREFIX}{parts[slot.server.name]}__"):
                await asyncio.wait([slot.connecting])

    async def reconnect(self, context: ToolContext, name: str) -> ServerState:
        """Disconnect and connect again. Raises Refusal `unknown_server`."""
        slot = next((one for one in self._of(context) if one.server.name == name), None)
        if slot is None:
            there = ", ".join(server.name for server in context.servers) or "none"
            raise Refusal(
                "unknown_server", f"There is no server {name} here.", field="server", hint=f"There are: {there}."
            )
        if slot.connecting is None:
            slot.failures = 0
        await asyncio.wait([slot.connecting or self._begin(slot)], timeout=self._patience)
        return next(one for one in self.states(context) if one.name == name)

    def read_catalog(self, context: ToolContext) -> McpCatalog:
        """Return the current tools of the context's servers."""
        offered: dict[str, ToolOffer] = {}
        left_out: dict[str, str] = {}
        missing: dict[str, tuple[str, str]] = {}
        parts = names.map_servers(server.name for server in context.servers)
        for slot in self._of(context):
            part = parts[slot.server.name]
            taken = slot.taken(part)
            offered.update(taken.offers)
            left_out.update(dict.fromkeys(taken.excluded, slot.server.name))
            if not slot.connected:
                missing[part] = slot.server.name, f"the server {slot.server.name} is not there: {slot.why()[1]}"
        return McpCatalog(offered, left_out, missing)

    def states(self, context: ToolContext) -> tuple[ServerState, ...]:
        """Return the current state of the context's servers, in the order of the settings."""
        parts = names.map_servers(server.name for server in context.servers)
        return tuple(_state(slot, slot.taken(parts[slot.server.name])) for slot in self._of(context))

    async def call(
        self, context: ToolContext, tool: ToolOffer, arguments: dict[str, object], reporter: Reporter
    ) -> ToolOutcome:
        """Call a server's tool."""
        slot = next((one for one in self._of(context) if one.server.name == tool.server), None)
        if slot is None or slot.link is None or not slot.connected:
            why = slot.why()[1] if slot is not None else "the settings have it no more"
            raise Refusal(
                "server_unavailable", f"The server {tool.server} is not there: {clause(why)}. Nothing was run."
            )
        slot.used = time.monotonic()
        try:
            return await slot.link.call(tool.tool, arguments, reporter)
        finally:
            slot.used = time.monotonic()

    async def close(self) -> None:
        """Disconnect from every server. Programs have ended when this returns."""
        slots = list(self._slots.values())
        self._slots.clear()
        connecting = [slot.connecting for slot in slots if slot.connecting is not None]
        for task in connecting:
            task.cancel()
        await asyncio.gather(*connecting, return_exceptions=True)
        await asyncio.gather(*(slot.link.close() for slot in slots if slot.link is not None), *self._closing)

    def _of(self, context: ToolContext) -> list[_Slot]:
        found: list[_Slot] = []
        folder = _served(context)
        for server in context.servers:
            key = (folder, msgspec.json.encode(server))
            slot = self._slots.get(key)
            if slot is None:
                slot = self._slots[key] = _Slot(server, folder)
            found.append(slot)
        return found

    def _begin(self, slot: _Slot) -> asyncio.Task[None]:
        slot.begun, slot.problem = time.monotonic(), None
        slot.connecting = asyncio.create_task(self._connect(slot))
        return slot.connecting

    async def _connect(self, slot: _Slot) -> None:
        """Replace the former connection, after it has ended."""
        try:
            if slot.link is not None:
                await slot.link.close()
            # The protocol's package is large. Importing it here would block the event loop.
            kind: type[Link] = (await asyncio.to_thread(importlib.import_module, f"{__package__}.connection")).Link
            slot.forget()
            folder, values = self._starts(slot.server, slot.folder), self._values(slot.server)
            server = await asyncio.to_thread(
                _looked, slot.server, folder, values, self._reach(slot.server, slot.folder)
            )
            slot.link = link = kind(server, folder, values, self._veil, slot.folder)
            await link.wait_connected()
        except Refusal as refusal:
            slot.problem = refusal
        except Exception as error:
            log.exception("%s could not be connected to", slot.server.name)
            slot.problem = Refusal("server_failed", f"{type(error).__name__}: {error}")
        finally:
            slot.connecting = None
            slot.failures = 0 if slot.connected else slot.failures + 1

    def _values(self, server: Server) -> dict[str, str]:
        match server:
            case StdioServer(env=env):
                return {**base_environment(), **{name: self._reveal(server, value) for name, value in env.items()}}
            case HttpServer(headers=headers):
                return {name: self._reveal(server, value) for name, value in headers.items()}

    def _sweep(self, context: ToolContext, now: float) -> None:
        """Close connections that the folder's settings no longer name, and idle ones."""
        folder = _served(context)
        kept = {(folder, msgspec.json.encode(server)) for server in context.servers}
        for key, slot in list(self._slots.items()):
            gone = key[0] == folder and key not in kept
            idle = slot.link is not None and not slot.link.busy and now - slot.used > IDLE
            if (gone or idle) and slot.connecting is None:
                del self._slots[key]
                self._let_go(slot)

    def _let_go(self, slot: _Slot) -> None:
        if slot.link is not None:
            closing = asyncio.create_task(slot.link.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)


def _looked(server: Server, folder: str, values: Mapping[str, str], reach: Reach) -> Server:
    """Return the server with its program's path. Raises Refusal if it is missing or an agent could
    change it.
    """
    if isinstance(server, HttpServer):
        return server
    try:
        looked = check_program(server.command, folder, values["PATH"], reach, given_data=True)
    except FileNotFoundError as error:
        raise Refusal("server_failed", f"{error.filename}: {error.strerror}") from error
    if looked.exposed is not None:
        raise Refusal("server_unavailable", f"{looked.exposed.problem}. {looked.exposed.remedy}")
    return msgspec.structs.replace(server, command=looked.command)


def _state(slot: _Slot, taken: ToolSelection) -> ServerState:
    link, server = slot.link, slot.server
    state = ServerState(
        name=server.name,
        transport="http" if isinstance(server, HttpServer) else "stdio",
        condition="connecting" if slot.connecting is not None else "idle",
        tools=len(taken.offers) + len(taken.excluded) + taken.refused,
        refused=taken.refused,
        refusals=taken.refusals,
        deferred=server.deferred,
        said=link.log.text() if link is not None else "",
    )
    if link is not None and link.connected:
        return msgspec.structs.replace(
            state,
            condition="connected",
            title=link.title,
            version=link.version,
            protocol=link.protocol,
            prompts=link.prompts,
        )
    if slot.problem is not None or (link is not None and link.lost is not None):
        code, message = slot.why()
        condition = "connecting" if slot.connecting is not None else "lost"
        return msgspec.structs.replace(state, condition=condition, code=code, message=message)
    return state
