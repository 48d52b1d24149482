"""Connections to the servers of all folders, opened before a run, retried, and closed when idle."""

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
from callboard.contracts.text.sentences import to_clause, to_sentence

from ..unsandboxed.reach import Reach, check_program
from ..unsandboxed.variables import build_base_environment
from . import names
from .tool_selection import ToolOffer, ToolSelection, select_tools

if TYPE_CHECKING:
    from .connection import Link

log = logging.getLogger(__name__)

#: Seconds that a run waits for servers before it starts without them.
PATIENCE = 10.0
#: Seconds until a disconnected server is retried: first, and at most.
_FIRST_DELAY_SECONDS, _MAX_DELAY_SECONDS = 1.0, 60.0
#: Seconds until an unused connection is closed.
IDLE = 900.0


class McpCatalog(NamedTuple):
    """Tools of servers for a folder.

    Attributes:
        offers: Tools by name, including those of disconnected servers.
        excluded: Tools that the settings exclude, with their server.
        missing: Disconnected servers with the reason, by their part of tool names.
    """

    offers: Mapping[str, ToolOffer] = {}
    excluded: Mapping[str, str] = {}
    missing: Mapping[str, tuple[str, str]] = {}

    def find_outage(self, server: str) -> str:
        """Return why the server is disconnected; empty if it is connected."""
        return next((why for name, why in self.missing.values() if name == server), "")


class _Slot:
    """One server for one folder. `selection` has its tools at the last connection."""

    def __init__(self, server: Server, folder: str) -> None:
        self.server = server
        self.folder = folder
        self.link: Link | None = None
        self.connecting: asyncio.Task[None] | None = None
        self.started = self.last_used = 0.0
        self.failures = 0
        self.problem: Refusal | None = None
        self.selection = ToolSelection({})
        self._read_version = (0, "")

    @property
    def connected(self) -> bool:
        return self.link is not None and self.link.connected

    def read_selection(self, part: str) -> ToolSelection:
        """Return the server's tools. `part` represents the server in their names."""
        link = self.link
        if link is not None and link.connected and self._read_version != (link.changes, part):
            self.selection = select_tools(self.server, part, link.declared)
            self._read_version = (link.changes, part)
        return self.selection

    def forget(self) -> None:
        """Read the declarations of a new connection again."""
        self._read_version = (0, "")

    def explain(self) -> tuple[str, str]:
        """Return the code and the text for a disconnected server."""
        if self.problem is not None:
            return self.problem.code, self.problem.problem.message
        lost = self.link.lost if self.link is not None else None
        if lost is not None:
            return lost.code, lost.message
        return "server_unavailable", "it is connecting" if self.connecting else "no call has used it yet"


def _get_served_folder(context: ToolContext) -> str:
    return context.trusted_folder or context.folder


