"""Past sessions of Claude Code and Codex: their transcripts, their folders, and their turns as import commands."""

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
from callboard.adapters.imports.past import PastSession, PastTurn, read_lines, read_session_id
from callboard.contracts.commands.session_import import (
    ImportTurn,
    PastSessionEntry,
    PastSessionList,
    UnreadableTranscript,
)
from callboard.contracts.content import repair_text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionSource
from callboard.contracts.ports.past import PastTranscript

log = logging.getLogger(__name__)

PRODUCTS: Mapping[SessionSource, str] = {"claude_code": "Claude Code", "codex": "Codex"}
#: Seconds after a change during which a transcript may still be written. Its last turn waits for the next import.
SETTLED_SECONDS = 300
#: Maximum length of a session id from a transcript, in characters.
MAX_ID_CHARS = 200
#: Maximum number of transcripts that a list reads, newest first, and of past sessions that it returns.
MAX_FILES, MAX_SESSIONS = 2000, 200
#: Maximum bytes read of one transcript, and of all transcripts, for one list.
MAX_TRANSCRIPT_BYTES, MAX_TOTAL_BYTES = 8 * 1024 * 1024, 256 * 1024 * 1024
#: Claude Code writes these characters of a folder's path as `-`.
_ESCAPED = re.compile(r"[^A-Za-z0-9]")


class _Reader(Protocol):
    """The interface of each product's reader."""

    def find(self, product_folder: Path) -> Iterator[PastSession]: ...
    def list_transcripts(self, product_folder: Path) -> Iterator[Path]: ...
    def read_session(self, file: Path, max_bytes: int | None = None) -> PastSession | None: ...
    def list_parts(self, file: Path) -> list[Path]: ...


_READERS: Mapping[SessionSource, _Reader] = {"claude_code": claude_code, "codex": codex}


def list_product_folders(environment: Mapping[str, str]) -> dict[SessionSource, Path]:
    """Return the state folder of each product."""
    user_home = Path.home()
    return {
        "claude_code": Path(environment.get("CLAUDE_CONFIG_DIR") or user_home / ".claude"),
        "codex": Path(environment.get("CODEX_HOME") or user_home / ".codex"),
    }


def find_past_sessions(environment: Mapping[str, str], source: SessionSource | None = None) -> Iterator[PastSession]:
    """Yield the past sessions of all folders, optionally of one product. Blocks."""
    for product, product_folder in list_product_folders(environment).items():
        if source in (None, product):
            yield from _READERS[product].find(product_folder)


def has_run_in(session: PastSession, folder: Path | None) -> bool:
    """Return True if the session's folder still exists and is the given one, if any."""
    try:
        return Path(session.folder).is_dir() and (folder is None or Path(session.folder).resolve() == folder)
    except OSError:
        # A transcript may contain an impossible path.
        return False


def is_settled(session: PastSession) -> bool:
    """Return False if the newest turn may still be written."""
    return time.time() - session.changed > SETTLED_SECONDS


def read_settled_turns(session: PastSession) -> Iterator[PastTurn]:
    """Yield the turns that cannot change. Without settling these are all but the last turn of each agent."""
    if is_settled(session):
        yield from session.turns()
        return
    newest: dict[str, PastTurn] = {}
    for turn in session.turns():
        if turn.agent in newest:
            yield newest[turn.agent]
        newest[turn.agent] = turn


