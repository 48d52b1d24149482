"""Globs over paths: `*`, `?` and `[...]` within one name, `**` over any number of folders, `{a,b}` for either.

A pattern is anchored at the folder it is meant for: `*.md` are the files right there, `**/*.md` those at any depth.
Matching takes time in proportion to pattern and path, so a hostile pattern cannot hold up a process.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

MOST_ALTERNATIVES = 64


class InvalidGlobError(ValueError):
    """Invalid glob. The text states why."""


def expand(pattern: str) -> tuple[str, ...]:
    """Return the patterns without braces that a pattern stands for.

    Raises:
        InvalidGlobError: There are too many.
    """
    done: list[str] = []
    todo = [pattern]
    while todo:
        one = todo.pop(0)
        choice = _first_choice(one)
        if choice is None:
            done.append(one)
        else:
            before, options, after = choice
            todo = [before + option + after for option in options] + todo
        if len(done) + len(todo) > MOST_ALTERNATIVES:
            raise InvalidGlobError(f"The pattern has more than {MOST_ALTERNATIVES} alternatives.")
    return tuple(done)


def matches(pattern: str, path: str) -> bool:
    """Return True if the pattern matches the relative path. Raises InvalidGlobError."""
    names = path.split("/") if path else []
    return any(matches_names(split(one), names) for one in expand(pattern))


def split(pattern: str) -> list[str]:
    """Return the parts of the pattern. A pattern that ends in `/` matches everything below."""
    if pattern.endswith("/"):
        pattern += "**"
    return [one for one in pattern.split("/") if one not in {"", "."}]


def matches_names(pattern: Sequence[str], names: Sequence[str]) -> bool:
    """Return True if all names match the pattern."""
    places = _closed({0}, pattern)
    for name in names:
        after: set[int] = set()
        for place in places:
            if place == len(pattern):
                continue
            if pattern[place] == "**":
                after.add(place)
            elif fnmatchcase(name, pattern[place]):
                after.add(place + 1)
        places = _closed(after, pattern)
        if not places:
            return False
    return len(pattern) in places


def escape(path: str) -> str:
    """Return the pattern that matches exactly this path; empty if braces in the path prevent one."""
    if "{" in path:
        return ""
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)


def _closed(places: set[int], pattern: Sequence[str]) -> set[int]:
    """Return the positions, with those that `**` reaches by matching no folder."""
    reached = set(places)
    for place in places:
        while place < len(pattern) and pattern[place] == "**":
            place += 1
            reached.add(place)
    return reached


def _first_choice(pattern: str) -> tuple[str, list[str], str] | None:
    opened = pattern.find("{")
    while opened >= 0:
        depth, options, since = 0, list[str](), opened + 1
        for at in range(opened, len(pattern)):
            char = pattern[at]
            if char == "{":
                depth += 1
            elif char == "," and depth == 1:
                options.append(pattern[since:at])
                since = at + 1
            elif char == "}":
                depth -= 1
                if depth == 0:
                    options.append(pattern[since:at])
                    if len(options) > 1:
                        return pattern[:opened], options, pattern[at + 1 :]
                    break
        opened = pattern.find("{", opened + 1)
    return None
