"""Remote agent of the tests: the official SDK's server over real HTTP, scripted by a play."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from callboard.adapters.a2a import Pace

#: Short pauses for tests.
QUICK = Pace(card=10, request=20, first_pause=0.02, longest_pause=0.05, patience=0.5)


class Task:
    """A task of the peer, for a play. `input` is the text of the newest message."""

    def __init__(self, context: RequestContext, updater: TaskUpdater) -> None:
        self.input = context.get_user_input()
        self.id = updater.task_id
        self.updater = updater

    def reply(self, text: str) -> Message:
        return self.updater.new_agent_message(list(new_text_message(text).parts))


Play = Callable[[Task], Awaitable[None]]


class _Playing(AgentExecutor):
    def __init__(self, play: Play, answer: str) -> None:
        self._play = play
        self._answer = answer

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        if self._answer:
            message = new_text_message(f"{self._answer} {context.get_user_input()}", context_id=context.context_id)
            await event_queue.enqueue_event(message)
            return
        if context.current_task is None:
            assert context.message is not None
            context.message.task_id = context.task_id or ""
            context.message.context_id = context.context_id or ""
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        assert context.task_id is not None
        assert context.context_id is not None
        await self._play(Task(context, TaskUpdater(event_queue, context.task_id, context.context_id)))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id is not None
        assert context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


class Peer:
    """A running peer. `methods` are the called methods, `texts` the received messages; plays can wait for `hold`."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/"
        self.methods: list[str] = []
        self.texts: list[str] = []
        self.hold = asyncio.Event()
        self.server: uvicorn.Server | None = None
        self.running: asyncio.Task[None] | None = None

    async def stop(self) -> None:
        """Stop the server and cut all connections."""
        self.cut_connections()
        if self.server is not None and self.running is not None:
            self.server.should_exit = self.server.force_exit = True
            await self.running
            # Also cut connections that were opened in the meantime.
            self.cut_connections()

    def cut_connections(self) -> None:
        """Cut all connections, like a network failure."""
        assert self.server is not None
        for connection in list(self.server.server_state.connections):
            transport = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()


def build_card(
    url: str, *, version: str = "1.0", streaming: bool = True, binding: str = "JSONRPC", **more: Any
) -> AgentCard:
    return AgentCard(
        name="Peer",
        description="Answers.",
        version="2.1",
        capabilities=AgentCapabilities(streaming=streaming),
        supported_interfaces=[AgentInterface(url=url, protocol_binding=binding, protocol_version=version)],
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="answer", name="Answer", description="Answers.", tags=["answer"])],
        **more,
    )


async def complete_at_once(task: Task) -> None:
    await task.updater.complete()


@asynccontextmanager
async def peer(play: Play = complete_at_once, *, answer: str = "", port: int = 0, **card: Any) -> AsyncIterator[Peer]:
    """Run a peer on a free loopback port. With `answer` it answers with a message without a task."""
    listening = _listening(port)
    agent = Peer(listening.getsockname()[1])
    agent_card = build_card(agent.url, **card)
    handler = DefaultRequestHandler(
        agent_executor=_Playing(play, answer), task_store=InMemoryTaskStore(), agent_card=agent_card
    )
    routes: list[BaseRoute] = [*create_agent_card_routes(agent_card)]
    if card.get("binding") == "HTTP+JSON":
        routes += create_rest_routes(handler)
    else:
        routes += create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True)
    async with served(Starlette(routes=routes), listening, agent):
        yield agent


def complete_when_released(there: list[Peer]) -> Play:
    """Return a play that completes once `hold` of the peer is set."""

    async def play(task: Task) -> None:
        await task.updater.start_work(task.reply("Looking."))
        await there[0].hold.wait()
        await task.updater.complete(task.reply(f"Done: {task.input}"))

    return play


@asynccontextmanager
async def blocked_peer(**card: Any) -> AsyncIterator[Peer]:
    peers: list[Peer] = []
    async with peer(complete_when_released(peers), **card) as there:
        peers.append(there)
        yield there


@asynccontextmanager
async def raw_peer(app: Any) -> AsyncIterator[Peer]:
    """Run any other server in place of a peer."""
    listening = _listening(0)
    agent = Peer(listening.getsockname()[1])
    async with served(app, listening, agent):
        yield agent


@asynccontextmanager
async def served(app: Any, listening: socket.socket, agent: Peer) -> AsyncIterator[None]:
    config = uvicorn.Config(_Noting(app, agent), log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    server = agent.server = uvicorn.Server(config)
    agent.running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        async with asyncio.timeout(30):
            while not server.started:  # noqa: ASYNC110 - the server has no event for it
                await asyncio.sleep(0.005)
        yield
    finally:
        agent.hold.set()
        await agent.stop()
        listening.close()


class _Noting:
    """Record the methods and texts of requests."""

    def __init__(self, app: Any, agent: Peer) -> None:
        self._app = app
        self._agent = agent

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return

        async def noting() -> Any:
            message = await receive()
            body = message.get("body", b"")
            if body:
                self._note(body)
            return message

        await self._app(scope, noting, send)

    def _note(self, body: bytes) -> None:
        import json

        request = json.loads(body)
        self._agent.methods.append(request.get("method", ""))
        message = (request.get("params") or request).get("message")
        if message:
            self._agent.texts.append("".join(part.get("text", "") for part in message["parts"]))


def _listening(port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen(100)
    return listening
