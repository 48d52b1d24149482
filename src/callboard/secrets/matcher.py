"""Search for secrets in a text: stored values in every form, and tokens by shape.

One pass over the text finds every form and every mark of a shape.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from ahocorasick_rs import AhoCorasick

from callboard.contracts.ports.secrets import HANDLE

from .dumps import as_bytes, find_dumps, open_row
from .forms import FORM, WIDE
from .shapes import LONGEST_MARK, SHAPES, Shape

#: Characters that could be read as part of a handle before them.
IN_HANDLE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-#~")
#: Name of a value that was only seen.
SEEN = r"seen-[0-9a-f]{12}"
_FORM = rf"(?:#{FORM}(?![a-z0-9-]))?~?"
#: A line break, also in JSON text, with the indent after it.
_BREAK = re.compile(r"(?:\r?\n|(?:\\r)?\\n)[ \t]{0,40}")
_BREAK_BEGINS = re.compile(r"(?:\r|\\|\\r|\\r\\)\Z")
#: Characters that escaping adds. Values with some are also searched without them.
_ESCAPES = re.compile(r"[\\\"']+")
_SHORTEST_BARE = 10
#: Number of characters of a value that do not reveal it.
_TELLS_NOTHING = 3
_BLANK = re.compile(r"[\s\\\"']+")
_OPEN_HANDLE = re.compile(rf"{HANDLE}([A-Za-z0-9_#~-]{{0,110}})\Z")
#: Handles of forms that dumps are searched for: a value, its halves and its lines.
_SHOWN = re.compile(rf"\A{HANDLE}[^#]*(?:#(?:half|line)-[0-9]+)?\Z")
_MARKS = {mark: shape for shape in SHAPES for mark in shape.marks}


@dataclass(frozen=True, slots=True)
class Match:
    """A secret from `start` to `end`. `handle` is empty for an unnamed value and None for an
    existing handle.
    """

    start: int
    end: int
    handle: str | None


class Matcher:
    """Searches for the stored values of one moment.

    Args:
        known: Handle of every text that a value can have.
        names: Names whose handles stay unchanged.
    """

    def __init__(self, known: Mapping[str, str], names: frozenset[str]) -> None:
        self._known = dict(known)
        self._bare = _bare(self._known)
        narrow = (len(text) for text, handle in self._known.items() if not WIDE.search(handle))
        self._longest = max(max(narrow, default=0) * (4 if self._bare else 2), max(map(len, self._known), default=0))
        self._starting = _by_first([*self._known, *self._bare])
        self._looked_for: list[str | Shape | None] = [*self._known, *_MARKS.values(), None]
        self._all = AhoCorasick([*self._known, *_MARKS, HANDLE])
        self._values = AhoCorasick(list(self._known))
        plain = [as_bytes(text) for text, handle in self._known.items() if _SHOWN.search(handle)]
        self._dumped = AhoCorasick(plain)
        self._dumped_longest = max(map(len, plain), default=0)
        self._dumped_starting = _by_first(plain)
        self._bare_values = AhoCorasick(self._bare)
        named = "".join(f"|{re.escape(name)}" for name in sorted(names, key=len, reverse=True))
        self._handle = re.compile(rf"{re.escape(HANDLE)}(?:{SEEN}{named})(?![A-Za-z0-9_-]){_FORM}")

    def find(self, text: str, at: int = 0) -> list[Match]:
        """Return the secrets from a position on, in order. Overlapping secrets are one."""
        return self._look(text, at)[0]

    def cut(self, text: str, at: int) -> tuple[int, list[Match]]:
        """Return up to where a growing text is decided, and the secrets before that."""
        found, until = self._look(text, at)
        until = min(until, self._begun(text, at, until), self._begun_dump(text, at))
        for one in found:
            if one.start < until < one.end:
                # A secret that may begin within a match may extend beyond it.
                until = one.start
        return until, [one for one in found if one.start < until]

    def harmless(self, text: str, at: int) -> bool:
        """Return True if the possible beginning of a stored value is too short to reveal it.

        Text after a mark is never harmless: a password in an address may be as short.
        """
        found, until = self._look(text, at)
        return not found and until == len(text) and len(_BLANK.sub("", text[at:])) <= _TELLS_NOTHING

    def _look(self, text: str, at: int) -> tuple[list[Match], int]:
        """Return the secrets, and the start of the first incomplete one with a shape."""
        every = [*self._broken(text, at), *self._escaped(text, at), *self._in_dumps(text, at)]
        until = len(text)
        for index, start, end in _hits(self._all, text):
            what = self._looked_for[index]
            if isinstance(what, str):
                every.append(Match(start, end, self._known[what]))
                continue
            begin = start if what is None else start - what.behind
            if begin < 0:
                continue
            every += self._handles(text, begin) if what is None else self._shaped(what, text, begin)
            open_ = (_OPEN_HANDLE if what is None else what.open).match(text, begin)
            if open_ is not None and open_.end(1) > open_.start(1) >= at:
                until = min(until, open_.start(1))
        return _apart([one for one in every if one.start >= at]), until

    def _shaped(self, shape: Shape, text: str, at: int) -> list[Match]:
        match = shape.full.match(text, at)
        return [] if match is None else [Match(match.start(1), match.end(1), self._known.get(match[1], ""))]

    def _handles(self, text: str, at: int) -> list[Match]:
        match = self._handle.match(text, at)
        return [] if match is None else [Match(match.start(), match.end(), None)]

    def _broken(self, text: str, at: int) -> list[Match]:
        """Return stored values that are split over lines."""
        if not self._known or ("\n" not in text and "\\n" not in text) or not _hits(self._values, _one_line(text)):
            return []
        return _without(_BREAK, self._values, text, at)

    def _escaped(self, text: str, at: int) -> list[Match]:
        """Return stored values that were escaped in an unnamed way."""
        return _without(_ESCAPES, self._bare_values, text, at) if self._bare and "\\" in text else []

    def _in_dumps(self, text: str, at: int) -> list[Match]:
        """Return rows of dumps that contain stored values."""
        found: list[Match] = []
        for dump in find_dumps(text, at) if self._known else ():
            for _, first, behind in _hits(self._dumped, dump.data):
                found.append(Match(*dump.span(first, behind), ""))
        return found

    def _begun_dump(self, text: str, at: int) -> int:
        """Return the first row at the end of the text that may show the beginning of a stored
        value, else the end.
        """
        if not self._known:
            return len(text)
        opened, line = open_row(text)
        place = max(opened, at)
        # Rows before a line that may become one.
        before = text[:line].rstrip("\r\n")
        for dump in find_dumps(before, at):
            if dump.rows[-1].end < len(before):
                continue
            for first in range(max(0, len(dump.data) - self._dumped_longest), len(dump.data)):
                tail = dump.data[first:]
                if any(value.startswith(tail) for value in self._dumped_starting.get(tail[0], ())):
                    place = min(place, max(dump.span(first, len(dump.data))[0], at))
                    break
        return place

    def _begun(self, text: str, at: int, until: int) -> int:
        """Return the first position of a stored value that may continue after the text, else `until`."""
        for place in range(max(at, len(text) - self._longest), until):
            starting = self._starting.get(text[place])
            if starting is not None and _begins(starting, text[place:]):
                return place
        return until


def context(text: str, until: int) -> str:
    """Return the decided text that later text depends on."""
    return text[max(0, until - LONGEST_MARK) : until]


def _hits(automaton: AhoCorasick, text: str) -> list[tuple[int, int, int]]:
    try:
        return automaton.find_matches_as_indexes(text, overlapping=True)
    except UnicodeEncodeError:
        # An unpaired surrogate or invalid byte is replaced by one character.
        return automaton.find_matches_as_indexes(text.encode("utf-8", "replace").decode(), overlapping=True)


def _apart(every: list[Match]) -> list[Match]:
    """Return the matches in order, with overlapping ones merged."""
    every.sort(key=lambda one: (one.start, one.handle == "", -one.end))
    found: list[Match] = []
    for one in every:
        last = found[-1] if found else None
        if last is None or one.start >= last.end:
            found.append(one)
        elif one.end > last.end and one.handle is not None and last.handle is not None:
            # Merge both into one unnamed secret, so that no part is left.
            found[-1] = Match(last.start, one.end, "")
    return found


def _begins(values: list[str], tail: str) -> bool:
    """Return True if a value may begin with this text and continue. Line breaks in the text are ignored."""
    if any(len(value) > len(tail) and value.startswith(tail) for value in values):
        return True
    for whole in (_BREAK_BEGINS.sub("", _BREAK.sub("", tail)), _ESCAPES.sub("", tail)):
        if len(whole) < len(tail) and any(len(value) > len(whole) and value.startswith(whole) for value in values):
            return True
    return False


def _by_first(texts: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in texts:
        found.setdefault(text[0], []).append(text)
    return found


def _one_line(text: str) -> str:
    """Return the text without line breaks and indents."""
    if "\\n" in text:
        text = text.replace("\\r", "").replace("\\n", "\n")
    return "".join([line.strip() for line in text.split("\n")])


def _bare(known: Mapping[str, str]) -> list[str]:
    """Return the values that escaping changes, without escape characters."""
    found: dict[str, None] = {}
    for text, handle in known.items():
        # Its forms give the same result.
        if "#" not in handle and _ESCAPES.search(text):
            for one in (text, json.dumps(text)):
                bare = _ESCAPES.sub("", one)
                if len(bare) >= _SHORTEST_BARE:
                    found[bare] = None
    return list(found)


def _without(left_out: re.Pattern[str], values: AhoCorasick, text: str, at: int) -> list[Match]:
    """Return values in a text without some of its characters, where the text has them."""
    whole = left_out.sub("", text)
    hits = _hits(values, whole)
    if not hits:
        return []
    # For positions in the stripped text: the number of characters removed before.
    ends: list[int] = []
    shifts = [0]
    for match in left_out.finditer(text):
        ends.append(match.start() - shifts[-1])
        shifts.append(shifts[-1] + match.end() - match.start())
    found: list[Match] = []
    for _, first, behind in hits:
        start = first + shifts[bisect_right(ends, first)]
        end = behind + shifts[bisect_right(ends, behind - 1)]
        if end - start > behind - first and start >= at:
            found.append(Match(start, end, ""))
    return found
