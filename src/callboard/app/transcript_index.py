"""Past sessions of Claude Code and Codex: where they are, which worked in a folder, and what is taken over of one."""

from __future__ import annotations

import itertools
import logging
import re
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from callboard.adapters.imports import claude_code, codex
from callboard.adapters.imports.past import PastSession, PastTurn, read_lines, session_id
from callboard.contracts.commands.session_import import (
    ImportTurn,
    PastSessionFound,
    PastSessionList,
    UnreadableTranscript,
)
from callboard.contracts.content import valid_text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionSource
from callboard.contracts.ports.past import PastTranscript

log = logging.getLogger(__name__)

PRODUCTS: Mapping[SessionSource, str] = {"claude_code": "Claude Code", "codex": "Codex"}
#: A transcript that changed this shortly ago may still be written: its last turn is left for the next import, in seconds.
SETTLED_S = 300
#: A session is named by so much of its source's id, in characters.
LONGEST_ID = 200
#: How many transcripts a list looks at, the newest first, and how many past sessions it tells of.
MAX_FILES, MAX_SESSIONS = 2000, 200
#: How much of a transcript is read for what it is about, and of all that are looked at for one list, in bytes.
MAX_TRANSCRIPT_BYTES, MAX_TOTAL_BYTES = 8 * 1024 * 1024, 256 * 1024 * 1024
_CLAUDE_CODE_WRITES = re.compile(r"[^A-Za-z0-9]")


class _Reader(Protocol):
    """What each product's room offers."""

    def find(self, home: Path) -> Iterator[PastSession]: ...
    def transcripts(self, home: Path) -> Iterator[Path]: ...
    def about(self, file: Path, most: int | None = None) -> PastSession | None: ...
    def parts(self, file: Path) -> list[Path]: ...


_READERS: Mapping[SessionSource, _Reader] = {"claude_code": claude_code, "codex": codex}


def product_folders(environment: Mapping[str, str]) -> dict[SessionSource, Path]:
    """The folder of each product."""
    home = Path.home()
    return {
        "claude_code": Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude"),
        "codex": Path(environment.get("CODEX_HOME") or home / ".codex"),
    }


def find_past_sessions(environment: Mapping[str, str], source: SessionSource | None = None) -> Iterator[PastSession]:
    """Every past session of every folder, of one product where it is named. Blocks while it reads."""
    for product, home in product_folders(environment).items():
        if source in (None, product):
            yield from _READERS[product].find(home)


def ran_in(one: PastSession, folder: Path | None) -> bool:
    """Whether its folder is still there and is that one, where one is named."""
    try:
        return Path(one.folder).is_dir() and (folder is None or Path(one.folder).resolve() == folder)
    except OSError:
        # A transcript may name what can be no folder.
        return False


def is_settled(one: PastSession) -> bool:
    """False where its newest turn may still be written."""
    return time.time() - one.changed > SETTLED_S


def settled_turns(one: PastSession) -> Iterator[PastTurn]:
    """The turns that will not change any more: all but each agent's last, where the transcript may still be written."""
    if is_settled(one):
        yield from one.turns()
        return
    newest: dict[str, PastTurn] = {}
    for turn in one.turns():
        before = newest.get(turn.agent)
        if before is not None:
            yield before
        newest[turn.agent] = turn


def to_command(one: PastSession, turn: PastTurn, workspace: str) -> ImportTurn:
    """The command that takes a past turn over."""
    return ImportTurn(
        workspace_id=workspace,
        source=one.source,
        source_id=one.source_id[:LONGEST_ID],
        title=one.title,
        turn_id=turn.turn_id,
        at=turn.at,
        input=turn.input,
        input_source=turn.source,
        calls=turn.calls,
        ended=turn.ended,
        agent=turn.agent,
        subagent=turn.subagent,
    )


@dataclass(frozen=True)
class _IndexedFile:
    """What a transcript was about when it was looked at, of that time and size; `problem` says why it could not be read."""

    stamp: tuple[int, int]
    about: PastSession | None = None
    problem: str = ""


@dataclass(frozen=True)
class _File:
    """A transcript that may be looked at; `expected` where its place says that it is of the folder that was asked for."""

    source: SessionSource
    path: Path
    stamp: tuple[int, int]
    expected: bool


