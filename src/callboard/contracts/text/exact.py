"""Exact display of a text that a person decides on.

Invisible characters are marked. Long and empty stretches are folded, with counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Literal

import msgspec

#: Control characters except tab and line feed, format characters, separators, surrogates,
#: default-ignorable code points, and spaces that look like the plain one. A test compares the list
#: with the Unicode database.
INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680\u17b4\u17b5"
    r"\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_RUN = re.compile(rf"({INVISIBLE.pattern})\1*")
#: Longer stretches of blanks could push the rest of a line out of sight.
_BLANKS = re.compile(r"[ \t]{61,}")
_HANDLE = re.compile(r"secret://seen-[0-9a-f]{12}")

#: Maximum number of consecutive empty lines shown.
MAX_EMPTY_LINES = 3
#: Lines of a text shown from its head and tail.
HEAD, TAIL = 24, 12
#: Characters of a line shown from its head and tail.
LINE_HEAD, LINE_TAIL = 1200, 600


class Fold(msgspec.Struct, frozen=True):
    """A hidden stretch.

    Attributes:
        kind: Unit of `count`.
        text: The complete stretch, marked.
    """

    kind: Literal["empty_lines", "lines", "characters"]
    count: int
    text: str


def mark(text: str) -> str:
    r"""Mark every invisible character. Equal consecutive ones share a mark. CRLF is a line break.

    Example:
        mark("rm\u00ad -rf") == "rm⟨U+00AD⟩ -rf"
    """
    marked = _RUN.sub(_format_mark, text.replace("\r\n", "\n"))
    return _BLANKS.sub(lambda match: f" ⟨U+0020 ×{len(match[0])}⟩ ", marked)


def count_invisible(text: str) -> int:
    """Count the characters that `mark` writes out."""
    return len(INVISIBLE.findall(text.replace("\r\n", "\n")))


def count_masked(text: str) -> int:
    """Count the stretches that redaction replaced because they look like secrets."""
    return len(_HANDLE.findall(text))


def fold(text: str, *, is_diff: bool = False) -> list[str | Fold]:
    """Return the marked lines of a text, with counted folds for long and empty stretches.

    Args:
        is_diff: A leading `+`, `-` or space of a line belongs to a diff.
    """
    lines: list[str | Fold] = []
    for empty, group in groupby(mark(text).split("\n"), key=lambda line: _find_empty_key(line, is_diff=is_diff)):
        run = list(group)
        if empty is not None and len(run) > MAX_EMPTY_LINES:
            lines.append(Fold("empty_lines", len(run), "\n".join(run)))
        else:
            lines += (part for line in run for part in _fold_line(line))
    if len(lines) <= HEAD + TAIL + 1:
        return lines
    hidden = lines[HEAD:-TAIL]
    whole = "\n".join(part if isinstance(part, str) else part.text for part in hidden)
    return [*lines[:HEAD], Fold("lines", whole.count("\n") + 1, whole), *lines[-TAIL:]]


def describe(part: Fold) -> str:
    """Return a line with the size of a fold."""
    things = {"empty_lines": "empty lines", "lines": "more lines", "characters": "more characters"}
    return f"… {part.count:,} {things[part.kind]}"


def _format_mark(match: re.Match[str]) -> str:
    count = len(match[0])
    return f"⟨U+{ord(match[0][0]):04X}{f' ×{count}' if count > 1 else ''}⟩"


def _find_empty_key(line: str, *, is_diff: bool) -> str | None:
    """Return a key of the empty run that the line belongs to; None for a line with content."""
    sign = line[:1] if is_diff and line[:1] in ("+", "-") else ""
    return sign if not line[len(sign) :].strip(" \t") else None


def _fold_line(line: str) -> Iterator[str | Fold]:
    if len(line) <= LINE_HEAD + LINE_TAIL:
        yield line
        return
    hidden = line[LINE_HEAD:-LINE_TAIL]
    yield line[:LINE_HEAD]
    yield Fold("characters", len(hidden), hidden)
    yield line[-LINE_TAIL:]
