"""Paths in a folder as text, before any file is opened.

A relative path has `/` between its components and no `.` or `..`. It is empty for the folder
itself. The text alone decides nothing: `handles` opens every component without following a link.
"""

from __future__ import annotations

import re
import unicodedata

from callboard.contracts.facts.permission import ReasonCode
from callboard.contracts.text.exact import INVISIBLE, mark
from callboard.contracts.text.reasons import to_english

from ..reasons import reason

#: Names at the top of a folder that decide what agents may do. A command cannot create them either.
PROTECTED = ("agents", ".callboard", ".git")
#: Names that other programs obey, at every depth and in every case. An agent writes them only with
#: approval, in any mode and under any rule. Commands find them read-only. Below the top, `agents`
#: protects its definitions (`*.md`).
EVERYWHERE = frozenset(
    {
        *(".callboard", ".git", ".githooks", ".husky", ".claude", ".codex", ".cursor", ".gemini", ".opencode"),
        *(".vscode", ".idea", ".devcontainer", ".mcp.json", ".envrc", "agents.md", "claude.md", "gemini.md"),
    }
)

_DEFINITION = "agents/*.md"

LONGEST_NAME = 255
LONGEST_PATH = 4000

_BREAK = re.compile(r"[\n\r\t]")
#: Characters that reorder the text on an approval card.
_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class PathDenied(Exception):
    """A path leads out of the folder, or to something that no tool may open. `reasons` have codes
    for clients.
    """

    def __init__(self, code: ReasonCode, **parameters: str) -> None:
        self.reasons = (reason(code, **parameters),)
        self.message = to_english(self.reasons)
        super().__init__(self.message)


def relative(folder: str, path: str) -> str:
    """Return the relative path that the text names. An absolute path must be in `folder`. Raises
    PathDenied.
    """
    shown = display(path)
    if "\0" in path:
        raise PathDenied("null_byte", path=shown)
    if any(unicodedata.category(char) == "Cc" or char in _REORDERING for char in path):
        raise PathDenied("control_characters", path=shown)
    try:
        size = len(path.encode())
    except UnicodeEncodeError as error:
        raise PathDenied("not_unicode", path=shown) from error
    if size > LONGEST_PATH:
        raise PathDenied("long_path", size=str(size), most=str(LONGEST_PATH))
    inside = _inside(folder, path, shown) if path.startswith("/") else path
    components = [one for one in inside.split("/") if one not in {"", "."}]
    for component in components:
        if component == "..":
            raise PathDenied("through_parent", path=shown)
        if len(component.encode()) > LONGEST_NAME:
            raise PathDenied("long_name", path=shown, most=str(LONGEST_NAME))
    return "/".join(components)


def find_protected(path: str) -> str:
    """Return the protected name in a relative path, such as `.git`; empty for none.

    Names are compared as the most permissive file system does: without case, compatibility forms
    and invisible characters.
    """
    above, within = "", ""
    for component in path.split("/"):
        found = protected_name(component, within=within)
        if found:
            return f"{above}/{component}" if found == _DEFINITION else found
        above, within = component, f"{within}/{component}" if within else component
    return ""


def protected_name(name: str, *, within: str) -> str:
    """Return the protected name of an entry in the folder `within`; empty for none."""
    plain = name.lower().rstrip(". ") if name.isascii() else _folded(name)
    if plain in EVERYWHERE:
        return plain
    if plain == "agents" and not within:
        return plain
    if plain.endswith(".md") and _folded(within.rpartition("/")[2]) == "agents":
        return _DEFINITION
    return ""


def find_steering(path: str) -> str:
    """Return the name of `PROTECTED` in a relative path; empty for none."""
    for depth, component in enumerate(path.split("/")):
        name = _folded(component)
        if name in PROTECTED and (depth == 0 or name != "agents"):
            return name
    return ""


def display(text: str, longest: int = 120) -> str:
    """Return the text on one line, for messages and cards, with invisible characters written out."""
    shown = _BREAK.sub(" ", text[: longest + 1])
    shown = mark(shown) if INVISIBLE.search(shown) else shown
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _inside(folder: str, given: str, shown: str) -> str:
    root = folder.rstrip("/")
    if given.rstrip("/") == root:
        return ""
    if not given.startswith(root + "/"):
        raise PathDenied("outside_folder", path=shown)
    return given[len(root) + 1 :]


def _folded(component: str) -> str:
    kept = "".join(char for char in component if unicodedata.category(char) != "Cf")
    plain = unicodedata.normalize("NFKC", kept).casefold()
    return "".join(char for char in plain if unicodedata.category(char) != "Cf").rstrip(". ")
