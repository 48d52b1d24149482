"""Callboard in this process, with its real runtime, store and views, and a model without latency."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from bench.peers import SYNCHRONOUS
from bench.rigs.conversation import ANSWER, ARGUMENTS, NOTES, PROMPT, TOOL
from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.base import Command
from callboard.contracts.commands.session import OpenWorkspace
from callboard.contracts.commands.turn import SubmitTurn, TurnAccepted
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.ports.agents import Definitions
from callboard.contracts.ports.model import (
    Finished,
    Model,
    ModelEvent,
    ModelRequest,
    Models,
    Route,
    TextDelta,
    ToolCallDelta,
    ToolSpec,
    Usage,
)
from callboard.contracts.ports.tools import Evaluation, Reporter, Toolbox, ToolCall, ToolContext, ToolOutcome
from callboard.contracts.scope import PERSON
from callboard.log.live import InProcessLiveFeed
from callboard.log.sqlite.store import open_store
from callboard.runtime.dependencies import Dependencies, Limits
from callboard.runtime.runtime import Runtime
from callboard.tools.toolbox import FolderToolbox

USAGE = Usage(input_tokens=1200, output_tokens=80)
ENDS = ("turn.completed", "turn.failed", "turn.interrupted")
#: A prompt of this prefix and a file name makes the model call Write, which asks a person.
WRITES = "write "


class AtOnce:
    """A model without latency: a tool call, then a text."""

    provider, name, label = "bench", "at-once", "at once"
    window: int | None = None
    images = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        if request.messages[-1].role == "tool":
            yield TextDelta(0, ANSWER)
            yield Finished(stop_reason="stop", usage=USAGE)
            return
        tool, arguments = TOOL, ARGUMENTS
        words: str = getattr(request.messages[-1].content[-1], "text", "")
        if words.startswith(WRITES):
            tool, arguments = "Write", {"file_path": words.removeprefix(WRITES), "content": "hello\n"}
        yield ToolCallDelta(0, "call_1", tool, json.dumps(arguments))
        yield Finished(stop_reason="tool_calls", usage=USAGE)

    def choose_route(self, wanted: str) -> Route:
        return Route(candidates=((self.provider, self.name),), chosen=0, reason="It is the only one.")

    def get_model(self, provider: str, name: str) -> AtOnce:
        return self


class OneModel:
    """A single configured model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def choose_route(self, wanted: str) -> Route:
        return Route(candidates=((self._model.provider, self._model.name),), chosen=0, reason="It is the only one.")

    def get_model(self, provider: str, name: str) -> Model:
        return self._model


def _read_settings(connection: sqlite3.Connection) -> list[str]:
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    (level,) = connection.execute("PRAGMA synchronous").fetchone()
    return [mode, SYNCHRONOUS[level]]


class PlainTool(FolderToolbox):
    """A single function as the only tool, without a gate, like the tools of the peers."""

    def list_specs(self, context: ToolContext) -> tuple[ToolSpec, ...]:
        text = {"type": "string"}
        schema: dict[str, Any] = {"type": "object", "properties": {"file_path": text}, "required": ["file_path"]}
        return (ToolSpec(name=TOOL, description="Reads a file.", schema=schema),)

    async def evaluate(self, call: ToolCall, context: ToolContext) -> Evaluation:
        return Evaluation(
            verdict="allow",
            risk="low",
            read_only=True,
            arguments=call.arguments,
            arguments_hash="",
            summary="notes.md",
            checks=(),
            sandbox=SandboxApplied(level="none", network=False),
        )

    async def run(
        self, call: ToolCall, evaluation: Evaluation, context: ToolContext, reporter: Reporter
    ) -> ToolOutcome:
        return ToolOutcome(output=NOTES)


class Board:
    """A runtime with one workspace, `folder/work`; its store is `folder/state`."""

    def __init__(
        self,
        folder: Path,
        tools: Callable[[], Toolbox] = FolderToolbox,
        models: Models | None = None,
        definitions: Definitions | None = None,
        **limits: Any,
    ) -> None:
        self.work = folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        (self.work / "notes.md").write_text(NOTES)
        self.store = store = open_store(folder / "state")
        self.parts = Dependencies(
            store=store,
            feed=InProcessLiveFeed(store.facts.read_head),
            models=models or AtOnce(),
            toolbox=tools(),
            definitions=definitions or FolderDefinitions(),
            limits=Limits(**limits),
        )
        self.runtime = Runtime(self.parts)
        self.workspace = ""

    async def open(self) -> None:
        await self.runtime.__aenter__()
        self.workspace = (await self.do(OpenWorkspace(path=str(self.work)))).workspace_id

    async def close(self) -> None:
        await self.runtime.__aexit__()

    async def do(self, command: Command) -> Any:
        """Submit a command as the person."""
        return await self.runtime.commands.submit(command, actor=PERSON)

    async def submit(self, session: str | None, text: str = PROMPT, **more: Any) -> TurnAccepted:
        """Submit a turn, to a new session if none is named."""
        workspace = None if session else self.workspace
        return await self.do(SubmitTurn(text=text, session_id=session, workspace_id=workspace, **more))

    async def until(self, accepted: TurnAccepted, types: tuple[str, ...] = ENDS) -> str:
        """Wait for a fact of one of these types after the turn was accepted; return the type."""
        stream = self.parts.store.facts.subscribe(accepted.session_id, after=accepted.sequence - 1)
        try:
            async for records in stream:
                for record in records:
                    if record.header.type in types:
                        return record.header.type
        finally:
            await stream.aclose()
        raise RuntimeError("the store was closed")


class Peer:
    """Callboard behind the interface of `bench.peers`."""

    tools: Callable[[], Toolbox] = FolderToolbox

    def __init__(self, **limits: Any) -> None:
        self._limits = limits

    async def open(self, folder: Path) -> None:
        self._board = Board(folder, self.tools, **self._limits)
        self._sessions: dict[str, str] = {}
        await self._board.open()

    async def turn(self, session: str) -> None:
        accepted = await self._board.submit(self._sessions.get(session))
        self._sessions[session] = accepted.session_id
        ended = await self._board.until(accepted)
        if ended != "turn.completed":
            raise RuntimeError(f"the turn ended with {ended}")

    async def read_settings(self) -> list[str]:
        writer = self._board.store._writer
        if writer is None:
            raise RuntimeError("the store cannot be written")
        return await writer.submit(_read_settings)

    async def close(self) -> None:
        await self._board.close()


class PlainPeer(Peer):
    """Callboard with a plain function in place of gate and tools."""

    tools: Callable[[], Toolbox] = PlainTool