class ToolServers:
    """Connections to tool servers.

    Args:
        reveal: Returns the value of a server's setting. Raises Refusal if it is missing.
        patience: Seconds that a run waits for servers.
        start_folder: Returns the folder in which a server starts.
        new_redactor: Returns a new redactor for a server's text.
        reach: Returns the folders where agents could change its program.
    """

    def __init__(
        self,
        reveal: Callable[[Server, str], str],
        patience: float,
        start_folder: Callable[[Server, str], str],
        new_redactor: Callable[[], StreamRedaction],
        reach: Callable[[Server, str], Reach],
    ) -> None:
        self._reveal = reveal
        self._new_redactor = new_redactor
        self._start_folder = start_folder
        self._reach = reach
        self._patience = patience
        self._slots: dict[tuple[str, bytes], _Slot] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def prepare(self, context: ToolContext, *, whole: bool = False) -> None:
        """Connect to disconnected servers whose retry is due, within the patience.

        `whole`: wait until each is connected or lost.
        """
        now = time.monotonic()
        self._close_unused(context, now)
        waiting: list[asyncio.Task[None]] = []
        for slot in self._list_slots(context):
            slot.last_used = now
            if slot.connected:
                continue
            delay = min(_FIRST_DELAY_SECONDS * 2 ** (slot.failures - 1), _MAX_DELAY_SECONDS) if slot.failures else 0.0
            if slot.connecting is None and now >= slot.started + delay:
                self._start_connecting(slot)
            if slot.connecting is not None and (whole or slot.started + self._patience > now):
                waiting.append(slot.connecting)
        if waiting:
            await asyncio.wait(waiting, timeout=None if whole else self._patience)

    async def prepare_for(self, context: ToolContext, tool: str) -> None:
        """Prepare for a call of the tool: wait until its server is connected or lost."""
        await self.prepare(context)
        parts = names.map_servers(server.name for server in context.servers)
        for slot in self._list_slots(context):
            if slot.connecting is not None and tool.startswith(f"{names.PREFIX}{parts[slot.server.name]}__"):
                await asyncio.wait([slot.connecting])

    async def reconnect(self, context: ToolContext, name: str) -> ServerState:
        """Disconnect and connect again. Raises Refusal `unknown_server`."""
        slot = next((candidate for candidate in self._list_slots(context) if candidate.server.name == name), None)
        if slot is None:
            available = ", ".join(server.name for server in context.servers) or "none"
            raise Refusal(
                "unknown_server", f"There is no server {name} here.", field="server", hint=f"There are: {available}."
            )
        if slot.connecting is None:
            slot.failures = 0
        await asyncio.wait([slot.connecting or self._start_connecting(slot)], timeout=self._patience)
        return next(candidate for candidate in self.states(context) if candidate.name == name)

    def read_catalog(self, context: ToolContext) -> McpCatalog:
        """Return the current tools of the context's servers."""
        offers: dict[str, ToolOffer] = {}
        excluded: dict[str, str] = {}
        missing: dict[str, tuple[str, str]] = {}
        parts = names.map_servers(server.name for server in context.servers)
        for slot in self._list_slots(context):
            part = parts[slot.server.name]
            selection = slot.read_selection(part)
            offers.update(selection.offers)
            excluded.update(dict.fromkeys(selection.excluded, slot.server.name))
            if not slot.connected:
                missing[part] = slot.server.name, f"the server {slot.server.name} is disconnected: {slot.explain()[1]}"
        return McpCatalog(offers, excluded, missing)

    def states(self, context: ToolContext) -> tuple[ServerState, ...]:
        """Return the current state of the context's servers, in the order of the settings."""
        parts = names.map_servers(server.name for server in context.servers)
        return tuple(
            _to_state(slot, slot.read_selection(parts[slot.server.name])) for slot in self._list_slots(context)
        )

    async def call(
        self, context: ToolContext, tool: ToolOffer, arguments: dict[str, object], reporter: Reporter
    ) -> ToolOutcome:
        """Call a server's tool."""
        slot = next(
            (candidate for candidate in self._list_slots(context) if candidate.server.name == tool.server), None
        )
        if slot is None or slot.link is None or not slot.connected:
            reason = slot.explain()[1] if slot is not None else "it was removed from the settings"
            raise Refusal(
                "server_unavailable",
                f"The server {tool.server} is disconnected: {to_clause(reason)}. The call did not run.",
                hint="A person can connect it again with reconnect_server.",
            )
        slot.last_used = time.monotonic()
        try:
            return await slot.link.call(tool.tool, arguments, reporter)
        finally:
            slot.last_used = time.monotonic()

    async def close(self) -> None:
        """Disconnect from every server. Their programs have ended when this returns."""
        slots = list(self._slots.values())
        self._slots.clear()
        connecting = [slot.connecting for slot in slots if slot.connecting is not None]
        for task in connecting:
            task.cancel()
        await asyncio.gather(*connecting, return_exceptions=True)
        await asyncio.gather(*(slot.link.close() for slot in slots if slot.link is not None), *self._closing)

    def _list_slots(self, context: ToolContext) -> list[_Slot]:
        slots: list[_Slot] = []
        folder = _get_served_folder(context)
        for server in context.servers:
            key = (folder, msgspec.json.encode(server))
            slot = self._slots.get(key)
            if slot is None:
                slot = self._slots[key] = _Slot(server, folder)
            slots.append(slot)
        return slots

    def _start_connecting(self, slot: _Slot) -> asyncio.Task[None]:
        slot.started, slot.problem = time.monotonic(), None
        slot.connecting = asyncio.create_task(self._connect(slot))
        return slot.connecting

    async def _connect(self, slot: _Slot) -> None:
        """Close the former connection and open a new one."""
        try:
            if slot.link is not None:
                await slot.link.close()
            # The protocol's package is large, and importing it blocks.
            link_type: type[Link] = (await asyncio.to_thread(importlib.import_module, f"{__package__}.connection")).Link
            slot.forget()
            folder, values = self._start_folder(slot.server, slot.folder), self._reveal_values(slot.server)
            server = await asyncio.to_thread(
                _check_server, slot.server, folder, values, self._reach(slot.server, slot.folder)
            )
            slot.link = link = link_type(server, folder, values, self._new_redactor, slot.folder)
            await link.wait_connected()
        except Refusal as refusal:
            slot.problem = refusal
        except Exception as error:
            log.exception("connecting to %s failed", slot.server.name)
            slot.problem = Refusal("server_failed", f"{type(error).__name__}: {error}")
        finally:
            slot.connecting = None
            slot.failures = 0 if slot.connected else slot.failures + 1

    def _reveal_values(self, server: Server) -> dict[str, str]:
        match server:
            case StdioServer(env=env):
                return {
                    **build_base_environment(),
                    **{name: self._reveal(server, value) for name, value in env.items()},
                }
            case HttpServer(headers=headers):
                return {name: self._reveal(server, value) for name, value in headers.items()}

    def _close_unused(self, context: ToolContext, now: float) -> None:
        """Close idle connections, and those to servers that were removed from the settings."""
        folder = _get_served_folder(context)
        configured = {(folder, msgspec.json.encode(server)) for server in context.servers}
        for key, slot in list(self._slots.items()):
            is_removed = key[0] == folder and key not in configured
            is_idle = slot.link is not None and not slot.link.busy and now - slot.last_used > IDLE
            if (is_removed or is_idle) and slot.connecting is None:
                del self._slots[key]
                self._close_link(slot)

    def _close_link(self, slot: _Slot) -> None:
        if slot.link is not None:
            closing = asyncio.create_task(slot.link.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)


