"""Client side of the protocol: messages and requests of an agent as one ordered queue of events."""

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
from .translation import ToolCallTracker, convert_update

#: Limits of the queue: number of events, and bytes of their messages. At a limit no more is read from the agent.
MAX_WAITING = 1000
_MAX_BYTES = 64 * 1024 * 1024


class AcpClient:
    """Queue the agent's updates and requests. To keep their order, no method waits before its event is queued.

    Updates outside a prompt are dropped, because an agent repeats a conversation that it loads. Messages of other
    conversations than `conversation` are dropped too. `conversation` is empty until one is open.
    """

    def __init__(self) -> None:
        self.events: asyncio.Queue[ExternalEvent | None] = asyncio.Queue()
        self.listening = False
        self.conversation = ""
        self.settings = SettingsController()
        self._has_space = asyncio.Event()
        self._waiting_bytes = 0
        self._calls = ToolCallTracker()
        self._options: dict[int, list[schema.PermissionOption]] = {}
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._next = 1

    async def read_event(self) -> ExternalEvent | None:
        """Return the next event; None after the last one of a prompt."""
        event = await self.events.get()
        self._has_space.set()
        return event

    async def wait_for_space(self, size: int) -> None:
        """Wait while the queue is full, so that a flood fills the agent's pipe and not this process.

        Args:
            size: Size of the next message in bytes.
        """
        # Let the events of earlier messages enter the queue first.
        await asyncio.sleep(0)
        self._waiting_bytes = size if self.events.empty() else self._waiting_bytes + size
        while self.listening and self._is_full():
            self._has_space.clear()
            await self._has_space.wait()

    def stop_listening(self) -> None:
        """Drop further updates, because the prompt has ended."""
        self.listening = False
        self._has_space.set()

    def permit(self, key: int, answer: PermissionAnswer) -> None:
        """Answer a request for permission. A second answer has no effect."""
        options = self._options.pop(key, [])
        chosen = _select_option(options, answer)
        outcome = (
            schema.DeniedOutcome(outcome="cancelled")
            if chosen is None
            else schema.AllowedOutcome(outcome="selected", option_id=chosen)
        )
        self._settle(key, schema.RequestPermissionResponse(outcome=outcome))

    def answer_file_request(self, key: int, text: str, refusal: str, *, missing: bool = False) -> None:
        """Answer a request to read or write a file."""
        if missing:
            # By this answer agents know whether they create or change a file.
            self._settle(key, "" if self.settings.missing_is_empty else RequestError.resource_not_found())
        elif refusal:
            self._settle(key, RequestError.invalid_params({"details": refusal}))
        else:
            self._settle(key, text)

    def withdraw(self) -> None:
        """Cancel all open requests."""
        for key in list(self._waiting):
            if key in self._options:
                self.permit(key, "cancelled")
            else:
                self.answer_file_request(key, "", "The turn was stopped.")

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        """Queue the event of an update."""
        if not self._is_own(session_id):
            return
        changed = self.settings.apply_update(update)
        if changed and self.listening:
            self.events.put_nowait(SettingsReported(self.settings.current, self.settings.allowed))
        event = convert_update(update, self._calls)
        if event is not None and self.listening:
            self.events.put_nowait(event)

    async def request_permission(
        self, session_id: str, tool_call: schema.ToolCallUpdate, options: list[schema.PermissionOption], **kwargs: Any
    ) -> schema.RequestPermissionResponse:
        """Queue a request for permission, and wait for the answer."""
        if not self._is_own(session_id):
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        key, answer = self._open_request()
        self._options[key] = options
        if not self.listening:
            self.permit(key, "cancelled")
        self.events.put_nowait(PermissionRequested(key, self._calls.apply(tool_call)))
        return await answer

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **kwargs: Any
    ) -> schema.ReadTextFileResponse:
        """Queue a request to read a file, and wait for the answer."""
        self._require_prompt(session_id)
        key, answer = self._open_request()
        self.events.put_nowait(ReadRequested(key, path, line, limit))
        return schema.ReadTextFileResponse(content=await answer)

    async def write_text_file(
        self, session_id: str, path: str, content: str, **kwargs: Any
    ) -> schema.WriteTextFileResponse | None:
        """Queue a request to write a file, and wait for the answer.

        Some agents write files themselves, in a call that a person approved, and only send a copy. Their request is
        accepted without an event.
        """
        if self.settings.writes_itself:
            return schema.WriteTextFileResponse()
        self._require_prompt(session_id)
        key, answer = self._open_request()
        self.events.put_nowait(WriteRequested(key, path, content))
        await answer
        return schema.WriteTextFileResponse()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Reject a method outside the protocol."""
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore a notification outside the protocol."""

    def on_connect(self, conn: Agent) -> None:
        """Do nothing: the session uses the connection."""

    def _is_own(self, session_id: str) -> bool:
        return not self.conversation or session_id == self.conversation

    def _is_full(self) -> bool:
        waiting = self.events.qsize()
        return waiting >= MAX_WAITING or (waiting > 0 and self._waiting_bytes > _MAX_BYTES)

    def _require_prompt(self, session_id: str) -> None:
        """Reject a request outside a prompt of this conversation. No caller would answer it."""
        if not self._is_own(session_id):
            raise RequestError.invalid_params({"details": "Unknown session."})
        if not self.listening:
            raise RequestError.invalid_params({"details": "No turn is running. Repeat the request in the next turn."})

    def _open_request(self) -> tuple[int, asyncio.Future[Any]]:
        key, self._next = self._next, self._next + 1
        answer = self._waiting[key] = asyncio.get_running_loop().create_future()
        return key, answer

    def _settle(self, key: int, answer: Any) -> None:
        waiting = self._waiting.pop(key, None)
        if waiting is None or waiting.done():
            return
        if isinstance(answer, Exception):
            waiting.set_exception(answer)
        else:
            waiting.set_result(answer)


def _select_option(options: list[schema.PermissionOption], answer: PermissionAnswer) -> str | None:
    """Return the option of an answer. Prefer once over always, so that the agent asks again for the next call."""
    for kind in {"allow": ("allow_once", "allow_always"), "reject": ("reject_once", "reject_always")}.get(answer, ()):
        for option in options:
            if str(option.kind) == kind:
                return option.option_id
    return None
