"""Text that every match of a regular expression contains. A file without it needs no line-by-line search."""

from __future__ import annotations

import re

#: Minimum length. A shorter text is in too many files.
MIN_CHARS = 2
#: Escapes followed by a number or a name.
_NUMBERED = "xuUN0123456789"
_REPEATS = re.compile(r"\{\d*(,\d*)?\}")


def find_required_text(pattern: str) -> str:
    """Return the longest ASCII text that every match contains; empty for patterns with groups or alternatives."""
    if any(character in pattern for character in "(|"):
        return _find_if_escaped(pattern)
    return _find_longest(pattern)


def _find_if_escaped(pattern: str) -> str:
    """Return the text if all parentheses and bars are escaped."""
    plain = re.sub(r"\\.", "", pattern, flags=re.DOTALL)
    return "" if any(char in plain for char in "(|") else _find_longest(pattern)


def _find_longest(pattern: str) -> str:
    runs, run, index = list[str](), "", 0
    while index < len(pattern):
        char = pattern[index]
        escaped = pattern[index + 1 : index + 2] if char == "\\" else ""
        index += 2 if escaped else 1
        if escaped and escaped in _NUMBERED:
            return ""
        if char == "[":
            index = _skip_set(pattern, index)
        elif char in "*?{":
            # The character before may occur zero times.
            run = run[:-1]
            repeats = _REPEATS.match(pattern, index - 1) if char == "{" else None
            index = repeats.end() if repeats is not None else index
        elif escaped and not escaped.isalnum() and escaped.isascii():
            run += escaped
            continue
        elif char not in ".^$+\\" and char.isascii():
            run += char
            continue
        runs.append(run)
        run = ""
    longest = max((*runs, run), key=len)
    return longest if len(longest) >= MIN_CHARS else ""


def _skip_set(pattern: str, index: int) -> int:
    """Return the index after a set that begins before `index`."""
    index += pattern[index : index + 1] == "^"
    index += pattern[index : index + 1] == "]"
    while index < len(pattern) and pattern[index] != "]":
        index += 2 if pattern[index] == "\\" else 1
    return index + 1
