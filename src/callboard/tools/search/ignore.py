"""Patterns of .gitignore files. As in git, the last match decides, and deeper files come later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..files.globs import match_names

FILE = ".gitignore"
MAX_FILE_BYTES = 256 * 1024


class Pattern(NamedTuple):
    """A line of a .gitignore file. `names` are relative to the file's folder."""

    names: tuple[str, ...]
    only_folders: bool
    ignores: bool


def parse(text: str) -> tuple[Pattern, ...]:
    """Return the patterns of a file in order."""
    patterns = (_parse_line(line.removesuffix("\r")) for line in text.split("\n"))
    return tuple(pattern for pattern in patterns if pattern is not None)


def is_ignored(patterns: Sequence[tuple[int, tuple[Pattern, ...]]], names: Sequence[str], *, folder: bool) -> bool:
    """Return True if the patterns ignore a path, given as names. The caller never enters an ignored folder.

    `patterns` has the patterns of each .gitignore on the path, with the depth of its folder.
    """
    for depth, file_patterns in reversed(patterns):
        for pattern in reversed(file_patterns):
            if (folder or not pattern.only_folders) and match_names(pattern.names, names[depth:]):
                return pattern.ignores
    return False


def _parse_line(line: str) -> Pattern | None:
    if not line or line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    text = _strip_trailing_spaces(line if ignores else line[1:])
    only_folders = text.endswith("/")
    text = text.rstrip("/") if only_folders else text
    if not text:
        return None
    is_anchored = "/" in text
    names = [_to_glob(name) for name in text.split("/") if name]
    if not is_anchored:
        names.insert(0, "**")
    elif names and names[-1] == "**":
        # Match everything inside, but not the folder itself.
        names.append("*")
    return Pattern(tuple(names), only_folders, ignores) if names else None


def _strip_trailing_spaces(text: str) -> str:
    stripped = text.rstrip(" ")
    escaped = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if escaped % 2 and stripped != text else stripped


def _to_glob(name: str) -> str:
    """Convert git's escapes to brackets, which our globs use."""
    name = re.sub(r"\\(.)", lambda match: f"[{match[1]}]" if match[1] in "*?[" else match[1], name)
    return name.replace("[^", "[!")
