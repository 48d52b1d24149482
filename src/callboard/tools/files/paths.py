"""Paths in a folder as text, before any file is opened.

A relative path has `/` between its components and no `.` or `..`. It is empty for the folder
itself. These checks are not enough: `handles` opens every component without following a link.
"""

from __future__ import annotations

import re
import unicodedata

from callboard.contracts.facts.permission import ReasonCode
from callboard.contracts.text.exact import INVISIBLE, mark
from callboard.contracts.text.reasons import to_english

from ..reasons import reason

#: Names at the top of a folder that decide what agents may do. Commands cannot create them either.
PROTECTED = ("agents", ".callboard", ".git")
#: Names that control other programs, at every depth and in any case. Agents write them only with
#: approval, in any mode and under any rule. For commands they are read-only. Below the top, only
#: the definitions in `agents` (`*.md`) are protected.
EVERYWHERE = frozenset(
    {
        *(".callboard", ".git", ".githooks", ".husky", ".claude", ".codex", ".cursor", ".gemini", ".opencode"),
        *(".vscode", ".idea", ".devcontainer", ".mcp.json", ".envrc", "agents.md", "claude.md", "gemini.md"),
    }
)

_DEFINITION = "agents/*.md"

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4000

_BREAK = re.compile(r"[\n\r\t]")
#: Characters that reorder the text on an approval card.
_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


#: Next step after a denied path.
PATH_HINT = "Use a regular file in the folder, without symbolic links."


class PathDenied(Exception):
    """A path leads out of the folder, or to something that tools may not open."""

    def __init__(self, code: ReasonCode, **parameters: str) -> None:
        self.reasons = (reason(code, **parameters),)
        self.message = to_english(self.reasons)
        super().__init__(self.message)


def to_relative_path(folder: str, path: str) -> str:
    """Convert the text to a relative path. An absolute path must be in `folder`. Raises PathDenied."""
    displayed = display(path)
    if "\0" in path:
        raise PathDenied("null_byte", path=displayed)
    if any(unicodedata.category(char) == "Cc" or char in _REORDERING for char in path):
        raise PathDenied("control_characters", path=displayed)
    try:
        size = len(path.encode())
    except UnicodeEncodeError as error:
        raise PathDenied("not_unicode", path=displayed) from error
    if size > MAX_PATH_BYTES:
        raise PathDenied("long_path", size=str(size), most=str(MAX_PATH_BYTES))
    inside = _strip_root(folder, path, displayed) if path.startswith("/") else path
    components = [component for component in inside.split("/") if component not in {"", "."}]
    for component in components:
        if component == "..":
            raise PathDenied("through_parent", path=displayed)
        if len(component.encode()) > MAX_NAME_BYTES:
            raise PathDenied("long_name", path=displayed, most=str(MAX_NAME_BYTES))
    return "/".join(components)


def find_protected(path: str) -> str:
    """Return the protected name in a relative path, such as `.git`; empty for none.

    Names compare as in the most permissive file system: without case, compatibility forms and
    invisible characters.
    """
    former, parent = "", ""
    for component in path.split("/"):
        name = find_protected_name(component, parent=parent)
        if name:
            return f"{former}/{component}" if name == _DEFINITION else name
        former, parent = component, f"{parent}/{component}" if parent else component
    return ""


def find_protected_name(name: str, *, parent: str) -> str:
    """Return the protected name of an entry in the folder `parent`; empty for none."""
    plain = name.lower().rstrip(". ") if name.isascii() else _fold(name)
    if plain in EVERYWHERE:
        return plain
    if plain == "agents" and not parent:
        return plain
    if plain.endswith(".md") and _fold(parent.rpartition("/")[2]) == "agents":
        return _DEFINITION
    return ""


def find_steering(path: str) -> str:
    """Return the name of `PROTECTED` in a relative path; empty for none."""
    for depth, component in enumerate(path.split("/")):
        name = _fold(component)
        if name in PROTECTED and (depth == 0 or name != "agents"):
            return name
    return ""


def display(text: str, max_chars: int = 120) -> str:
    """Return the text on one line with invisible characters marked, for messages and cards."""
    line = _BREAK.sub(" ", text[: max_chars + 1])
    line = mark(line) if INVISIBLE.search(line) else line
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def _strip_root(folder: str, path: str, text: str) -> str:
    root = folder.rstrip("/")
    if path.rstrip("/") == root:
        return ""
    if not path.startswith(root + "/"):
        raise PathDenied("outside_folder", path=text)
    return path[len(root) + 1 :]


def _fold(component: str) -> str:
    visible = "".join(char for char in component if unicodedata.category(char) != "Cf")
    plain = unicodedata.normalize("NFKC", visible).casefold()
    return "".join(char for char in plain if unicodedata.category(char) != "Cf").rstrip(". ")
