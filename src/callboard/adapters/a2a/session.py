"""A conversation with an agent elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import httpx
from a2a.client import Client
from a2a.types.a2a_pb2 import AgentCard

from callboard.contracts.ports.external import RemoteEvent

from .card import card_json
from .following import TaskFollower
from .pace import Pace
from .translation import single_line


class A2aSession:
    """Implements the port `RemoteSession`. Nothing is kept open between prompts."""

    def __init__(
        self, url: str, client: Client, http: httpx.AsyncClient, card: AgentCard, resume: str, pace: Pace
    ) -> None:
        self.url = url
        self.id = resume
        self.name = single_line(card.name) or "unnamed"
        self.version = single_line(card.version, 50)
        self.resumed = bool(resume)
        self.card = card_json(card)
        self._client = client
        self._http = http
        self._streams = card.capabilities.streaming
        self._pace = pace
        self._following: TaskFollower | None = None
        self._closed = asyncio.Event()

    @property
    def alive(self) -> bool:
        """False once it was let go: nothing else is known of an agent that nobody asks."""
        return not self._closed.is_set()

    async def gone(self) -> str:
        """Waits until it is let go."""
        await self._closed.wait()
        return "it was let go"

    async def prompt(self, text: str, *, task: str = "", more: str = "") -> AsyncGenerator[RemoteEvent]:
        """Gives the agent its next input. Raises ExternalFailure."""
        following = self._following = TaskFollower(
            self._client, streams=self._streams, pace=self._pace, conversation=self.id, named=self._named
        )
        try:
            async with contextlib.aclosing(following.events(text, task, more)) as events:
                async for event in events:
                    yield event
        finally:
            self._following = None

    def answer(self, text: str) -> bool:
        """Answers what the agent needs."""
        return self._following is not None and self._following.answer(text)

    async def cancel(self) -> None:
        """Asks the agent to cancel its task. Raises ExternalFailure."""
        if self._following is not None:
            await self._following.cancel()

    async def close(self) -> None:
        """Lets go of the agent. A task of it goes on there."""
        if not self._closed.is_set():
            self._closed.set()
            await self._http.aclose()

    def _named(self, conversation: str) -> None:
        """The agent's own name of the conversation. Another than that which was asked for is a new one."""
        if self.id and conversation != self.id:
            self.resumed = False
        self.id = conversation
