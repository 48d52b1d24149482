"""Remote agent of the demo `remote_teammate`: a print shop that delivers a proof.

Runs as a separate process with the server of the official A2A SDK on a free loopback port, which it prints. It exits
when its standard input closes.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import textwrap

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message
from starlette.applications import Starlette

#: Characters per line, by paper size.
WIDTHS = {"A5": 56, "A6": 38}
_QUESTION = "Which paper: A5 (56 characters a line) or A6 (38)?"
_HEAD = "# "


class PrintShop(AgentExecutor):
    """Set texts. Keep the text of each task until its paper size is known."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Receive a text and ask for the paper size, or set the text in the answered size."""
        if context.message is None or context.task_id is None or context.context_id is None:
            return
        if context.current_task is None:
            context.message.task_id, context.message.context_id = context.task_id, context.context_id
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        work = TaskUpdater(event_queue, context.task_id, context.context_id)
        user_input = context.get_user_input()
        text = self._texts.get(context.task_id)
        size = next((paper for paper in WIDTHS if paper.lower() in user_input.lower()), "")
        if text is None:
            self._texts[context.task_id] = user_input
            await work.start_work(_build_message(work, "Received the text."))
        if text is None or not size:
            await work.requires_input(_build_message(work, _QUESTION))
            return
        del self._texts[context.task_id]
        await work.start_work(_build_message(work, f"Setting the text for {size}."))
        proof = set_proof(text, WIDTHS[size])
        lines = proof.count("\n") + 1
        await work.add_artifact(
            [new_text_part(proof, media_type="text/plain")],
            artifact_id="proof",
            name=f"proof-{size}.txt",
            last_chunk=True,
        )
        await work.complete(
            _build_message(work, f"The proof is set for {size}: {lines} lines of at most {WIDTHS[size]} characters.")
        )

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Discard the text."""
        if context.task_id is not None and context.context_id is not None:
            self._texts.pop(context.task_id, None)
            await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def set_proof(text: str, width: int) -> str:
    """Set a text in a column, starting at its headline if it has one."""
    lines = text.splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith(_HEAD)), 0)
    text = "\n".join(line for line in lines[start:] if not line.startswith("<"))
    blocks = [" ".join(block.split()) for block in text.split("\n\n")]
    column = [
        block.removeprefix(_HEAD).upper().center(width).rstrip()
        if block.startswith(_HEAD)
        else textwrap.fill(block, width)
        for block in blocks
        if block
    ]
    return "\n\n".join(column)


def _build_message(work: TaskUpdater, text: str) -> Message:
    return work.new_agent_message([new_text_part(text)])


def _build_card(url: str) -> AgentCard:
    skill = AgentSkill(
        id="proof", name="Set a proof", description="Sets a short text for A5 or A6 paper.", tags=["print"]
    )
    return AgentCard(
        name="Print shop",
        description="Sets short texts and delivers a proof.",
        version="1.0",
        capabilities=AgentCapabilities(streaming=True),
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[skill],
    )


async def serve() -> None:
    """Serve until standard input closes. Print the address on one line."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    card = _build_card(url)
    handler = DefaultRequestHandler(agent_executor=PrintShop(), task_store=InMemoryTaskStore(), agent_card=card)
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True)]
    config = uvicorn.Config(Starlette(routes=routes), log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    print(url, flush=True)
    await asyncio.wait((ended, serving), return_when=asyncio.FIRST_COMPLETED)
    server.should_exit = True
    await serving


if __name__ == "__main__":
    asyncio.run(serve())
