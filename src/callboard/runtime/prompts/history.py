"""The conversation of a thread, built from its facts.

Text held by reference is read from blobs. Nothing is copied into facts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from callboard.contracts.content import Text
from callboard.contracts.facts.agent import RemoteTaskChanged
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.context import CompactionCompleted, ContextResolved
from callboard.contracts.facts.exchange.inbox import InboxConsumed, InboxReserved
from callboard.contracts.facts.message import MessageInterrupted, MessageText, ReasoningCompleted
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.queue import QueueEdited, SteerAccepted, SteerRequested
from callboard.contracts.facts.subagent import SubagentIsolated
from callboard.contracts.facts.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
)
from callboard.contracts.facts.turn import TurnStarted, TurnSubmitted
from callboard.contracts.ports.model import (
    Content,
    ImageContent,
    ModelMessage,
    ReasoningContent,
    Role,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)
from callboard.contracts.ports.store import BlobStore
from callboard.contracts.record import Record

from .content_renderer import ContentRenderer, Pinned, has_image, replace_images
from .conversation_lines import ConversationLines, Entry
from .pending_messages import RECEIVED, PendingMessages
from .stored_history import HistoryState

#: Sent to an autonomous agent that responded with text alone.
CONTINUE = "Continue with the objective. When it is met, call `finalize` with a summary."
#: Sent to an agent with its own worktree.
OWN_WORKTREE = (
    "Your folder is your own git worktree, {path}. It replaces the folder named before. Paths are relative to it. "
    "The agent that gave you your objective commits and merges your changes."
)
#: The result of a call whose process ended.
LOST_OUTCOME = (
    "The outcome is unknown because the process that ran the call ended. Check the result before you repeat the call."
)
#: Replaces the summarised messages.
SUMMARY = "<summary>\nSummary of the conversation so far{beside}:\n\n{text}\n</summary>"
#: Added if recent messages of people are kept as well.
_EXCERPTS_FOLLOW = ". The newest messages of people are included in full beside it"

#: Facts of a thread that change its conversation. Others only move its sequence.
APPLIED: frozenset[type[Fact]] = frozenset(
    {
        TurnSubmitted,
        QueueEdited,
        TurnStarted,
        ContextResolved,
        SteerRequested,
        SteerAccepted,
        ModelRequested,
        MessageText,
        MessageInterrupted,
        ReasoningCompleted,
        ToolRequested,
        InboxReserved,
        CompactionCompleted,
        ToolCompleted,
        ToolFailed,
        ToolRefused,
        SubagentIsolated,
        InboxConsumed,
        RemoteTaskChanged,
        ToolCancelled,
        ToolLost,
    }
)
_MISSING_INPUT = Text(text="(this input no longer exists)")


class History:
    """The conversation of one thread, extended with each fact.

    Turns that a model call omits are dropped from the front. So are summarised turns, except the
    input of the current turn and the messages that the summary keeps in full. `read` returns the
    facts of those messages. With a state, it continues after the fact of that state.
    """

    def __init__(
        self,
        thread: str,
        blobs: BlobStore,
        read: Callable[[int], Awaitable[Record | None]],
        state: HistoryState | None = None,
    ) -> None:
        state = state or HistoryState()
        self._thread = thread
        self._read = read
        self._renderer = ContentRenderer(blobs, state.pinned, state.outputs)
        self._inputs: dict[str, TurnSubmitted | QueueEdited] = {**state.inputs, **state.edits}
        self._steers = dict(state.steers)
        self._tools = dict(state.tools)
        self._rewritten = dict(state.rewritten)
        self._entries = list(state.entries)
        self._lines = ConversationLines()
        self._has_images = state.has_images
        self._pending = PendingMessages(thread, self._renderer.read_text, state.items)
        self._worktree_note = state.worktree_note
        self._summary = state.summary
        self._sequence = state.sequence
        self._turn = state.turn
        self._iteration = state.iteration
        self._remote_task = state.remote_task
        self._task_turn = state.task_turn

    @property
    def sequence(self) -> int:
        """The sequence of the newest fact that it contains."""
        return self._sequence

    @property
    def has_turns(self) -> bool:
        """Return True if a turn of the thread has started."""
        return self._turn > 0

    def capture_state(self, sequence: int) -> HistoryState:
        """Return the state after `sequence`, from which a conversation continues. Later facts do not change it.

        Args:
            sequence: The newest fact of the session. Facts of other threads change only this number.
        """
        return HistoryState(
            sequence=sequence,
            turn=self._turn,
            iteration=self._iteration,
            remote_task=self._remote_task,
            task_turn=self._task_turn,
            has_images=self._has_images,
            inputs={turn: fact for turn, fact in self._inputs.items() if isinstance(fact, TurnSubmitted)},
            edits={turn: fact for turn, fact in self._inputs.items() if isinstance(fact, QueueEdited)},
            steers=dict(self._steers),
            tools=dict(self._tools),
            rewritten=dict(self._rewritten),
            items=dict(self._pending.items),
            outputs=dict(self._renderer.outputs),
            pinned=self._renderer.pinned,
            worktree_note=self._worktree_note,
            summary=self._summary,
            entries=tuple(self._entries),
        )

    def build_messages(self, *, images: bool = True) -> tuple[ModelMessage, ...]:
        """Return the conversation, oldest message first. Without `images`, images are described in text."""
        if images or not self._has_images:
            return (*self._front, *self._lines.build(self._entries)[1])
        return (*map(replace_images, self._front), *self._lines.build_plain(self._entries))

    def find_newest_turn_index(self) -> int | None:
        """Return the index of the newest turn's first message; None if the turn has no input."""
        entries, _ = self._lines.build(self._entries)
        for index in range(len(entries) - 1, -1, -1):
            entry = entries[index]
            if entry.turn == self._turn and entry.is_input and not entry.is_excerpt:
                return len(self._front) + index
            if entry.turn < self._turn and not entry.is_excerpt:
                return None
        return None

    def split_newest_inputs(self) -> tuple[tuple[ModelMessage, ...], tuple[ModelMessage, ...]]:
        """Return the earlier messages of the remote agent's newest task, and the newest turn's input.

        An input that only continues interrupted work is omitted.
        """
        entries, messages = self._lines.build(self._entries)
        pairs = list(zip(entries, messages, strict=True))
        before = tuple([message for entry, message in pairs if self._task_turn <= entry.turn != self._turn])
        inputs = tuple(
            [
                message
                for entry, message in pairs
                if entry.turn == self._turn and message.role == "user" and not entry.is_resume
            ]
        )
        return before, inputs

    def build_messages_until(self, through: int) -> tuple[ModelMessage, ...]:
        """Return the earlier summary and the messages whose facts begin at or before a sequence."""
        older = [entry for entry in self._entries if entry.sequence <= through]
        return (*self._summary, *ConversationLines().build(older)[1])

    def find_output(self, call: str) -> Text | None:
        """Return the whole output of a call whose result was truncated."""
        return self._renderer.outputs.get(call)

    @property
    def _front(self) -> tuple[ModelMessage, ...]:
        """The messages before all turns."""
        return (*(() if self._worktree_note is None else (self._worktree_note,)), *self._summary)

    async def add(self, record: Record) -> None:
        """Apply the next fact of the thread, or one sent to it."""
        self._sequence = record.sequence
        kind = type(record.fact)
        if kind in RECEIVED:
            await self._pending.apply(record)
        if kind in APPLIED and record.scope.thread == self._thread:
            await self._apply(record)

    async def _apply(self, record: Record) -> None:
        match record.fact:
            case TurnSubmitted() | QueueEdited() as fact:
                self._inputs[record.scope.turn] = fact
            case TurnStarted():
                await self._start_turn(record)
            case ContextResolved() as fact:
                self._pin(await self._renderer.render_pinned(fact.refs))
            case SteerRequested() as fact:
                self._steers[fact.steer_id] = fact
            case SteerAccepted() as fact:
                steer = self._steers.pop(fact.steer_id, None)
                if steer is not None:
                    self._append("user", *await self._renderer.render_message(steer))
            case ModelRequested(purpose="answer") as fact:
                self._apply_model_request(fact)
            case MessageText() | MessageInterrupted() as fact:
                self._append("assistant", TextContent(await self._renderer.read_text(fact.content)))
                self._entries[-1] = replace(self._entries[-1], is_interrupted=isinstance(fact, MessageInterrupted))
            case ReasoningCompleted() as fact:
                self._append(
                    "assistant", ReasoningContent(await self._renderer.read_text(fact.content), fact.signature)
                )
            case ToolRequested() as fact:
                self._tools[record.scope.tool_call] = fact.tool
                arguments = await self._renderer.read_text(fact.arguments)
                await self._note_rewrite(record.scope.tool_call, fact)
                self._append("assistant", ToolCallContent(record.scope.tool_call, fact.tool, arguments))
            case InboxReserved() as fact:
                self._append("user", TextContent(self._pending.render(fact)), is_input=True)
            case CompactionCompleted() as fact:
                await self._apply_summary(record, fact)
            case _:
                await self._apply_result(record)

    async def _start_turn(self, record: Record) -> None:
        self._turn, self._iteration = record.sequence, 0
        fact = self._inputs.pop(record.scope.turn, None)
        contents = (
            await self._renderer.render_input(_MISSING_INPUT)
            if fact is None
            else await self._renderer.render_message(fact)
        )
        self._append("user", *contents, is_input=True)
        if isinstance(fact, TurnSubmitted) and fact.resumes:
            self._entries[-1] = replace(self._entries[-1], is_resume=True)

    def _pin(self, pins: tuple[Pinned, ...]) -> None:
        if pins:
            self._has_images = self._has_images or any(
                has_image(content) for pinned in pins for content in pinned.contents
            )
            nothing = ModelMessage(role="user", content=())
            self._entries.append(Entry(self._sequence, self._turn, nothing, is_input=True, pins=pins))

    async def _apply_summary(self, record: Record, fact: CompactionCompleted) -> None:
        """Replace the summarised messages by the summary.

        The current turn's input and its steering messages stay in full after the summary, and
        messages of earlier turns before it.
        """
        before: list[ModelMessage] = []
        behind: list[Entry] = []
        for excerpt in fact.said:
            quoted = await self._read(excerpt.sequence)
            message = None if quoted is None else await self._renderer.render_excerpt(quoted.fact, excerpt.size)
            if quoted is None or message is None:
                continue
            if quoted.scope.turn != record.scope.turn:
                before.append(message)
            elif self._turn:
                behind.append(Entry(excerpt.sequence, self._turn, message, is_input=True, is_excerpt=True))
        beside = _EXCERPTS_FOLLOW if before or behind else ""
        text = SUMMARY.format(text=await self._renderer.read_text(fact.summary), beside=beside)
        self._summary = (*before, ModelMessage(role="user", content=(TextContent(text),)))
        stays = (
            excerpt for excerpt in self._entries if not excerpt.is_excerpt and self._is_kept(excerpt, fact.through)
        )
        self._entries = sorted((*stays, *behind), key=lambda excerpt: excerpt.sequence)
        self._lines.reset()

    def _is_kept(self, entry: Entry, through: int) -> bool:
        return entry.sequence > through or (entry.is_input and entry.turn == self._turn)

    def _apply_model_request(self, fact: ModelRequested) -> None:
        if fact.iteration == self._iteration:
            # A retry starts over: drop the partial response of the failed attempt.
            while self._entries and self._entries[-1].is_interrupted:
                self._entries.pop()
                self._lines.reset()
        self._iteration = fact.iteration
        after = fact.context_after
        if after and self._entries and self._entries[0].turn <= after:
            self._drop_turns(after)
        if self._find_last_role() == "assistant":
            self._append("user", TextContent(CONTINUE))

    def _drop_turns(self, after: int) -> None:
        """Drop the turns up to a sequence, except the current one.

        They are at the front, unless an excerpt of the current turn comes before them.
        """
        stays = (at for at, entry in enumerate(self._entries) if entry.turn > after or entry.turn == self._turn)
        first = next(stays, len(self._entries))
        if first < len(self._entries) and self._entries[first].is_excerpt:
            self._entries = [entry for entry in self._entries if entry.turn > after or entry.turn == self._turn]
            self._lines.reset()
            return
        self._lines.drop_front(first)
        del self._entries[:first]

    async def _apply_result(self, record: Record) -> None:
        call = record.scope.tool_call
        match record.fact:
            case ToolCompleted() as fact:
                pictures = await self._renderer.read_images(fact.images)
                self._append_result(
                    record, await self._renderer.render_result(call, fact.output), failed=False, images=pictures
                )
            case ToolFailed() as fact:
                printed = await self._renderer.render_result(call, fact.output)
                self._append_result(record, f"{fact.message}\n{printed}".rstrip(), failed=True)
            case ToolRefused() as fact:
                self._append_result(record, f"Refused: {fact.message}", failed=True)
            case SubagentIsolated(path=path):
                text = OWN_WORKTREE.format(path=path)
                self._worktree_note = ModelMessage(role="user", content=(TextContent(text),))
            case InboxConsumed() as fact:
                self._pending.forget(fact.items)
            case RemoteTaskChanged() as fact if fact.remote_task_id != self._remote_task:
                self._remote_task, self._task_turn = fact.remote_task_id, self._turn
            case ToolCancelled():
                self._append_result(record, "Cancelled before it completed.", failed=True)
            case ToolLost():
                self._append_result(record, LOST_OUTCOME, failed=True)
            case _:
                pass

    async def _note_rewrite(self, call: str, fact: ToolRequested) -> None:
        """Remember the note that precedes the result if a hook rewrote the arguments."""
        hook_result = fact.hooked
        if hook_result is not None and hook_result.arguments is not None:
            self._rewritten[call] = hook_result.describe_rewrite(await self._renderer.read_text(hook_result.arguments))

    def _append_result(self, record: Record, text: str, *, failed: bool, images: tuple[ImageContent, ...] = ()) -> None:
        """Append a call's result. It is dropped if the call is missing, because a partial read can start between the two."""
        call = record.scope.tool_call
        tool = self._tools.pop(call, None)
        text = f"{self._rewritten.pop(call, '')}{text}"
        if tool is not None:
            self._append("tool", ToolResultContent(call, tool, text, failed, images))

    def _append(self, role: Role, *contents: Content, is_input: bool = False) -> None:
        if not contents:
            return
        self._has_images = self._has_images or any(map(has_image, contents))
        last = self._entries[-1] if self._entries else None
        if last is not None and role == "assistant" and (last.message.role, last.turn) == (role, self._turn):
            self._lines.change_last(last)
            message = ModelMessage(role=role, content=(*last.message.content, *contents))
            self._entries[-1] = replace(last, message=message)
            return
        self._entries.append(Entry(self._sequence, self._turn, ModelMessage(role=role, content=contents), is_input))

    def _find_last_role(self) -> Role | None:
        entries, messages = self._lines.build(self._entries)
        for index in range(len(entries) - 1, -1, -1):
            if entries[index].turn == self._turn:
                return messages[index].role
        return None
