"""What a model is told: the facts of a thread as messages. Text held by ref is read back; nothing is copied into facts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from callboard.contracts.content import Text
from callboard.contracts.facts import (
    CompactionCompleted,
    ContextResolved,
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

from .content_renderer import ContentRenderer, Pinned, has_image, without_images
from .conversation_lines import ConversationLines, Entry
from .pending_messages import PendingMessages

#: What an agent that works on its own is told when it answered with text alone.
CONTINUE = "Go on with the objective. When it is met, call `finalize` with a summary."
#: What an agent is told that has a worktree of its own.
OWN_WORKTREE = (
    "Your folder is a git worktree of your own, {path}, and not the one named before. Paths are relative to it. What you "
    "change is committed and merged by the agent that gave you your objective."
)
#: What an agent is told of a call whose host died.
LOST = "Its outcome is unknown: the process that ran it ended. Check before doing it again."
#: In place of what was said before.
SUMMARY = "<summary>\nThe conversation so far, as it was summarised; all of it happened{beside}:\n\n{text}\n</summary>"
#: Where some of what persons said stands beside it.
_BESIDE = ", and what persons said last stands beside this as they said it"

_GONE = Text(text="(this input is no longer there)")


class History:
    """The conversation of one thread, kept as its facts come. Turns that a model call leaves out fall out at the front; so does
    what was summarised, but for what the turn under way was asked, and what its summary leaves as persons said it: `read` gives
    the facts that have that."""

    def __init__(self, thread: str, blobs: BlobStore, read: Callable[[int], Awaitable[Record | None]]) -> None:
        self._thread = thread
        self._read = read
        self._shown = ContentRenderer(blobs)
        self._inputs: dict[str, TurnSubmitted | QueueEdited] = {}
        self._steers: dict[str, SteerRequested] = {}
        self._tools: dict[str, str] = {}
        self._rewritten: dict[str, str] = {}
        self._entries: list[Entry] = []
        self._lines = ConversationLines()
        self._pinned = self._pictured = False
        self._told = PendingMessages(thread, self._shown.read_text)
        self._folder: ModelMessage | None = None
        self._summary: tuple[ModelMessage, ...] = ()
        self._at = 0
        self._turn = 0
        self._iteration = 0

    def messages(self, *, images: bool = True) -> tuple[ModelMessage, ...]:
        """The conversation so far, oldest first; without `images` each is named where it stood."""
        if images or not self._pictured:
            return (*self._front, *self._lines.build(self._entries)[1])
        return (*map(without_images, self._front), *self._lines.build_plain(self._entries))

    def newest_turn_index(self) -> int | None:
        """Which of the messages the newest turn begins with, from 0; None where it was asked nothing."""
        entries, _ = self._lines.build(self._entries)
        for index in range(len(entries) - 1, -1, -1):
            one = entries[index]
            if one.turn == self._turn and one.is_input and not one.is_excerpt:
                return len(self._front) + index
            if one.turn < self._turn and not one.is_excerpt:
                return None
        return None

    def newest_turn(self) -> tuple[ModelMessage, ...]:
        """Those of the newest turn."""
        entries, messages = self._lines.build(self._entries)
        return tuple([message for entry, message in zip(entries, messages, strict=True) if entry.turn == self._turn])

    def messages_until(self, through: int) -> tuple[ModelMessage, ...]:
        """Those that the facts up to and including a sequence began, and what was summarised before."""
        older = [entry for entry in self._entries if entry.sequence <= through]
        return (*self._summary, *ConversationLines().build(older)[1])

    def find_output(self, call: str) -> Text | None:
        """The whole output of a call of the thread whose result is told in part."""
        return self._shown.outputs.get(call)

    @property
    def _front(self) -> tuple[ModelMessage, ...]:
        """What holds for all of the conversation."""
        return (*(() if self._folder is None else (self._folder,)), *self._summary)

    async def add(self, record: Record) -> None:
        """Takes the next fact of the session that is the thread's, or was sent to it."""
        self._at = record.sequence
        await self._told.apply(record)
        if record.scope.thread == self._thread:
            await self._take(record)

    async def _take(self, record: Record) -> None:
        match record.fact:
            case TurnSubmitted() | QueueEdited() as fact:
                self._inputs[record.scope.turn] = fact
            case TurnStarted():
                await self._begun(record)
            case ContextResolved() as fact:
                self._pin(await self._shown.render_pinned(fact.refs))
            case SteerRequested() as fact:
                self._steers[fact.steer_id] = fact
            case SteerAccepted() as fact:
                steer = self._steers.pop(fact.steer_id, None)
                if steer is not None:
                    self._say("user", *await self._shown.render_message(steer))
            case ModelRequested(purpose="answer") as fact:
                self._asked(fact)
            case MessageText() | MessageInterrupted() as fact:
                self._say("assistant", TextContent(await self._shown.read_text(fact.content)))
                self._entries[-1].is_interrupted = isinstance(fact, MessageInterrupted)
            case ReasoningCompleted() as fact:
                self._say("assistant", ReasoningContent(await self._shown.read_text(fact.content), fact.signature))
            case ToolRequested() as fact:
                self._tools[record.scope.tool_call] = fact.tool
                arguments = await self._shown.read_text(fact.arguments)
                await self._hooked(record.scope.tool_call, fact)
                self._say("assistant", ToolCallContent(record.scope.tool_call, fact.tool, arguments))
            case InboxReserved() as fact:
                self._say("user", TextContent(self._told.render(fact)), asked=True)
            case CompactionCompleted() as fact:
                await self._summarised(record, fact)
            case _:
                await self._take_result(record)

    async def _begun(self, record: Record) -> None:
        self._turn, self._iteration = record.sequence, 0
        fact = self._inputs.pop(record.scope.turn, None)
        contents = await self._shown.render_input(_GONE) if fact is None else await self._shown.render_message(fact)
        self._say("user", *contents, asked=True)

    def _pin(self, pins: tuple[Pinned, ...]) -> None:
        if pins:
            self._pinned = True
            self._pictured = self._pictured or any(has_image(content) for one in pins for content in one.contents)
            nothing = ModelMessage(role="user", content=())
            self._entries.append(Entry(self._at, self._turn, nothing, is_input=True, pins=pins))

    async def _summarised(self, record: Record, fact: CompactionCompleted) -> None:
        """What was summarised is told as the summary; what the turn under way was asked stands behind it as it was said, and so
        does what was steered into it. What was said in turns before it stands before the summary."""
        before: list[ModelMessage] = []
        behind: list[Entry] = []
        for one in fact.said:
            said = await self._read(one.sequence)
            message = None if said is None else await self._shown.render_excerpt(said.fact, one.size)
            if said is None or message is None:
                continue
            if said.scope.turn != record.scope.turn:
                before.append(message)
            elif self._turn:
                behind.append(Entry(one.sequence, self._turn, message, is_input=True, is_excerpt=True))
        beside = _BESIDE if before or behind else ""
        text = SUMMARY.format(text=await self._shown.read_text(fact.summary), beside=beside)
        self._summary = (*before, ModelMessage(role="user", content=(TextContent(text),)))
        stays = (one for one in self._entries if not one.is_excerpt and self._stays(one, fact.through))
        self._entries = sorted((*stays, *behind), key=lambda one: one.sequence)
        self._lines.reset()

    def _stays(self, entry: Entry, through: int) -> bool:
        return entry.sequence > through or (entry.is_input and entry.turn == self._turn)

    def _asked(self, fact: ModelRequested) -> None:
        if fact.iteration == self._iteration:
            # The same call is made again from its beginning: what there was of its answer is no part of what it is told.
            while self._entries and self._entries[-1].is_interrupted:
                self._entries.pop()
                self._lines.reset()
        self._iteration = fact.iteration
        after = fact.context_after
        if after and self._entries and self._entries[0].turn <= after:
            self._leave_out(after)
        if self._last_role() == "assistant":
            self._say("user", TextContent(CONTINUE))

    def _leave_out(self, after: int) -> None:
        """Drop the turns up to a sequence but for the one under way. They are those at the front, unless what was said in the
        turn under way is located before them."""
        stays = (at for at, one in enumerate(self._entries) if one.turn > after or one.turn == self._turn)
        first = next(stays, len(self._entries))
        if first < len(self._entries) and self._entries[first].is_excerpt:
            self._entries = [one for one in self._entries if one.turn > after or one.turn == self._turn]
            self._lines.reset()
            return
        self._lines.drop_front(first)
        del self._entries[:first]

    async def _take_result(self, record: Record) -> None:
        call = record.scope.tool_call
        match record.fact:
            case ToolCompleted() as fact:
                pictures = await self._shown.read_images(fact.images)
                self._result(record, await self._shown.render_result(call, fact.output), failed=False, images=pictures)
            case ToolFailed() as fact:
                printed = await self._shown.render_result(call, fact.output)
                self._result(record, f"{fact.message}\n{printed}".rstrip(), failed=True)
            case ToolRefused() as fact:
                self._result(record, f"Refused: {fact.message}", failed=True)
            case SubagentIsolated(path=path):
                text = OWN_WORKTREE.format(path=path)
                self._folder = ModelMessage(role="user", content=(TextContent(text),))
            case InboxConsumed() as fact:
                self._told.forget(fact.items)
            case ToolCancelled():
                self._result(record, "Cancelled before it was done.", failed=True)
            case ToolLost():
                self._result(record, LOST, failed=True)
            case _:
                pass

    async def _hooked(self, call: str, fact: ToolRequested) -> None:
        """What the model is told with the result where a hook rewrote the arguments."""
        said = fact.hooked
        if said is not None and said.arguments is not None:
            self._rewritten[call] = said.told(await self._shown.read_text(said.arguments))

    def _result(self, record: Record, text: str, *, failed: bool, images: tuple[ImageContent, ...] = ()) -> None:
        """Of a call that is not told its result is not either: where a part of the log is read, it may begin between them."""
        call = record.scope.tool_call
        tool = self._tools.pop(call, None)
        text = f"{self._rewritten.pop(call, '')}{text}"
        if tool is not None:
            self._say("tool", ToolResultContent(call, tool, text, failed, images))

    def _say(self, role: Role, *contents: Content, asked: bool = False) -> None:
        if not contents:
            return
        self._pictured = self._pictured or any(map(has_image, contents))
        last = self._entries[-1] if self._entries else None
        if last is not None and role == "assistant" and (last.message.role, last.turn) == (role, self._turn):
            self._lines.change_last(last)
            last.message = ModelMessage(role=role, content=(*last.message.content, *contents))
            return
        self._entries.append(Entry(self._at, self._turn, ModelMessage(role=role, content=contents), asked))

    def _last_role(self) -> Role | None:
        entries, messages = self._lines.build(self._entries)
        for index in range(len(entries) - 1, -1, -1):
            if entries[index].turn == self._turn:
                return messages[index].role
        return None
