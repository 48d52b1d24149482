"""Search for secrets in a text: stored values in every form, and tokens by shape.

One pass over the text finds every form and every mark of a shape.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ahocorasick_rs import AhoCorasick

from callboard.contracts.ports.secrets import HANDLE

from .dumps import as_bytes, find_dumps, find_open_row
from .forms import FORM, WIDE
from .shapes import MAX_MARK_CHARS, SHAPES, Shape

#: Characters that could continue a handle.
IN_HANDLE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-#~")
#: Name of a value that only looks like a secret.
SEEN = r"seen-[0-9a-f]{12}"
_FORM = rf"(?:#{FORM}(?![a-z0-9-]))?~?"
#: A line break, also in JSON text, with the indent after it.
_BREAK = re.compile(r"(?:\r?\n|(?:\\r)?\\n)[ \t]{0,40}")
_BREAK_BEGINS = re.compile(r"(?:\r|\\|\\r|\\r\\)\Z")
#: Characters that escaping adds. Values with some are also searched without them.
_ESCAPES = re.compile(r"[\\\"']+")
_MIN_BARE_CHARS = 10
#: Number of characters of a value that do not reveal it.
_HARMLESS_LENGTH = 3
_BLANK = re.compile(r"[\s\\\"']+")
_OPEN_HANDLE = re.compile(rf"{HANDLE}([A-Za-z0-9_#~-]{{0,110}})\Z")
#: Handles of forms that dumps are searched for: a value, its halves and its lines.
_SEARCHED_IN_DUMPS = re.compile(rf"\A{HANDLE}[^#]*(?:#(?:half|line)-[0-9]+)?\Z")
#: Texts whose result is kept, and the largest of them in bytes. Prompts and definitions are searched in every turn.
_KEPT_TEXTS = 128
_MAX_KEPT_BYTES = 16 * 1024
_MARKS = {mark: shape for shape in SHAPES for mark in shape.marks}


@dataclass(frozen=True, slots=True)
class Match:
    """A secret from `start` to `end`. `handle` is empty for an unnamed value and None for an existing handle."""

    start: int
    end: int
    handle: str | None


class Matcher:
    """Searches for the stored values of one moment.

    Args:
        handles: Handle for each form of each value.
        names: Names whose handles stay unchanged.
    """

    def __init__(self, handles: Mapping[str, str], names: frozenset[str]) -> None:
        self._handles = dict(handles)
        self._unescaped = _unescape(self._handles)
        narrow = (len(text) for text, handle in self._handles.items() if not WIDE.search(handle))
        self._longest = max(
            max(narrow, default=0) * (4 if self._unescaped else 2), max(map(len, self._handles), default=0)
        )
        self._by_first = _group_by_first([*self._handles, *self._unescaped])
        self._targets: list[str | Shape | None] = [*self._handles, *_MARKS.values(), None]
        self._everything = AhoCorasick([*self._handles, *_MARKS, HANDLE])
        self._values = AhoCorasick(list(self._handles))
        plain = [as_bytes(text) for text, handle in self._handles.items() if _SEARCHED_IN_DUMPS.search(handle)]
        self._dumped = AhoCorasick(plain)
        self._dumped_longest = max(map(len, plain), default=0)
        self._dumped_by_first = _group_by_first(plain)
        self._unescaped_values = AhoCorasick(self._unescaped)
        named = "".join(f"|{re.escape(name)}" for name in sorted(names, key=len, reverse=True))
        self._handle = re.compile(rf"{re.escape(HANDLE)}(?:{SEEN}{named})(?![A-Za-z0-9_-]){_FORM}")
        self._has_secret_kept = lru_cache(_KEPT_TEXTS)(self._has_secret)

    def find(self, text: str, at: int = 0) -> list[Match]:
        """Return the secrets from a position on, in order. Overlapping secrets are one."""
        return self._search(text, at)[0]

    def has_secret(self, data: bytes) -> bool:
        """Return True if UTF-8 data has a secret that is not yet a handle."""
        return self._has_secret_kept(data) if len(data) <= _MAX_KEPT_BYTES else self._has_secret(data)

    def _has_secret(self, data: bytes) -> bool:
        return any(match.handle is not None for match in self.find(data.decode("utf-8", "surrogateescape")))

    def split(self, text: str, at: int) -> tuple[int, list[Match]]:
        """Return the position up to which a growing text is decided, and the secrets before it."""
        matches, until = self._search(text, at)
        until = min(until, self._find_open_value(text, at, until), self._find_open_dump(text, at))
        for match in matches:
            if match.start < until < match.end:
                # A secret that may begin within a match may extend beyond it.
                until = match.start
        return until, [match for match in matches if match.start < until]

    def is_harmless(self, text: str, at: int) -> bool:
        """Return True if the possible beginning of a stored value is too short to reveal it.

        Text after a mark is never harmless: a password in an address may be as short.
        """
        matches, until = self._search(text, at)
        return not matches and until == len(text) and len(_BLANK.sub("", text[at:])) <= _HARMLESS_LENGTH

    def _search(self, text: str, at: int) -> tuple[list[Match], int]:
        """Return the secrets, and the start of the first incomplete one with a shape."""
        matches: list[Match] = []
        if self._handles:
            matches = [*self._find_broken(text, at), *self._find_escaped(text, at), *self._find_in_dumps(text, at)]
        until = len(text)
        for index, start, end in _find_hits(self._everything, text):
            target = self._targets[index]
            if isinstance(target, str):
                matches.append(Match(start, end, self._handles[target]))
                continue
            begin = start if target is None else start - target.behind
            if begin < 0:
                continue
            matches += self._find_handle(text, begin) if target is None else self._find_token(target, text, begin)
            open_ = (_OPEN_HANDLE if target is None else target.open).match(text, begin)
            if open_ is not None and open_.end(1) > open_.start(1) >= at:
                until = min(until, open_.start(1))
        return _merge([match for match in matches if match.start >= at]), until

    def _find_token(self, shape: Shape, text: str, at: int) -> list[Match]:
        match = shape.full.match(text, at)
        return [] if match is None else [Match(match.start(1), match.end(1), self._handles.get(match[1], ""))]

    def _find_handle(self, text: str, at: int) -> list[Match]:
        match = self._handle.match(text, at)
        return [] if match is None else [Match(match.start(), match.end(), None)]

    def _find_broken(self, text: str, at: int) -> list[Match]:
        """Return stored values that are split over lines."""
        if ("\n" not in text and "\\n" not in text) or not _find_hits(self._values, _join_lines(text)):
            return []
        return _find_without(_BREAK, self._values, text, at)

    def _find_escaped(self, text: str, at: int) -> list[Match]:
        """Return stored values with unusual escapes."""
        return _find_without(_ESCAPES, self._unescaped_values, text, at) if self._unescaped and "\\" in text else []

    def _find_in_dumps(self, text: str, at: int) -> list[Match]:
        """Return rows of dumps that contain stored values."""
        matches: list[Match] = []
        for dump in find_dumps(text, at):
            for _, first, behind in _find_hits(self._dumped, dump.data):
                matches.append(Match(*dump.find_span(first, behind), ""))
        return matches

    def _find_open_dump(self, text: str, at: int) -> int:
        """Return the first row at the end of the text that may begin a stored value, else the end."""
        if not self._handles:
            return len(text)
        opened, line = find_open_row(text)
        position = max(opened, at)
        # Rows before a line that may become one.
        before = text[:line].rstrip("\r\n")
        for dump in find_dumps(before, at):
            if dump.rows[-1].end < len(before):
                continue
            for first in range(max(0, len(dump.data) - self._dumped_longest), len(dump.data)):
                tail = dump.data[first:]
                if any(value.startswith(tail) for value in self._dumped_by_first.get(tail[0], ())):
                    position = min(position, max(dump.find_span(first, len(dump.data))[0], at))
                    break
        return position

    def _find_open_value(self, text: str, at: int, until: int) -> int:
        """Return the first position of a stored value that may continue after the text, else `until`."""
        for position in range(max(at, len(text) - self._longest), until):
            starting = self._by_first.get(text[position])
            if starting is not None and _is_beginning(starting, text[position:]):
                return position
        return until


def read_context(text: str, until: int) -> str:
    """Return the decided text that later text depends on."""
    return text[max(0, until - MAX_MARK_CHARS) : until]


def _find_hits(automaton: AhoCorasick, text: str) -> list[tuple[int, int, int]]:
    try:
        return automaton.find_matches_as_indexes(text, overlapping=True)
    except UnicodeEncodeError:
        # An unpaired surrogate or invalid byte is replaced by one character.
        return automaton.find_matches_as_indexes(text.encode("utf-8", "replace").decode(), overlapping=True)


def _merge(matches: list[Match]) -> list[Match]:
    """Return the matches in order, with overlapping ones merged."""
    matches.sort(key=lambda match: (match.start, match.handle == "", -match.end))
    merged: list[Match] = []
    for match in matches:
        last = merged[-1] if merged else None
        if last is None or match.start >= last.end:
            merged.append(match)
        elif match.end > last.end and match.handle is not None and last.handle is not None:
            # Merge both into one unnamed secret, so that no part is left.
            merged[-1] = Match(last.start, match.end, "")
    return merged


def _is_beginning(values: list[str], tail: str) -> bool:
    """Return True if a value may begin with this text and continue. Line breaks and escapes in the text are ignored."""
    tails = {tail, _BREAK_BEGINS.sub("", _BREAK.sub("", tail)), _ESCAPES.sub("", tail)}
    return any(len(value) > len(text) and value.startswith(text) for text in tails for value in values)


def _group_by_first(texts: list[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(text[0], []).append(text)
    return groups


def _join_lines(text: str) -> str:
    """Return the text without line breaks and indents."""
    if "\\n" in text:
        text = text.replace("\\r", "").replace("\\n", "\n")
    return "".join([line.strip() for line in text.split("\n")])


def _unescape(handles: Mapping[str, str]) -> list[str]:
    """Return the values that escaping changes, without escape characters."""
    values: dict[str, None] = {}
    for text, handle in handles.items():
        # Its forms give the same result.
        if "#" not in handle and _ESCAPES.search(text):
            for escaped in (text, json.dumps(text)):
                bare = _ESCAPES.sub("", escaped)
                if len(bare) >= _MIN_BARE_CHARS:
                    values[bare] = None
    return list(values)


def _find_without(ignored: re.Pattern[str], values: AhoCorasick, text: str, at: int) -> list[Match]:
    """Return values that the text contains once the pattern `ignored` is removed, but not before."""
    stripped = ignored.sub("", text)
    hits = _find_hits(values, stripped)
    if not hits:
        return []
    # For positions in the stripped text: the number of characters removed before.
    ends: list[int] = []
    shifts = [0]
    for match in ignored.finditer(text):
        ends.append(match.start() - shifts[-1])
        shifts.append(shifts[-1] + match.end() - match.start())
    matches: list[Match] = []
    for _, first, behind in hits:
        start = first + shifts[bisect_right(ends, first)]
        end = behind + shifts[bisect_right(ends, behind - 1)]
        if end - start > behind - first and start >= at:
            matches.append(Match(start, end, ""))
    return matches
