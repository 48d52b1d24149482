"""A past session and its turns, whatever it was made with."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from callboard.contracts.commands.imports import ImportedAgent, ImportedCall, ImportedPart
from callboard.contracts.content import valid_text
from callboard.contracts.facts.session import SessionSource
from callboard.contracts.facts.turn import InputSource

log = logging.getLogger(__name__)

#: No line of a transcript is longer, in bytes; one that is is left out.
LONGEST_LINE = 32 * 1024 * 1024
#: What is told of a text at most, in characters.
LONGEST_TEXT = 2_000_000

Line = dict[str, Any]
Ended = Literal["completed", "interrupted", "failed"]


@dataclass(frozen=True, kw_only=True)
class PastTurn:
    """One turn: its input and what came of it. `at` is in microseconds since the Unix epoch; `agent` is empty for the one that
    spoke with the person. `source` is where the input came from, `subagent` what is proved of another agent."""

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
    """A transcript that was found. `folder` is where its agent worked; `changed` when the file was last written, in seconds
    since the Unix epoch; `turns` reads it."""

    source: SessionSource
    source_id: str
    file: Path
    folder: str
    title: str
    changed: float
    turns: Callable[[], Iterator[PastTurn]]


@dataclass
class PastTurnBuilder:
    """A turn in the making. `message` is the provider's id of the newest model call."""

    key: str
    at: int
    input: str
    agent: str = ""
    source: InputSource = "person"
    subagent: ImportedAgent | None = None
    ended: Ended = "completed"
    message: str = ""
    calls: list[ImportedCall] = field(default_factory=list[ImportedCall])

    def turn(self, session: str) -> PastTurn:
        """The turn as it is now. The same transcript gives the same id, however often it is read."""
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
        """Add a summary that replaced the conversation so far. What follows is another model call."""
        self.calls.append(ImportedCall(model="", parts=(summary,)))
        self.message = ""

    def answer(self, call: str, change: Callable[[ImportedPart], ImportedPart]) -> bool:
        """Changes the part of that call; False where the turn has none."""
        for number, made in enumerate(self.calls):
            for place, part in enumerate(made.parts):
                if part.kind == "tool" and part.call_id == call:
                    parts = (*made.parts[:place], change(part), *made.parts[place + 1 :])
                    self.calls[number] = msgspec.structs.replace(made, parts=parts)
                    return True
        return False


def readable_sessions(files: Iterable[Path], about: Callable[[Path], PastSession | None]) -> Iterator[PastSession]:
    """The sessions of these transcripts, in the order of their names. One that cannot be read hides no other; what is no file,
    such as a pipe, would keep its reader waiting for ever."""
    for file in sorted(files):
        try:
            found = about(file) if file.is_file() else None
        except OSError as error:
            log.warning("the transcript %s was left out: %s", file, error.strerror or error)
            continue
        if found is not None:
            yield found


def session_id(file: Path) -> str:
    """The product's name of the session, by the name of its transcript, which may be no valid text."""
    return valid_text(file.stem)


def read_lines(file: Path, most: int | None = None) -> Iterator[Line]:
    """The JSON objects of a file, line by line, of its first `most` bytes where that is given. What is none, as a line cut
    short by a crash, is left out."""
    left = most
    with file.open("rb") as opened:
        while data := opened.readline(LONGEST_LINE if left is None else min(left, LONGEST_LINE)):
            left = None if left is None else left - len(data)
            try:
                line = msgspec.json.decode(data)
            except (msgspec.DecodeError, RecursionError):
                continue
            if isinstance(line, dict):
                yield cast("Line", line)


def microseconds(text: Any, otherwise: int) -> int:
    """An RFC 3339 time in microseconds since the Unix epoch."""
    if not isinstance(text, str):
        return otherwise
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1_000_000)
    except (ValueError, OverflowError):
        return otherwise


def text_of(content: Any, kinds: tuple[str, ...] = ("text", "input_text", "output_text")) -> str:
    """The text of a message's content: a text, or a list of blocks of these kinds."""
    if isinstance(content, str):
        return content[:LONGEST_TEXT]
    if not isinstance(content, list):
        return ""
    found = (
        cast("Line", block).get("text", "")
        for block in cast("list[Any]", content)
        if isinstance(block, dict) and cast("Line", block).get("type") in kinds
    )
    return "\n".join(one for one in found if isinstance(one, str))[:LONGEST_TEXT]


def as_object(value: Any) -> Line:
    """The value where it is an object, else an empty one."""
    return cast("Line", value) if isinstance(value, dict) else {}


def as_count(value: Any) -> int | None:
    """The value where it counts something."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def first_line(text: str) -> str:
    """The first line that says something, as a title."""
    return next((line.strip()[:120] for line in text.splitlines() if line.strip()), "")
