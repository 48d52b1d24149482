"""A conversation with a remote agent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import httpx
from a2a.client import Client
from a2a.types.a2a_pb2 import AgentCard

from callboard.contracts.ports.external import RemoteEvent

from .card import encode_card
from .pace import Pace
from .task_follower import TaskFollower
from .translation import to_single_line


class A2aSession:
    """Implement the port `RemoteSession`. No connection stays open between prompts."""

    def __init__(
        self, url: str, client: Client, http: httpx.AsyncClient, card: AgentCard, resume: str, pace: Pace
    ) -> None:
        self.url = url
        self.id = resume
        self.name = to_single_line(card.name) or "unnamed"
        self.version = to_single_line(card.version, 50)
        self.resumed = bool(resume)
        self.card = encode_card(card)
        self._client = client
        self._http = http
        self._streams = card.capabilities.streaming
        self._pace = pace
        self._follower: TaskFollower | None = None
        self._closed = asyncio.Event()

    @property
    def alive(self) -> bool:
        """Return True until the session is closed. The agent itself is not polled between prompts."""
        return not self._closed.is_set()

    async def wait_for_end(self) -> str:
        """Wait until the session is closed, and return the reason."""
        await self._closed.wait()
        return "the session was closed"

    async def prompt(self, text: str, *, task: str = "", more: str = "") -> AsyncGenerator[RemoteEvent]:
        """Send the next input and yield the agent's events.

        Args:
            task: Id of a task to continue; empty for a new one.
            more: Message to send to the task that is continued.
        Raises:
            ExternalFailure: `remote_unavailable` or `remote_refused`.
        """
        follower = self._follower = TaskFollower(
            self._client,
            streams=self._streams,
            pace=self._pace,
            conversation=self.id,
            on_conversation=self._set_conversation,
        )
        try:
            async with contextlib.aclosing(follower.follow_prompt(text, task, more)) as events:
                async for event in events:
                    yield event
        finally:
            self._follower = None

    def answer(self, text: str) -> bool:
        """Send the input that the agent waits for. Return False if it waits for none."""
        return self._follower is not None and self._follower.answer(text)

    async def cancel(self) -> None:
        """Ask the agent to cancel its task. Raises ExternalFailure."""
        if self._follower is not None:
            await self._follower.cancel()

    async def close(self) -> None:
        """Close the connections. The agent continues its task."""
        if not self._closed.is_set():
            self._closed.set()
            await self._http.aclose()

    def _set_conversation(self, conversation: str) -> None:
        """Store the agent's id of the conversation. A different id than the requested one is a new conversation."""
        if self.id and conversation != self.id:
            self.resumed = False
        self.id = conversation
