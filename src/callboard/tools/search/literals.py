"""Text that every match of a regular expression contains, so that a file without it needs no line-by-line search."""

from __future__ import annotations

import re

#: A shorter text is in too many files to leave any out.
SHORTEST = 2
#: Escapes with a number or a name behind them, which is no text.
_NUMBERED = "xuUN0123456789"
_REPEATS = re.compile(r"\{\d*(,\d*)?\}")


def find_required_text(pattern: str) -> str:
    """The longest ASCII text that any match contains; empty where there is none that is plain to see.

    Groups and alternatives are not read: a pattern that has one gets no text.
    """
    if any(char in pattern for char in "(|"):
        return _escaped_only(pattern)
    return _longest(pattern)


def _escaped_only(pattern: str) -> str:
    """The text of a pattern whose parentheses and bars are all escaped."""
    plain = re.sub(r"\\.", "", pattern, flags=re.DOTALL)
    return "" if any(char in plain for char in "(|") else _longest(pattern)


def _longest(pattern: str) -> str:
    runs, run, at = list[str](), "", 0
    while at < len(pattern):
        char = pattern[at]
        escaped = pattern[at + 1 : at + 2] if char == "\\" else ""
        at += 2 if escaped else 1
        if escaped and escaped in _NUMBERED:
            return ""
        if char == "[":
            at = _end_of_set(pattern, at)
        elif char in "*?{":
            # What stands before may be there no times at all.
            run = run[:-1]
            repeats = _REPEATS.match(pattern, at - 1) if char == "{" else None
            at = repeats.end() if repeats is not None else at
        elif escaped and not escaped.isalnum() and escaped.isascii():
            run += escaped
            continue
        elif char not in ".^$+\\" and char.isascii():
            run += char
            continue
        runs.append(run)
        run = ""
    longest = max((*runs, run), key=len)
    return longest if len(longest) >= SHORTEST else ""


def _end_of_set(pattern: str, at: int) -> int:
    """The place behind a set that begins before `at`."""
    at += pattern[at : at + 1] == "^"
    at += pattern[at : at + 1] == "]"
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1
