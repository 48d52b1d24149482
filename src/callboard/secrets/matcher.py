"""Finds what must not be written down in one text: known values in all their forms, and what has the shape of a token.

One pass over the text looks for all known forms and all marks of shapes at once; where none is there, that is all it costs.
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

#: What a name may have in it, and with it whatever could be read as a part of a handle that stands before it.
IN_HANDLE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-#~")
#: What was seen and has no name of a person's.
SEEN = r"seen-[0-9a-f]{12}"
_FORM = rf"(?:#{FORM}(?![a-z0-9-]))?~?"
#: Where a line is broken, also in a JSON text, and what a line may be indented by.
_BREAK = re.compile(r"(?:\r?\n|(?:\\r)?\\n)[ \t]{0,40}")
_BREAK_BEGINS = re.compile(r"(?:\r|\\|\\r|\\r\\)\Z")
#: What escaping adds, however often a text was escaped; a value that has some of it is also looked for without.
_ESCAPES = re.compile(r"[\\\"']+")
_SHORTEST_BARE = 10
#: So many characters of the beginning of a value do not give it away, beside those that hardly tell one from another.
_TELLS_NOTHING = 3
_BLANK = re.compile(r"[\s\\\"']+")
_OPEN_HANDLE = re.compile(rf"{HANDLE}([A-Za-z0-9_#~-]{{0,110}})\Z")
#: The handles of what a dump is searched for: a value, its halves and its lines.
_SHOWN = re.compile(rf"\A{HANDLE}[^#]*(?:#(?:half|line)-[0-9]+)?\Z")
_MARKS = {mark: shape for shape in SHAPES for mark in shape.marks}


@dataclass(frozen=True, slots=True)
class Match:
    """A secret from `start` to `end`. `handle` is that of a known value, empty where it has none, and None where it is a handle
    already."""

    start: int
    end: int
    handle: str | None


class Matcher:
    """Holds the known values of one moment. `known` gives the handle of every text that one of them may stand in as, `names`
    are those whose handles are left as they are."""

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
        """The secrets that begin at a place or later, in order. Those that overlap are one."""
        return self._look(text, at)[0]

    def cut(self, text: str, at: int) -> tuple[int, list[Match]]:
        """How far a text, which goes on, is decided whatever follows, and the secrets up to there."""
        found, until = self._look(text, at)
        until = min(until, self._begun(text, at, until), self._begun_dump(text, at))
        for one in found:
            if one.start < until < one.end:
                # What may begin within a match may lead beyond it.
                until = one.start
        return until, [one for one in found if one.start < until]

    def harmless(self, text: str, at: int) -> bool:
        """Whether a stretch up to the end, which may go on as a secret, can be shown all the same: it is the beginning of a
        known value and too short to give it away. Behind a mark nothing is: a password in an address may be as short."""
        found, until = self._look(text, at)
        return not found and until == len(text) and len(_BLANK.sub("", text[at:])) <= _TELLS_NOTHING

    def _look(self, text: str, at: int) -> tuple[list[Match], int]:
        """The secrets, and where the first one may begin that has a shape and is not complete."""
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
        """The known values whose characters stand in more than one line."""
        if not self._known or ("\n" not in text and "\\n" not in text) or not _hits(self._values, _one_line(text)):
            return []
        return _without(_BREAK, self._values, text, at)

    def _escaped(self, text: str, at: int) -> list[Match]:
        """The known values that were escaped in some way that has no name."""
        return _without(_ESCAPES, self._bare_values, text, at) if self._bare and "\\" in text else []

    def _in_dumps(self, text: str, at: int) -> list[Match]:
        """The rows of dumps that show the bytes of known values."""
        found: list[Match] = []
        for dump in find_dumps(text, at) if self._known else ():
            for _, first, behind in _hits(self._dumped, dump.data):
                found.append(Match(*dump.span(first, behind), ""))
        return found

    def _begun_dump(self, text: str, at: int) -> int:
        """The first row at the end of a text that may show the beginning of a known value; the end where there is none."""
        if not self._known:
            return len(text)
        opened, line = open_row(text)
        place = max(opened, at)
        # The rows before a line that may become one.
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
        """The first place in a stretch where a known value may begin that goes on behind the text; its end where there is
        none."""
        for place in range(max(at, len(text) - self._longest), until):
            starting = self._starting.get(text[place])
            if starting is not None and _begins(starting, text[place:]):
                return place
        return until


def context(text: str, until: int) -> str:
    """As much of what is decided as tells what the text behind it is."""
    return text[max(0, until - LONGEST_MARK) : until]


def _hits(automaton: AhoCorasick, text: str) -> list[tuple[int, int, int]]:
    try:
        return automaton.find_matches_as_indexes(text, overlapping=True)
    except UnicodeEncodeError:
        # Half of a pair, or a byte that is no text: one character takes its place.
        return automaton.find_matches_as_indexes(text.encode("utf-8", "replace").decode(), overlapping=True)


def _apart(every: list[Match]) -> list[Match]:
    """The same in order, those that overlap as one."""
    every.sort(key=lambda one: (one.start, one.handle == "", -one.end))
    found: list[Match] = []
    for one in every:
        last = found[-1] if found else None
        if last is None or one.start >= last.end:
            found.append(one)
        elif one.end > last.end and one.handle is not None and last.handle is not None:
            # No rest of a secret is left: all of both is one that has no name.
            found[-1] = Match(last.start, one.end, "")
    return found


def _begins(values: list[str], tail: str) -> bool:
    """Whether a value may begin with this text and go on. A text of several lines is looked at without its breaks."""
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
    """The text without breaks and indents, cheaply."""
    if "\\n" in text:
        text = text.replace("\\r", "").replace("\\n", "\n")
    return "".join([line.strip() for line in text.split("\n")])


def _bare(known: Mapping[str, str]) -> list[str]:
    """The values that escaping changes, without what it adds."""
    found: dict[str, None] = {}
    for text, handle in known.items():
        # The forms of a value come to the same.
        if "#" not in handle and _ESCAPES.search(text):
            for one in (text, json.dumps(text)):
                bare = _ESCAPES.sub("", one)
                if len(bare) >= _SHORTEST_BARE:
                    found[bare] = None
    return list(found)


def _without(left_out: re.Pattern[str], values: AhoCorasick, text: str, at: int) -> list[Match]:
    """The values that stand in a text without some of its characters, where they stand in it with them."""
    whole = left_out.sub("", text)
    hits = _hits(values, whole)
    if not hits:
        return []
    # From which places of the whole on so many characters were left out before.
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