def to_command(session: PastSession, turn: PastTurn, workspace: str) -> ImportTurn:
    """Return the command that imports a past turn."""
    return ImportTurn(
        workspace_id=workspace,
        source=session.source,
        source_id=session.source_id[:MAX_ID_CHARS],
        title=session.title,
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
    """A transcript as last read; `problem` explains why it is unreadable. `stamp` is its time of change (ns) and size."""

    stamp: tuple[int, int]
    session: PastSession | None = None
    problem: str = ""


@dataclass(frozen=True)
class _File:
    """A transcript to read. `is_expected` states that its path names the requested folder."""

    source: SessionSource
    path: Path
    stamp: tuple[int, int]
    is_expected: bool


class TranscriptIndex:
    """The port `PastSessions`, with a cache of unchanged transcripts."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._product_folders = list_product_folders(environment)
        self._cache: dict[Path, _IndexedFile] = {}
        self._lock = threading.Lock()

    def find(self, folder: str) -> PastSessionList:
        """List the past sessions of the folder, newest first."""
        sessions, unreadable, unread = self._read(folder)
        # Of several transcripts of one session, the newest counts.
        unique = {_build_key(session): session for session in reversed(sessions)}
        newest = sorted(unique.values(), key=lambda session: session.changed, reverse=True)
        return PastSessionList(
            sessions=tuple(_describe(session, folder) for session in newest[:MAX_SESSIONS]),
            unreadable=unreadable[:MAX_SESSIONS],
            older=unread + len(newest[MAX_SESSIONS:]),
        )

    def open(self, folder: str, source: SessionSource, source_id: str, workspace: str) -> PastTranscript | None:
        """Open a past session of the folder; None if it is unknown. Several transcripts are read from the oldest."""
        sessions = [
            session for session in reversed(self._read(folder)[0]) if _build_key(session) == (source, source_id)
        ]
        if not sessions:
            is_empty = self._has_empty(folder, source, source_id)
            return PastTranscript(turns=iter(()), unfinished=True) if is_empty else None
        turns = itertools.chain.from_iterable(_to_commands(session, workspace) for session in sessions)
        return PastTranscript(turns=turns, unfinished=not all(map(is_settled, sessions)))

    def _has_empty(self, folder: str, source: SessionSource, source_id: str) -> bool:
        """Return True if there is a transcript of this session, without a prompt."""
        return any(
            (file.source, read_session_id(file.path)[:MAX_ID_CHARS]) == (source, source_id) and _can_be_of_folder(file)
            for file in self._list_files(folder, empty=True)
        )

    def _read(self, folder: str) -> tuple[list[PastSession], tuple[UnreadableTranscript, ...], int]:
        """Return the folder's past sessions, newest first, the unreadable transcripts, and the number of unread ones."""
        with self._lock:
            files = sorted(self._list_files(folder), key=lambda file: (not file.is_expected, -file.stamp[0]))
            cache: dict[Path, _IndexedFile] = {}
            remaining = MAX_TOTAL_BYTES
            for file in files[:MAX_FILES]:
                entry = self._cache.get(file.path)
                if entry is None or entry.stamp != file.stamp:
                    if remaining <= 0:
                        break
                    limit = min(remaining, MAX_TRANSCRIPT_BYTES)
                    entry = _read_file(file, limit)
                    remaining -= min(limit, file.stamp[1])
                cache[file.path] = entry
            self._cache = cache
        entries = [(file, cache[file.path]) for file in files if file.path in cache]
        sessions = [entry.session for _, entry in entries if entry.session and _is_in_folder(entry.session, folder)]
        unreadable = tuple(
            UnreadableTranscript(product=PRODUCTS[file.source], name=repair_text(file.path.name), problem=entry.problem)
            for file, entry in entries
            if entry.problem and _can_be_of_folder(file)
        )
        return sorted(sessions, key=lambda session: session.changed, reverse=True), unreadable, len(files) - len(cache)

    def _list_files(self, folder: str, *, empty: bool = False) -> Iterator[_File]:
        escaped = _ESCAPED.sub("-", folder)
        for source, product_folder in self._product_folders.items():
            for path in _READERS[source].list_transcripts(product_folder):
                try:
                    status = path.stat()
                    # Reading a pipe or device may never end.
                    if not stat.S_ISREG(status.st_mode) or not (status.st_size or empty):
                        continue
                    parts = [status, *(part.stat() for part in _READERS[source].list_parts(path))]
                except OSError:
                    continue
                is_expected = source == "claude_code" and _ESCAPED.sub("-", path.parent.name) == escaped
                stamp = max(part.st_mtime_ns for part in parts), sum(part.st_size for part in parts)
                yield _File(source, path, stamp, is_expected)


def _build_key(session: PastSession) -> tuple[SessionSource, str]:
    return session.source, session.source_id[:MAX_ID_CHARS]


def _is_in_folder(session: PastSession, folder: str) -> bool:
    return Path(session.folder).is_absolute() and has_run_in(session, Path(folder))


def _can_be_of_folder(file: _File) -> bool:
    # The paths of Codex transcripts do not name the folder.
    return file.is_expected or file.source == "codex"


def _read_file(file: _File, limit: int) -> _IndexedFile:
    """Read a transcript up to `limit` bytes. Any content is possible."""
    try:
        session = _READERS[file.source].read_session(file.path, limit)
        if session is None and next(read_lines(file.path, limit), None) is None:
            return _IndexedFile(file.stamp, problem="It contains no line of its product.")
        return _IndexedFile(file.stamp, session)
    except OSError as error:
        return _IndexedFile(file.stamp, problem=error.strerror or "It cannot be read.")
    except Exception:
        # One unreadable transcript must not hide the others.
        log.exception("the transcript %s could not be read", file.path)
        return _IndexedFile(file.stamp, problem="Its format is unknown.")


def _describe(session: PastSession, folder: str) -> PastSessionEntry:
    return PastSessionEntry(
        source=session.source,
        product=PRODUCTS[session.source],
        source_id=session.source_id[:MAX_ID_CHARS],
        folder=folder,
        title=session.title,
        changed=int(session.changed * 1_000_000),
        unfinished=not is_settled(session),
    )


def _to_commands(session: PastSession, workspace: str) -> Iterable[ImportTurn]:
    """Yield the turns as commands that obey the limits of the API."""
    try:
        for turn in read_settled_turns(session):
            # Decoding checks the limits.
            yield msgspec.json.decode(msgspec.json.encode(to_command(session, turn, workspace)), type=ImportTurn)
    except msgspec.ValidationError as error:
        raise Refusal("invalid_input", f"A turn cannot be imported: {error}", hint="Import another session.") from error
    except OSError as error:
        raise Refusal(
            "transcript_unreadable",
            f"The transcript cannot be read: {error.strerror or error}.",
            hint="Check that the file exists and that you can read it, then import it again.",
        ) from error
