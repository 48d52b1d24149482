"""Our side of the protocol: what an agent tells and asks goes into one line of events, in the order in which it came."""

from __future__ import annotations

import asyncio
from typing import Any

from acp import RequestError, schema
from acp.interfaces import Agent

from callboard.contracts.ports.external import (
    ExternalEvent,
    PermissionAnswer,
    PermissionRequested,
    ReadRequested,
    SettingsReported,
    WriteRequested,
)

from .settings import SettingsController
from .translation import ToolCallTracker, event_from_update

#: Events that wait to be taken before no more is read from the agent: their number, and the bytes of their messages.
MOST_WAITING = 1000
_MOST_BYTES = 64 * 1024 * 1024


class AcpClient:
    """Takes what the agent says. Nothing here waits before an event is in the line, so that their order is kept.

    Updates outside a prompt are dropped: an agent repeats a conversation that it loads. So is every message of another
    conversation than `conversation`, which is empty until there is one. It has the methods of the protocol's client that this
    client announces.
    """

    def __init__(self) -> None:
        self.events: asyncio.Queue[ExternalEvent | None] = asyncio.Queue()
        self.listening = False
        self.conversation = ""
        self.settings = SettingsController()
        self._room = asyncio.Event()
        self._waiting_bytes = 0
        self._calls = ToolCallTracker()
        self._options: dict[int, list[schema.PermissionOption]] = {}
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._next = 1

    async def next_event(self) -> ExternalEvent | None:
        """Take the next event; None after the last of a prompt."""
        event = await self.events.get()
        self._room.set()
        return event

    async def wait_for_room(self, size: int) -> None:
        """Wait while too much waits to be taken: an agent that floods fills its own pipe, and not this process.

        Args:
            size: Size of the next message in bytes.
        """
        # The events of the messages before come into the line first.
        await asyncio.sleep(0)
        self._waiting_bytes = size if self.events.empty() else self._waiting_bytes + size
        while self.listening and self._is_full():
            self._room.clear()
            await self._room.wait()

    def stop_listening(self) -> None:
        """The prompt is over."""
        self.listening = False
        self._room.set()

    def permit(self, key: int, answer: PermissionAnswer) -> None:
        """Answers a request for permission. What was answered already stays as it was."""
        options = self._options.pop(key, [])
        chosen = _option(options, answer)
        outcome = (
            schema.DeniedOutcome(outcome="cancelled")
            if chosen is None
            else schema.AllowedOutcome(outcome="selected", option_id=chosen)
        )
        self._settle(key, schema.RequestPermissionResponse(outcome=outcome))

    def give(self, key: int, text: str, refusal: str, *, missing: bool = False) -> None:
        """Answers a read or a write."""
        if missing:
            # Agents find out from this whether they make a file or change one.
            self._settle(key, "" if self.settings.missing_is_empty else RequestError.resource_not_found())
        elif refusal:
            self._settle(key, RequestError.invalid_params({"details": refusal}))
        else:
            self._settle(key, text)

    def withdraw(self) -> None:
        """Answers all that waits as cancelled."""
        for key in list(self._waiting):
            if key in self._options:
                self.permit(key, "cancelled")
            else:
                self.give(key, "", "The turn was stopped.")

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        """What the agent tells."""
        if not self._is_mine(session_id):
            return
        changed = self.settings.apply_update(update)
        if changed and self.listening:
            self.events.put_nowait(SettingsReported(self.settings.current, self.settings.allowed))
        found = event_from_update(update, self._calls)
        if found is not None and self.listening:
            self.events.put_nowait(found)

    async def request_permission(
        self, session_id: str, tool_call: schema.ToolCallUpdate, options: list[schema.PermissionOption], **kwargs: Any
    ) -> schema.RequestPermissionResponse:
        """The agent asks whether a call may go on."""
        if not self._is_mine(session_id):
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        key, waiting = self._ask()
        self._options[key] = options
        if not self.listening:
            self.permit(key, "cancelled")
        self.events.put_nowait(PermissionRequested(key, self._calls.apply(tool_call)))
        return await waiting

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **kwargs: Any
    ) -> schema.ReadTextFileResponse:
        """The agent wants a file."""
        self._must_be_prompted(session_id)
        key, waiting = self._ask()
        self.events.put_nowait(ReadRequested(key, path, line, limit))
        return schema.ReadTextFileResponse(content=await waiting)

    async def write_text_file(
        self, session_id: str, path: str, content: str, **kwargs: Any
    ) -> schema.WriteTextFileResponse | None:
        """The agent wants a file changed. One that writes by itself only shows what it writes, within a call that asked."""
        if self.settings.writes_itself:
            return schema.WriteTextFileResponse()
        self._must_be_prompted(session_id)
        key, waiting = self._ask()
        self.events.put_nowait(WriteRequested(key, path, content))
        await waiting
        return schema.WriteTextFileResponse()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Methods outside the protocol are not known here."""
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """What is told outside the protocol says nothing to us."""

    def on_connect(self, conn: Agent) -> None:
        """The connection is used by the session."""

    def _is_mine(self, session_id: str) -> bool:
        return not self.conversation or session_id == self.conversation

    def _is_full(self) -> bool:
        waiting = self.events.qsize()
        return waiting >= MOST_WAITING or (waiting > 0 and self._waiting_bytes > _MOST_BYTES)

    def _must_be_prompted(self, session_id: str) -> None:
        """Refuse what belongs to no turn of this conversation: no event of it is taken, so it would wait for ever."""
        if not self._is_mine(session_id):
            raise RequestError.invalid_params({"details": "That is no session of this client."})
        if not self.listening:
            raise RequestError.invalid_params({"details": "No turn is under way. Ask again in the next one."})

    def _ask(self) -> tuple[int, asyncio.Future[Any]]:
        key, self._next = self._next, self._next + 1
        waiting = self._waiting[key] = asyncio.get_running_loop().create_future()
        return key, waiting

    def _settle(self, key: int, answer: Any) -> None:
        waiting = self._waiting.pop(key, None)
        if waiting is None or waiting.done():
            return
        if isinstance(answer, Exception):
            waiting.set_exception(answer)
        else:
            waiting.set_result(answer)


def _option(options: list[schema.PermissionOption], answer: PermissionAnswer) -> str | None:
    """The option that says this and no more: once rather than always, so that the next call is asked about again."""
    for kind in {"allow": ("allow_once", "allow_always"), "reject": ("reject_once", "reject_always")}.get(answer, ()):
        for option in options:
            if str(option.kind) == kind:
                return option.option_id
    return None
