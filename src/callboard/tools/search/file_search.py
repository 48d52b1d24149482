"""Glob and Grep over a walk, with bounded results and notes on omissions."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..files.globs import expand, matches_names, split
from ..files.handles import open_listed
from ..files.paths import PathDenied
from ..files.text_encoding import decode
from .literals import find_required_text
from .walk import File, TimeoutReachedError, Walk

LARGEST_OUTPUT = 256 * 1024
LARGEST_FILE = 32 * 1024 * 1024
LONGEST_LINE = 500
#: Size of one read, in bytes.
_AT_ONCE = 256 * 1024
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: Folders and endings of generated files.
GENERATED = frozenset(
    {"__pycache__", "node_modules", ".venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
_BYTECODE = (".pyc", ".pyo", ".class")

NamedPath = Callable[[str], bool]


class Search(NamedTuple):
    """Parameters of a search. Patterns are validated. `keep_out` are globs of paths that must not
    be shown.
    """

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
    """Lines of the answer, and notes on omissions."""

    lines: list[str]
    notes: list[str]


def search(walk: Walk, asked: Search) -> SearchResult:
    """Run the search. Raises InvalidGlobError, re.error, PathDenied, OSError."""
    out = _Output(asked.limit)
    notes: list[str] = []
    kept_out = _any_of(asked.excluded)
    looking = _LOOKING[asked.tool](walk, asked, notes)
    hidden = 0
    try:
        for file in walk.files():
            if kept_out(file.path):
                hidden += 1
                continue
            out.take(looking(file))
    except TimeoutReachedError:
        notes.append("time ran out, so this is not all")
    if out.left:
        notes.append(f"{out.left:,} more left out; narrow the search")
    if hidden:
        notes.append(f"{hidden} files are kept from this tool by rules")
    if walk.unreadable:
        notes.append(f"{walk.unreadable} folders or files could not be read")
    return SearchResult(out.lines, notes)


def _name(walk: Walk, asked: Search, notes: list[str]) -> Callable[[File], Iterator[str]]:
    wanted = asked.pattern.casefold()

    def look(file: File) -> Iterator[str]:
        if wanted in file.path.casefold() and not file.name.endswith(_BYTECODE):
            yield file.path

    return look


class _Output:
    def __init__(self, limit: int) -> None:
        self.lines: list[str] = []
        self.left = 0
        self._limit = limit
        self._size = 0

    def take(self, lines: Iterator[str]) -> None:
        for line in lines:
            # Characters that cannot be encoded are replaced.
            line = line.encode("utf-8", "replace").decode()
            self._size += len(line) + 1
            if len(self.lines) >= self._limit or self._size > LARGEST_OUTPUT:
                self.left += 1
            else:
                self.lines.append(line)


def _glob(walk: Walk, asked: Search, notes: list[str]) -> Callable[[File], Iterator[str]]:
    fitting = _any_of((asked.pattern,), below=asked.start)

    def look(file: File) -> Iterator[str]:
        if fitting(file.path):
            yield file.path

    return look


def _grep(walk: Walk, asked: Search, notes: list[str]) -> Callable[[File], Iterator[str]]:
    expression = re.compile(asked.pattern, re.IGNORECASE if asked.ignore_case else 0)
    text = find_required_text(asked.pattern)
    needed = (text.lower() if asked.ignore_case else text).encode()
    depth = "" if "/" in asked.glob else "**/"
    fitting = _any_of((depth + asked.glob,), below=asked.start) if asked.glob else _everything
    large = 0

    def look(file: File) -> Iterator[str]:
        nonlocal large
        if not fitting(file.path):
            return
        walk.check_time()
        data = _bytes(walk, file)
        if len(data) > LARGEST_FILE:
            large += 1
            if large == 1:
                notes.append(f"files of more than {LARGEST_FILE // 1024 // 1024} MB are passed by")
            return
        if needed and _lacks(data, needed, ignore_case=asked.ignore_case):
            return
        lines = _lines(data)
        if asked.mode == "content":
            yield from _content(file.path, lines, expression, asked)
            return
        count = 0
        for line in lines:
            count += expression.search(line) is not None
            if count and asked.mode == "files_with_matches":
                yield file.path
                return
        if count:
            yield f"{file.path}:{count}"

    return look


def _content(path: str, lines: list[str], expression: re.Pattern[str], asked: Search) -> Iterator[str]:
    """Yield matching lines as path:line:text and others as path-line-text, with -- between separate
    groups.
    """
    shown = 0
    for number, line in enumerate(lines, 1):
        if expression.search(line) is None:
            continue
        first = max(number - asked.before, shown + 1)
        if (asked.before or asked.after) and shown and first > shown + 1:
            yield "--"
        for other in range(first, number):
            yield f"{path}-{other}-{_short(lines[other - 1])}"
        if number > shown:
            yield f"{path}:{number}:{_short(line)}"
            shown = number
        for other in range(number + 1, min(number + asked.after, len(lines)) + 1):
            if expression.search(lines[other - 1]) is not None:
                break
            if other > shown:
                yield f"{path}-{other}-{_short(lines[other - 1])}"
                shown = other


def _bytes(walk: Walk, file: File) -> bytes:
    """Return the bytes of the file, at most one more than the maximum size."""
    try:
        descriptor = open_listed(file.handle, file.name, file.path)
    except (OSError, PathDenied):
        walk.unreadable += 1
        return b""
    pieces: list[bytes] = []
    left = LARGEST_FILE + 1
    try:
        while left > 0 and (piece := os.read(descriptor, min(left, _AT_ONCE))):
            pieces.append(piece)
            left -= len(piece)
    except OSError:
        walk.unreadable += 1
        return b""
    finally:
        os.close(descriptor)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _lacks(data: bytes, needed: bytes, *, ignore_case: bool) -> bool:
    """Return True if no line can match, because a required ASCII text is missing."""
    if data.startswith(_UTF16):
        return False
    if not ignore_case:
        return needed not in data
    # Some non-ASCII letters equal an ASCII one if case is ignored.
    return data.isascii() and needed not in data.lower()


def _lines(data: bytes) -> list[str]:
    found = decode(data)
    if found is None:
        return []
    lines = found.text.split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


def _short(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"


def _any_of(patterns: Sequence[str], below: str = "") -> NamedPath:
    names = below.split("/") if below else []
    wanted = [split(one) for pattern in patterns for one in expand(pattern)]
    if not wanted:
        return _nothing

    def fitting(path: str) -> bool:
        own = path.split("/")
        return any(matches_names(one, own[len(names) :]) for one in wanted)

    return fitting


def _nothing(path: str) -> bool:
    return False


def _everything(path: str) -> bool:
    return True


_LOOKING = {"Glob": _glob, "Grep": _grep, "Name": _name}
