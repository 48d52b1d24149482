"""Searches over a walk, with bounded results and notes on omissions."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..files.globs import expand, match_names, split
from ..files.handles import open_listed
from ..files.paths import PathDenied
from ..files.text_encoding import decode
from .literals import find_required_text
from .walk import File, TimeoutReachedError, Walk

MAX_OUTPUT_CHARS = 256 * 1024
MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_LINE_CHARS = 500
#: Size of one read, in bytes.
_PIECE = 256 * 1024
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: Folders of generated files.
GENERATED = frozenset(
    {"__pycache__", "node_modules", ".venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
_BYTECODE = (".pyc", ".pyo", ".class")

NamedPath = Callable[[str], bool]


class Search(NamedTuple):
    """Parameters of a search. `excluded` are globs of paths that rules hide."""

    tool: str
    pattern: str
    start: str
    glob: str = ""
    mode: str = "content"
    ignore_case: bool = False
    before: int = 0
    after: int = 0
    limit: int = 1000
    excluded: Sequence[str] = ()


class SearchResult(NamedTuple):
    """Lines of a result, and notes on omissions."""

    lines: list[str]
    notes: list[str]


def search(walk: Walk, query: Search) -> SearchResult:
    """Run the search. Raises InvalidGlobError, re.error, PathDenied, OSError."""
    output = _Output(query.limit)
    notes: list[str] = []
    is_excluded = _match_any(query.excluded)
    look = _SEARCHES[query.tool](walk, query, notes)
    hidden = 0
    try:
        for file in walk.files():
            if is_excluded(file.path):
                hidden += 1
                continue
            output.add(look(file))
    except TimeoutReachedError:
        notes.append("the time limit was reached, so results are missing")
    if output.omitted:
        notes.append(f"{output.omitted:,} more results omitted; narrow the search")
    if hidden:
        notes.append(f"{hidden} files are hidden by rules")
    if walk.unreadable:
        notes.append(f"{walk.unreadable} folders or files could not be read")
    return SearchResult(output.lines, notes)


def _search_names(walk: Walk, query: Search, notes: list[str]) -> Callable[[File], Iterator[str]]:
    wanted = query.pattern.casefold()

    def look(file: File) -> Iterator[str]:
        if wanted in file.path.casefold() and not file.name.endswith(_BYTECODE):
            yield file.path

    return look


class _Output:
    def __init__(self, limit: int) -> None:
        self.lines: list[str] = []
        self.omitted = 0
        self._limit = limit
        self._size = 0

    def add(self, lines: Iterator[str]) -> None:
        for line in lines:
            line = line.encode("utf-8", "replace").decode()
            self._size += len(line) + 1
            if len(self.lines) >= self._limit or self._size > MAX_OUTPUT_CHARS:
                self.omitted += 1
            else:
                self.lines.append(line)


def _search_globs(walk: Walk, query: Search, notes: list[str]) -> Callable[[File], Iterator[str]]:
    is_match = _match_any((query.pattern,), start=query.start)

    def look(file: File) -> Iterator[str]:
        if is_match(file.path):
            yield file.path

    return look


def _search_lines(walk: Walk, query: Search, notes: list[str]) -> Callable[[File], Iterator[str]]:
    expression = re.compile(query.pattern, re.IGNORECASE if query.ignore_case else 0)
    text = find_required_text(query.pattern)
    required = (text.lower() if query.ignore_case else text).encode()
    depth = "" if "/" in query.glob else "**/"
    is_match = _match_any((depth + query.glob,), start=query.start) if query.glob else _match_everything
    too_large = 0

    def look(file: File) -> Iterator[str]:
        nonlocal too_large
        if not is_match(file.path):
            return
        walk.check_time()
        data = _read_bytes(walk, file)
        if len(data) > MAX_FILE_BYTES:
            too_large += 1
            if too_large == 1:
                notes.append(f"files of more than {MAX_FILE_BYTES // 1024 // 1024} MB were skipped")
            return
        if required and _is_missing(data, required, ignore_case=query.ignore_case):
            return
        lines = _read_text_lines(data)
        if query.mode == "content":
            yield from _format_matches(file.path, lines, expression, query)
            return
        count = 0
        for line in lines:
            count += expression.search(line) is not None
            if count and query.mode == "files_with_matches":
                yield file.path
                return
        if count:
            yield f"{file.path}:{count}"

    return look


def _format_matches(path: str, lines: list[str], expression: re.Pattern[str], query: Search) -> Iterator[str]:
    """Yield matching lines as path:line:text and context as path-line-text, with -- between groups."""
    last = 0
    for number, line in enumerate(lines, 1):
        if expression.search(line) is None:
            continue
        first = max(number - query.before, last + 1)
        if (query.before or query.after) and last and first > last + 1:
            yield "--"
        for other in range(first, number):
            yield f"{path}-{other}-{_truncate(lines[other - 1])}"
        if number > last:
            yield f"{path}:{number}:{_truncate(line)}"
            last = number
        for other in range(number + 1, min(number + query.after, len(lines)) + 1):
            if expression.search(lines[other - 1]) is not None:
                break
            if other > last:
                yield f"{path}-{other}-{_truncate(lines[other - 1])}"
                last = other


def _read_bytes(walk: Walk, file: File) -> bytes:
    """Read the file, at most one byte more than the maximum size."""
    try:
        descriptor = open_listed(file.handle, file.name, file.path)
    except (OSError, PathDenied):
        walk.unreadable += 1
        return b""
    pieces: list[bytes] = []
    left = MAX_FILE_BYTES + 1
    try:
        while left > 0 and (piece := os.read(descriptor, min(left, _PIECE))):
            pieces.append(piece)
            left -= len(piece)
    except OSError:
        walk.unreadable += 1
        return b""
    finally:
        os.close(descriptor)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _is_missing(data: bytes, required: bytes, *, ignore_case: bool) -> bool:
    """Return True if no line can match, because a required ASCII text is missing."""
    if data.startswith(_UTF16):
        return False
    if not ignore_case:
        return required not in data
    # If case is ignored, some non-ASCII letters equal an ASCII letter.
    return data.isascii() and required not in data.lower()


def _read_text_lines(data: bytes) -> list[str]:
    decoded = decode(data)
    if decoded is None:
        return []
    lines = decoded.text.split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


def _truncate(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…"


def _match_any(patterns: Sequence[str], start: str = "") -> NamedPath:
    names = start.split("/") if start else []
    alternatives = [split(alternative) for pattern in patterns for alternative in expand(pattern)]
    if not alternatives:
        return _match_nothing

    def fitting(path: str) -> bool:
        path_names = path.split("/")
        return any(match_names(alternative, path_names[len(names) :]) for alternative in alternatives)

    return fitting


def _match_nothing(path: str) -> bool:
    return False


def _match_everything(path: str) -> bool:
    return True


_SEARCHES = {"Glob": _search_globs, "Grep": _search_lines, "Name": _search_names}
