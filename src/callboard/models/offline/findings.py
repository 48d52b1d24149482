"""The lines that a search found, out of the results of tools."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import msgspec

MOST_FILES = 6
_MOST_LINES = 4
_LONGEST = 160
_AROUND = 2
_HIT = re.compile(r"(?P<path>[^:\n]+):(?P<line>\d+):(?P<text>.*)")
_NUMBERED = re.compile(r"\s*(?P<line>\d+)(?:\t|→|[:|] ?)(?P<text>.*)")


class Hit(msgspec.Struct, frozen=True):
    """A line that holds words of the search; `words` is how many different ones."""

    path: str
    line: int
    text: str
    words: int

    @property
    def citation(self) -> str:
        return f"{self.path}:{self.line}"


class SearchFindings(msgspec.Struct, frozen=True):
    """A file with its best lines, in their order in the file. `total` counts all lines that were found in it."""

    path: str
    hits: tuple[Hit, ...]
    total: int

    @property
    def best(self) -> Hit:
        return max(self.hits, key=lambda hit: (hit.words, -hit.line))


def parse_findings(output: str, words: Sequence[str]) -> tuple[SearchFindings, ...]:
    """The files in lines of the form `path:line:text`, those with the most different words and then lines first."""
    by_path: defaultdict[str, list[Hit]] = defaultdict(list)
    for match in map(_HIT.fullmatch, output.splitlines()):
        if match is not None:
            text = match["text"].strip()
            count = sum(word in text.lower() for word in words)
            by_path[match["path"]].append(Hit(match["path"], int(match["line"]), _short(text), count))
    found = [(_distinct(hits, words), _found(path, hits)) for path, hits in by_path.items()]
    found.sort(key=lambda one: (-one[0], -one[1].total, one[1].path))
    return tuple(one for _, one in found)


def excerpt(output: str, line: int) -> tuple[tuple[int, str], ...]:
    """The lines around `line` with their numbers, out of the text of a file as it was read, numbered or not."""
    numbered = [_NUMBERED.fullmatch(text) for text in output.splitlines()]
    if numbered and all(numbered):
        lines = {int(match["line"]): match["text"] for match in numbered if match is not None}
    else:
        lines = dict(enumerate(output.splitlines(), 1))
    around = range(line - _AROUND, line + _AROUND + 1)
    return tuple((number, _short(lines[number])) for number in around if number in lines)


def _found(path: str, hits: list[Hit]) -> SearchFindings:
    best = sorted(hits, key=lambda hit: (-hit.words, hit.line))[:_MOST_LINES]
    return SearchFindings(path, tuple(sorted(best, key=lambda hit: hit.line)), len(hits))


def _distinct(hits: list[Hit], words: Sequence[str]) -> int:
    return sum(any(word in hit.text.lower() for hit in hits) for word in words)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
