"""Past sessions and turns of any product, and helpers to read transcripts."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from callboard.contracts.commands.session_import import ImportedAgent, ImportedCall, ImportedPart
from callboard.contracts.content import repair_text
from callboard.contracts.facts.session import SessionSource
from callboard.contracts.facts.turn import InputSource

log = logging.getLogger(__name__)

#: The longest line of a transcript, in bytes. Longer ones are omitted.
MAX_LINE_BYTES = 32 * 1024 * 1024
#: The longest text of a message, in characters. Longer ones are truncated.
MAX_TEXT_CHARS = 2_000_000

Line = dict[str, Any]
Ended = Literal["completed", "interrupted", "failed"]


@dataclass(frozen=True, kw_only=True)
class PastTurn:
    """A past turn.

    Attributes:
        at: Start time in microseconds since the Unix epoch.
        agent: Key of the subagent; empty for the agent that talked to the person.
        source: The author of the input.
        subagent: Proved facts about the subagent.
    """

    turn_id: str
    at: int
    input: str
    calls: tuple[ImportedCall, ...]
    ended: Ended = "completed"
    agent: str = ""
    source: InputSource = "person"
    subagent: ImportedAgent | None = None


@dataclass(frozen=True, kw_only=True)
class PastSession:
    """A past session and its transcript.

    Attributes:
        folder: The working folder of the agent.
        changed: Modification time of the transcript in seconds since the Unix epoch.
        turns: Reads the turns.
    """

    source: SessionSource
    source_id: str
    file: Path
    folder: str
    title: str
    changed: float
    turns: Callable[[], Iterator[PastTurn]]


@dataclass
class PastTurnBuilder:
    """A turn while it is read. `message` is the provider's id of the newest model call."""

    key: str
    at: int
    input: str
    agent: str = ""
    source: InputSource = "person"
    subagent: ImportedAgent | None = None
    ended: Ended = "completed"
    message: str = ""
    calls: list[ImportedCall] = field(default_factory=list[ImportedCall])

    def build(self, session: str) -> PastTurn:
        """Return the turn as read so far. Its id depends only on the transcript, so repeated reads return the same id."""
        digest = hashlib.sha256(f"{session}\0{self.agent}\0{self.key}".encode()).hexdigest()[:32]
        return PastTurn(
            turn_id=f"imp_{digest}",
            at=self.at,
            input=self.input,
            calls=tuple(self.calls),
            ended=self.ended,
            agent=self.agent,
            source=self.source,
            subagent=self.subagent,
        )

    def compact(self, summary: ImportedPart) -> None:
        """Add a summary that replaced the conversation. The next part starts a new model call."""
        self.calls.append(ImportedCall(model="", parts=(summary,)))
        self.message = ""

    def answer(self, call: str, change: Callable[[ImportedPart], ImportedPart]) -> bool:
        """Change the part of a tool call. Return False if the turn has no such call."""
        for number, model_call in enumerate(self.calls):
            for index, part in enumerate(model_call.parts):
                if part.kind == "tool" and part.call_id == call:
                    parts = (*model_call.parts[:index], change(part), *model_call.parts[index + 1 :])
                    self.calls[number] = msgspec.structs.replace(model_call, parts=parts)
                    return True
        return False


def read_sessions(files: Iterable[Path], read_session: Callable[[Path], PastSession | None]) -> Iterator[PastSession]:
    """Yield the sessions of the transcripts, sorted by path. Unreadable files are logged and omitted.

    Special files such as pipes are skipped, because reading them could block forever.
    """
    for file in sorted(files):
        try:
            session = read_session(file) if file.is_file() else None
        except OSError as error:
            log.warning("the transcript %s was omitted: %s", file, error.strerror or error)
            continue
        if session is not None:
            yield session


def read_session_id(file: Path) -> str:
    """Return the product's id of a session: the name of its transcript as valid text."""
    return repair_text(file.stem)


def read_lines(file: Path, max_bytes: int | None = None) -> Iterator[Line]:
    """Yield the JSON objects of a file, one per line. Invalid lines, such as one truncated by a crash, are omitted.

    Args:
        max_bytes: Read only this number of bytes. Default: the whole file.
    """
    remaining = max_bytes
    with file.open("rb") as opened:
        while data := opened.readline(MAX_LINE_BYTES if remaining is None else min(remaining, MAX_LINE_BYTES)):
            remaining = None if remaining is None else remaining - len(data)
            try:
                line = msgspec.json.decode(data)
            except (msgspec.DecodeError, RecursionError):
                continue
            if isinstance(line, dict):
                yield cast("Line", line)


def parse_time(text: Any, otherwise: int) -> int:
    """Return an RFC 3339 time in microseconds since the Unix epoch; `otherwise` for an invalid one."""
    if not isinstance(text, str):
        return otherwise
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1_000_000)
    except (ValueError, OverflowError):
        return otherwise


def read_text(content: Any, kinds: tuple[str, ...] = ("text", "input_text", "output_text")) -> str:
    """Return the text of a message's content: a text, or a list of blocks of these kinds."""
    if isinstance(content, str):
        return content[:MAX_TEXT_CHARS]
    if not isinstance(content, list):
        return ""
    texts = (
        cast("Line", block).get("text", "")
        for block in cast("list[Any]", content)
        if isinstance(block, dict) and cast("Line", block).get("type") in kinds
    )
    return "\n".join(text for text in texts if isinstance(text, str))[:MAX_TEXT_CHARS]


def as_object(value: Any) -> Line:
    """Return the value if it is an object, else an empty one."""
    return cast("Line", value) if isinstance(value, dict) else {}


def as_count(value: Any) -> int | None:
    """Return the value if it is a non-negative integer, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def find_first_line(text: str) -> str:
    """Return the first non-empty line as a title, of at most 120 characters."""
    return next((line.strip()[:120] for line in text.splitlines() if line.strip()), "")
