"""Globs over paths: `*`, `?` and `[...]` in one name, `**` over any number of folders, `{a,b}` for alternatives.

A pattern is anchored: `*.md` matches files directly in the folder, `**/*.md` at any depth. Matching
takes linear time, so a hostile pattern cannot block the process.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

MAX_ALTERNATIVES = 64


class InvalidGlobError(ValueError):
    """Invalid glob. The text states why."""


def expand(pattern: str) -> tuple[str, ...]:
    """Expand the braces of a pattern. Raises InvalidGlobError for too many alternatives."""
    done: list[str] = []
    todo = [pattern]
    while todo:
        alternative = todo.pop(0)
        choice = _find_choice(alternative)
        if choice is None:
            done.append(alternative)
        else:
            before, options, after = choice
            todo = [before + option + after for option in options] + todo
        if len(done) + len(todo) > MAX_ALTERNATIVES:
            raise InvalidGlobError(f"The pattern has more than {MAX_ALTERNATIVES} alternatives. Use fewer braces.")
    return tuple(done)


def matches(pattern: str, path: str) -> bool:
    """Return True if the pattern matches the relative path. Raises InvalidGlobError."""
    names = path.split("/") if path else []
    return any(match_names(split(alternative), names) for alternative in expand(pattern))


def is_match(pattern: str, path: str) -> bool:
    """Return True if the pattern matches the relative path. An invalid pattern matches nothing."""
    try:
        return matches(pattern, path)
    except InvalidGlobError:
        return False


def split(pattern: str) -> list[str]:
    """Split the pattern into its parts. A pattern that ends in `/` matches everything below."""
    if pattern.endswith("/"):
        pattern += "**"
    return [part for part in pattern.split("/") if part not in {"", "."}]


def match_names(pattern: Sequence[str], names: Sequence[str]) -> bool:
    """Return True if all names match the pattern."""
    positions = _skip_wildcards({0}, pattern)
    for name in names:
        reached: set[int] = set()
        for position in positions:
            if position == len(pattern):
                continue
            if pattern[position] == "**":
                reached.add(position)
            elif fnmatchcase(name, pattern[position]):
                reached.add(position + 1)
        positions = _skip_wildcards(reached, pattern)
        if not positions:
            return False
    return len(pattern) in positions


def escape(path: str) -> str:
    """Return the pattern that matches exactly this path; empty if braces in the path prevent one."""
    if "{" in path:
        return ""
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)


def _skip_wildcards(positions: set[int], pattern: Sequence[str]) -> set[int]:
    """Add the positions that `**` reaches by matching no folder."""
    reached = set(positions)
    for position in positions:
        while position < len(pattern) and pattern[position] == "**":
            position += 1
            reached.add(position)
    return reached


def _find_choice(pattern: str) -> tuple[str, list[str], str] | None:
    start = pattern.find("{")
    while start >= 0:
        depth, options, option_start = 0, list[str](), start + 1
        for index in range(start, len(pattern)):
            char = pattern[index]
            if char == "{":
                depth += 1
            elif char == "," and depth == 1:
                options.append(pattern[option_start:index])
                option_start = index + 1
            elif char == "}":
                depth -= 1
                if depth == 0:
                    options.append(pattern[option_start:index])
                    if len(options) > 1:
                        return pattern[:start], options, pattern[index + 1 :]
                    break
        start = pattern.find("{", start + 1)
    return None