class TranscriptIndex:
    """Implements the port `PastSessions`. What a transcript is about is remembered as long as it does not change."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._homes = product_folders(environment)
        self._seen: dict[Path, _IndexedFile] = {}
        self._one = threading.Lock()

    def find(self, folder: str) -> PastSessionList:
        """Those that worked in the folder."""
        found, unreadable, older = self._looked(folder)
        newest = {(one.source, one.source_id[:LONGEST_ID]): one for one in reversed(found)}
        told = sorted(newest.values(), key=lambda one: one.changed, reverse=True)
        return PastSessionList(
            sessions=tuple(_told(one, folder) for one in told[:MAX_SESSIONS]),
            unreadable=unreadable[:MAX_SESSIONS],
            older=older + len(told[MAX_SESSIONS:]),
        )

    def open(self, folder: str, source: SessionSource, source_id: str, workspace: str) -> PastTranscript | None:
        """One that worked in the folder. Where several transcripts are of one session, the older one comes first."""
        found, _, _ = self._looked(folder)
        wanted = [one for one in reversed(found) if (one.source, one.source_id[:LONGEST_ID]) == (source, source_id)]
        if not wanted:
            return (
                PastTranscript(turns=iter(()), unfinished=True) if self._is_begun(folder, source, source_id) else None
            )
        turns = itertools.chain.from_iterable(_commands(one, workspace) for one in wanted)
        return PastTranscript(turns=turns, unfinished=not all(map(is_settled, wanted)))

    def _is_begun(self, folder: str, source: SessionSource, source_id: str) -> bool:
        """True where a transcript of that name is there in which no person asked anything yet."""
        named = (source, source_id)
        return any(
            (file.source, session_id(file.path)[:LONGEST_ID]) == named and (file.expected or source == "codex")
            for file in self._files(folder, empty=True)
        )

    def _looked(self, folder: str) -> tuple[list[PastSession], tuple[UnreadableTranscript, ...], int]:
        """The past sessions of the folder, newest first, what could not be read, and how many were not looked at."""
        with self._one:
            files = sorted(self._files(folder), key=lambda file: (not file.expected, -file.stamp[0]))
            seen: dict[Path, _IndexedFile] = {}
            left = MAX_TOTAL_BYTES
            for file in files[:MAX_FILES]:
                known = self._seen.get(file.path)
                if known is None or known.stamp != file.stamp:
                    if left <= 0:
                        break
                    most = min(left, MAX_TRANSCRIPT_BYTES)
                    known = _look(file, most)
                    left -= min(most, file.stamp[1])
                seen[file.path] = known
            self._seen = seen
        looked = [(file, seen[file.path]) for file in files if file.path in seen]
        found = [about for _, one in looked if (about := one.about) is not None and _is_of(about, folder)]
        unreadable = tuple(
            UnreadableTranscript(product=PRODUCTS[file.source], name=valid_text(file.path.name), problem=one.problem)
            for file, one in looked
            if one.problem and (file.expected or file.source == "codex")
        )
        return sorted(found, key=lambda one: one.changed, reverse=True), unreadable, len(files) - len(looked)

    def _files(self, folder: str, *, empty: bool = False) -> Iterator[_File]:
        named = _CLAUDE_CODE_WRITES.sub("-", folder)
        for source, home in self._homes.items():
            for path in _READERS[source].transcripts(home):
                try:
                    about = path.stat()
                    # What is no file might keep its reader waiting for ever.
                    if not stat.S_ISREG(about.st_mode) or not (about.st_size or empty):
                        continue
                    others = [part.stat() for part in _READERS[source].parts(path)]
                except OSError:
                    continue
                place = _CLAUDE_CODE_WRITES.sub("-", path.parent.name)
                expected = source == "claude_code" and place == named
                newest = max(one.st_mtime_ns for one in (about, *others))
                size = about.st_size + sum(one.st_size for one in others)
                yield _File(source, path, (newest, size), expected)


def _is_of(one: PastSession, folder: str) -> bool:
    return Path(one.folder).is_absolute() and ran_in(one, Path(folder))


def _look(file: _File, most: int) -> _IndexedFile:
    """What a transcript is about, whatever is in it."""
    try:
        about = _READERS[file.source].about(file.path, most)
        if about is None and next(read_lines(file.path, most), None) is None:
            return _IndexedFile(file.stamp, problem="It holds nothing that its product would have written.")
        return _IndexedFile(file.stamp, about)
    except OSError as error:
        return _IndexedFile(file.stamp, problem=error.strerror or "It could not be read.")
    except Exception:
        # One that is told of in no way that we know must not hide the others.
        log.exception("the transcript %s could not be read", file.path)
        return _IndexedFile(file.stamp, problem="It is written in a way that is not known here.")


def _told(one: PastSession, folder: str) -> PastSessionFound:
    return PastSessionFound(
        source=one.source,
        product=PRODUCTS[one.source],
        source_id=one.source_id[:LONGEST_ID],
        folder=folder,
        title=one.title,
        changed=int(one.changed * 1_000_000),
        unfinished=not is_settled(one),
    )


def _commands(one: PastSession, workspace: str) -> Iterable[ImportTurn]:
    """The turns as commands within their bounds, as whoever sends them over a wire has to keep them."""
    try:
        for turn in settled_turns(one):
            given = msgspec.json.encode(to_command(one, turn, workspace))
            yield msgspec.json.decode(given, type=ImportTurn)
    except msgspec.ValidationError as error:
        raise Refusal("invalid_input", f"A turn cannot be taken over: {error}") from error
    except OSError as error:
        raise Refusal(
            "transcript_unreadable",
            f"The transcript could not be read: {error.strerror or error}.",
            hint="See that its file is there and that you may read it, then import it again.",
        ) from error
