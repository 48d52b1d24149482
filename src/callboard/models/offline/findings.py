"""Lines in the results of a search."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import msgspec

MAX_FILES = 6
_MAX_LINES = 4
_MAX_LINE_CHARS = 160
_AROUND = 2
_HIT = re.compile(r"(?P<path>[^:\n]+):(?P<line>\d+):(?P<text>.*)")
_NUMBERED = re.compile(r"\s*(?P<line>\d+)(?:\t|→|[:|] ?)(?P<text>.*)")


class Hit(msgspec.Struct, frozen=True):
    """A line with search words. `words` is the number of different ones."""

    path: str
    line: int
    text: str
    words: int

    @property
    def citation(self) -> str:
        return f"{self.path}:{self.line}"


class SearchFindings(msgspec.Struct, frozen=True):
    """A file with its best lines in order. `total` is the number of all its lines with search words."""

    path: str
    hits: tuple[Hit, ...]
    total: int

    @property
    def best(self) -> Hit:
        return max(self.hits, key=lambda hit: (hit.words, -hit.line))


def parse_findings(output: str, words: Sequence[str]) -> tuple[SearchFindings, ...]:
    """Parse lines `path:line:text` to files, ordered by the number of different words, then of lines."""
    by_path: defaultdict[str, list[Hit]] = defaultdict(list)
    for match in map(_HIT.fullmatch, output.splitlines()):
        if match is not None:
            text = match["text"].strip()
            count = sum(word in text.lower() for word in words)
            by_path[match["path"]].append(Hit(match["path"], int(match["line"]), _shorten(text), count))
    ranked = [(_count_words(hits, words), _select_best(path, hits)) for path, hits in by_path.items()]
    ranked.sort(key=lambda entry: (-entry[0], -entry[1].total, entry[1].path))
    return tuple(findings for _, findings in ranked)


def extract_lines(output: str, line: int) -> tuple[tuple[int, str], ...]:
    """Return the numbered lines around `line` from a tool's text of a file, with or without line numbers."""
    numbered = [_NUMBERED.fullmatch(text) for text in output.splitlines()]
    if numbered and all(numbered):
        lines = {int(match["line"]): match["text"] for match in numbered if match is not None}
    else:
        lines = dict(enumerate(output.splitlines(), 1))
    around = range(line - _AROUND, line + _AROUND + 1)
    return tuple((number, _shorten(lines[number])) for number in around if number in lines)


def _select_best(path: str, hits: list[Hit]) -> SearchFindings:
    best = sorted(hits, key=lambda hit: (-hit.words, hit.line))[:_MAX_LINES]
    return SearchFindings(path, tuple(sorted(best, key=lambda hit: hit.line)), len(hits))


def _count_words(hits: list[Hit], words: Sequence[str]) -> int:
    return sum(any(word in hit.text.lower() for hit in hits) for word in words)


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_LINE_CHARS else text[: _MAX_LINE_CHARS - 1] + "…"
