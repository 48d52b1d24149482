"""What .gitignore files leave out, as git reads them: the last pattern that fits decides, the deepest file last."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..files.globs import matches_names

FILE = ".gitignore"
LARGEST_FILE = 256 * 1024


class Pattern(NamedTuple):
    """One line of such a file. `names` are matched from the file's own folder down."""

    names: tuple[str, ...]
    only_folders: bool
    ignores: bool


def parse(text: str) -> tuple[Pattern, ...]:
    """The patterns of one file, in its order."""
    found = (_pattern(line.removesuffix("\r")) for line in text.split("\n"))
    return tuple(one for one in found if one is not None)


def is_ignored(patterns: Sequence[tuple[int, tuple[Pattern, ...]]], names: Sequence[str], *, folder: bool) -> bool:
    """True where the file or folder of that path, name by name, is left out.

    `patterns` are those of each .gitignore on the way down, with the number of names above it. Folders on the way are not
    looked at: nothing below a folder that is left out is ever asked about.
    """
    for depth, of_file in reversed(patterns):
        for pattern in reversed(of_file):
            if (folder or not pattern.only_folders) and matches_names(pattern.names, names[depth:]):
                return pattern.ignores
    return False


def _pattern(line: str) -> Pattern | None:
    if not line or line.startswith("#"):
        return None
    leaves_out = not line.startswith("!")
    text = _without_trailing_spaces(line if leaves_out else line[1:])
    only_folders = text.endswith("/")
    text = text.rstrip("/") if only_folders else text
    if not text:
        return None
    anchored = "/" in text
    names = [_translated(name) for name in text.split("/") if name]
    if not anchored:
        names.insert(0, "**")
    elif names and names[-1] == "**":
        # Everything inside, but not the folder itself.
        names.append("*")
    return Pattern(tuple(names), only_folders, leaves_out) if names else None


def _without_trailing_spaces(text: str) -> str:
    stripped = text.rstrip(" ")
    escaped = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if escaped % 2 and stripped != text else stripped


def _translated(name: str) -> str:
    """The name with git's backslashes as brackets, which is what our globs know."""
    name = re.sub(r"\\(.)", lambda found: f"[{found[1]}]" if found[1] in "*?[" else found[1], name)
    return name.replace("[^", "[!")