def _check_server(server: Server, folder: str, values: Mapping[str, str], reach: Reach) -> Server:
    """Return the server with the path of its program. Raises Refusal if it is missing or exposed to agents."""
    if isinstance(server, HttpServer):
        return server
    try:
        lookup = check_program(server.command, folder, values["PATH"], reach, given_data=True)
    except FileNotFoundError as error:
        message = f"its program {error.filename} was not found"
        raise Refusal("server_failed", message, hint="Install it, or correct `command`.") from error
    if lookup.exposed is not None:
        raise Refusal("server_unavailable", f"{lookup.exposed.problem}. {lookup.exposed.remedy}")
    return msgspec.structs.replace(server, command=lookup.command)


def _to_state(slot: _Slot, selection: ToolSelection) -> ServerState:
    link, server = slot.link, slot.server
    state = ServerState(
        name=server.name,
        transport="http" if isinstance(server, HttpServer) else "stdio",
        condition="connecting" if slot.connecting is not None else "idle",
        tools=len(selection.offers) + len(selection.excluded) + selection.refused,
        refused=selection.refused,
        refusals=selection.refusals,
        deferred=server.deferred,
        said=link.log.read_text() if link is not None else "",
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
        code, message = slot.explain()
        condition = "connecting" if slot.connecting is not None else "lost"
        return msgspec.structs.replace(state, condition=condition, code=code, message=to_sentence(message))
    return state
