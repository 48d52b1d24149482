"""Finds what must not be written down in one text: known values in all their forms, and what has the shape of a token.

One pass over the text looks for all known forms and all marks of shapes at once; where none is there, that is all it costs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from ahocorasick_rs import AhoCorasick

from callboard.contracts.ports.secrets import HANDLE

from .shapes import LONGEST_DOTTED, LONGEST_OPEN, LONGEST_WORD, SHAPES, Shape, beginning

#: What a name may have in it, and with it whatever could be read as a part of a handle that stands before it.
IN_HANDLE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-#~")
#: What was seen and has no name of a person's.
SEEN = r"seen-[0-9a-f]{12}"
_FORM = r"(?:#[a-z][a-z0-9-]*)?~?"
#: Where a line is broken, also in a JSON text, and what a line may be indented by.
_BREAK = re.compile(r"(?:\r?\n|(?:\\r)?\\n)[ \t]{0,40}")
_BREAK_BEGINS = re.compile(r"(?:\r|\\|\\r|\\r\\)\Z")
_OPEN = re.compile(
    "|".join([*(shape.open for shape in SHAPES), rf"(?:{beginning(HANDLE)}|{HANDLE}[A-Za-z0-9_#~-]{{0,110}})\Z"])
)
_OPEN_SPACES = [
    (mark, shape.behind, re.compile(shape.open)) for shape in SHAPES if shape.spaces for mark in shape.marks
]
_MARKS = {mark: shape for shape in SHAPES for mark in shape.marks}


@dataclass(frozen=True, slots=True)
class Found:
    """A match from `start` to `end`, in which the secret stands from `first` to `last`. `handle` is that of a known value,
    empty where the secret has none, and None where the match is a handle already."""

    start: int
    end: int
    first: int
    last: int
    handle: str | None


class Matcher:
    """Holds the known values of one moment. `known` gives the handle of every text that one of them may stand in as, `names`
    are those whose handles are left as they are."""

    def __init__(self, known: Mapping[str, str], names: frozenset[str]) -> None:
        self._known = dict(known)
        self._longest = max(map(len, self._known), default=0)
        self._starting: dict[str, list[str]] = {}
        for text in self._known:
            self._starting.setdefault(text[0], []).append(text)
        self._looked_for: list[str | Shape | None] = [*self._known, *_MARKS.values(), None]
        self._all = AhoCorasick([*self._known, *_MARKS, HANDLE])
        self._values = AhoCorasick(list(self._known))
        named = "".join(f"|{re.escape(name)}" for name in sorted(names, key=len, reverse=True))
        self._handle = re.compile(rf"{re.escape(HANDLE)}(?:{SEEN}{named})(?![A-Za-z0-9_-]){_FORM}")

    def find(self, text: str, at: int = 0) -> list[Found]:
        """The matches that begin at a place or later, in order. Those that overlap are one."""
        every = self._each(text, at) + self._broken(text, at)
        every.sort(key=lambda one: (one.start, one.handle == "", -one.end))
        matches: list[Found] = []
        for one in every:
            last = matches[-1] if matches else None
            if last is None or one.start >= last.end:
                matches.append(one)
            elif one.end > last.end and one.handle is not None and last.handle is not None:
                # No rest of a secret is left: all of both is one that has no name.
                matches[-1] = Found(last.start, one.end, min(last.first, one.first), one.last, "")
        return matches

    def cut(self, text: str, at: int) -> tuple[int, list[Found]]:
        """How far a text, which goes on, is decided whatever follows, and the matches up to there."""
        matches = self.find(text, at)
        until = self._open(text, at)
        for one in matches:
            if one.start < until < one.end:
                # What may begin within a match may lead beyond it.
                until = one.start
        return until, [one for one in matches if one.start < until]

    def _each(self, text: str, at: int) -> list[Found]:
        matches: list[Found] = []
        for index, start, end in _look(self._all, text):
            what = self._looked_for[index]
            one: Found | None
            if what is None:
                one = _kept(self._handle.match(text, start))
            elif isinstance(what, Shape):
                one = _shaped(what.full.match(text, start - what.behind), self._known) if start >= what.behind else None
            else:
                one = Found(start, end, start, end, self._known[what])
            if one is not None and one.start >= at:
                matches.append(one)
        return matches

    def _broken(self, text: str, at: int) -> list[Found]:
        """The known values whose characters stand in more than one line."""
        if not self._known or ("\n" not in text and "\\n" not in text) or not _look(self._values, _one_line(text)):
            return []
        whole = _BREAK.sub("", text)
        ends, shifts = _breaks(text)
        matches: list[Found] = []
        for _, first, behind in _look(self._values, whole):
            start = first + shifts[bisect_right(ends, first)]
            end = behind + shifts[bisect_right(ends, behind - 1)]
            if end - start > behind - first and start >= at:
                matches.append(Found(start, end, start, end, ""))
        return matches

    def _open(self, text: str, at: int) -> int:
        """Where the first beginning of a possible match is that more text may complete; the end where there is none."""
        size = len(text)
        first = _open_word(text, at)
        for mark, behind, pattern in _OPEN_SPACES:
            place = text.find(mark, max(at + behind, size - LONGEST_OPEN))
            while 0 <= place < first:
                if pattern.match(text, place - behind):
                    first = place - behind
                place = text.find(mark, place + 1)
        for place in range(max(at, size - 2 * self._longest), first):
            starting = self._starting.get(text[place])
            if starting is not None and _begins(starting, text[place:]):
                return place
        return first


def _look(automaton: AhoCorasick, text: str) -> list[tuple[int, int, int]]:
    try:
        return automaton.find_matches_as_indexes(text, overlapping=True)
    except UnicodeEncodeError:
        # Half of a pair, or a byte that is no text: one character takes its place.
        return automaton.find_matches_as_indexes(text.encode("utf-8", "replace").decode(), overlapping=True)


def _shaped(match: re.Match[str] | None, known: Mapping[str, str]) -> Found | None:
    if match is None:
        return None
    group = 1 if match.re.groups else 0
    return Found(match.start(), match.end(), match.start(group), match.end(group), known.get(match[group], ""))


def _kept(match: re.Match[str] | None) -> Found | None:
    return None if match is None else Found(match.start(), match.end(), match.start(), match.end(), None)


def _open_word(text: str, at: int) -> int:
    """Where in the last word a shape may begin."""
    size = len(text)
    word = max(text.rfind(space, at) for space in " \n\t\r") + 1
    reach = LONGEST_DOTTED if text.find("eyJ", max(at, word, size - LONGEST_DOTTED)) >= 0 else LONGEST_WORD
    found = _OPEN.search(text, max(at, word, size - reach))
    return size if found is None else found.start()


def _begins(values: list[str], tail: str) -> bool:
    """Whether a value may begin with this text and go on. A text of several lines is looked at without its breaks."""
    if any(len(value) > len(tail) and value.startswith(tail) for value in values):
        return True
    whole = _BREAK_BEGINS.sub("", _BREAK.sub("", tail))
    return len(whole) < len(tail) and any(len(value) > len(whole) and value.startswith(whole) for value in values)


def _one_line(text: str) -> str:
    """The text without breaks and indents, cheaply."""
    if "\\n" in text:
        text = text.replace("\\r", "").replace("\\n", "\n")
    return "".join([line.strip() for line in text.split("\n")])


def _breaks(text: str) -> tuple[list[int], list[int]]:
    """Of a text without its breaks: from which places on so many characters were left out before."""
    ends: list[int] = []
    shifts = [0]
    for match in _BREAK.finditer(text):
        ends.append(match.start() - shifts[-1])
        shifts.append(shifts[-1] + match.end() - match.start())
    return ends, shifts
