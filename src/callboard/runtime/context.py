"""What a model is told: the facts of a thread as messages. Text held by ref is read back; nothing is copied into facts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from callboard.contracts.content import Text
from callboard.contracts.facts import (
    InboxConsumed,
    InboxReserved,
    MessageInterrupted,
    MessageText,
    ModelRequested,
    QueueEdited,
    ReasoningCompleted,
    SteerAccepted,
    SteerRequested,
    SubagentIsolated,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    TurnStarted,
    TurnSubmitted,
)
from callboard.contracts.ports.model import (
    Content,
    ModelMessage,
    ReasoningContent,
    Role,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)
from callboard.contracts.ports.store import BlobStore
from callboard.contracts.record import Record

from .told import Told

#: What an agent that works on its own is told when it answered with text alone.
GO_ON = "Go on with the objective. When it is met, call Finalize with a summary."
#: What an agent is told that has a worktree of its own.
OWN_FOLDER = (
    "Your folder is a git worktree of your own, {path}, and not the one named before. Paths are relative to it. What you "
    "change is committed and merged by the agent that gave you your objective."
)
#: What an agent is told of a call whose host died.
LOST = "Its outcome is unknown: the process that ran it ended. Check before doing it again."


@dataclass
class _Turn:
    """The messages of one turn. `first` is the sequence of its start."""

    first: int
    messages: list[ModelMessage] = field(default_factory=list[ModelMessage])


class Context:
    """The conversation of one thread, kept as its facts come; turns that a model call leaves out fall out at the front."""

    def __init__(self, thread: str, blobs: BlobStore) -> None:
        self._thread = thread
        self._blobs = blobs
        self._inputs: dict[str, Text] = {}
        self._steers: dict[str, Text] = {}
        self._tools: dict[str, str] = {}
        self._turns: deque[_Turn] = deque()
        self._told = Told(thread, self._whole)
        self._head = 0

    def messages(self) -> tuple[ModelMessage, ...]:
        """The conversation so far, oldest first."""
        return tuple(message for turn in self._turns for message in turn.messages)

    def newest(self) -> tuple[ModelMessage, ...]:
        """Those of the newest turn."""
        return tuple(self._turns[-1].messages) if self._turns else ()

    async def add(self, record: Record) -> None:
        """Takes the next fact of the session that is the thread's, or was sent to it."""
        self._head = record.sequence
        await self._told.take(record)
        if record.scope.thread == self._thread:
            await self._take(record)

    async def _take(self, record: Record) -> None:
        match record.fact:
            case TurnSubmitted() as fact:
                self._inputs[record.scope.turn] = fact.input
            case QueueEdited() as fact:
                self._inputs[record.scope.turn] = fact.input
            case TurnStarted():
                text = self._inputs.pop(record.scope.turn, Text(text="(this input is no longer there)"))
                self._turns.append(_Turn(first=record.sequence))
                if text.text:
                    self._say("user", TextContent(await self._whole(text)))
            case SteerRequested() as fact:
                self._steers[fact.steer_id] = fact.input
            case SteerAccepted() as fact:
                text = self._steers.pop(fact.steer_id, None)
                if text is not None:
                    self._say("user", TextContent(await self._whole(text)))
            case ModelRequested() as fact:
                self._asked(fact.context_after)
            case MessageText() | MessageInterrupted() as fact:
                self._say("assistant", TextContent(await self._whole(fact.content)))
            case ReasoningCompleted() as fact:
                self._say("assistant", ReasoningContent(await self._whole(fact.content), fact.signature))
            case ToolRequested() as fact:
                self._tools[record.scope.tool_call] = fact.tool
                arguments = await self._whole(fact.arguments)
                self._say("assistant", ToolCallContent(record.scope.tool_call, fact.tool, arguments, fact.signature))
            case InboxReserved() as fact:
                self._say("user", TextContent(self._told.say(fact)))
            case _:
                await self._take_result(record)

    def _asked(self, after: int) -> None:
        while len(self._turns) > 1 and self._turns[0].first <= after:
            self._turns.popleft()
        if self._last_role() == "assistant":
            self._say("user", TextContent(GO_ON))

    async def _take_result(self, record: Record) -> None:
        match record.fact:
            case ToolCompleted() as fact:
                self._result(record, await self._whole(fact.output), failed=False)
            case ToolFailed() as fact:
                printed = await self._whole(fact.output)
                self._result(record, f"{fact.message}\n{printed}".rstrip(), failed=True)
            case ToolRefused() as fact:
                self._result(record, f"Refused: {fact.message}", failed=True)
            case SubagentIsolated(path=path):
                self._say("user", TextContent(OWN_FOLDER.format(path=path)))
            case InboxConsumed() as fact:
                self._told.forget(fact.items)
            case ToolCancelled():
                self._result(record, "Cancelled before it was done.", failed=True)
            case ToolLost():
                self._result(record, LOST, failed=True)
            case _:
                pass

    def _result(self, record: Record, text: str, *, failed: bool) -> None:
        call = record.scope.tool_call
        self._say("tool", ToolResultContent(call, self._tools.pop(call, ""), text, failed))

    def _say(self, role: Role, content: Content) -> None:
        if not self._turns:
            self._turns.append(_Turn(first=self._head))
        messages = self._turns[-1].messages
        if role == "assistant" and messages and messages[-1].role == "assistant":
            messages[-1] = ModelMessage(role=role, content=(*messages[-1].content, content))
        else:
            messages.append(ModelMessage(role=role, content=(content,)))

    def _last_role(self) -> Role | None:
        messages = self._turns[-1].messages if self._turns else []
        return messages[-1].role if messages else None

    async def _whole(self, text: Text) -> str:
        if text.ref is None:
            return text.text
        data = await self._blobs.get(text.ref.hash)
        return text.text if data is None else data.decode("utf-8", "replace")
