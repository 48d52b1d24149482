"""Names of files inside a folder, as text: what an agent may write down as a path, before any file is looked at.

A path of ours is relative to the folder, has `/` between its components, no `.`, no `..`, and is empty for the folder itself.
The text decides nothing alone: `handles` opens every component without following a link.
"""

from __future__ import annotations

import re
import unicodedata

from callboard.contracts.facts.reason import ReasonCode
from callboard.contracts.text.exact import INVISIBLE, mark
from callboard.contracts.text.reasons import to_english

from ..reasons import reason

#: What decides what agents may do, at the top of a folder. While a command runs, none of these can be made there either.
PROTECTED = ("agents", ".callboard", ".git")
#: What other programs obey, at every depth and in every spelling of case: an agent writes it only with an approval, whatever
#: mode or rule applies, and a command finds it read-only. Below the top, `agents` protects the definitions in it (`*.md`).
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
#: They reorder what a person reads on an approval card.
_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class PathDenied(Exception):
    """A path leads out of the folder, or to something that no tool may open. `message` says which and what to do, and so do the
    `reasons`, for a client to word."""

    def __init__(self, code: ReasonCode, **parameters: str) -> None:
        self.reasons = (reason(code, **parameters),)
        self.message = to_english(self.reasons)
        super().__init__(self.message)


def relative(folder: str, path: str) -> str:
    """The path of ours that `given` names. An absolute path must lie in `folder`. Raises PathDenied."""
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
    """The protected name that a path of ours goes through, such as `.git`, or the empty text.

    Names are compared as the least careful file system would: without case, compatibility forms and invisible characters.
    """
    above, within = "", ""
    for component in path.split("/"):
        found = protected_name(component, within=within)
        if found:
            return f"{above}/{component}" if found == _DEFINITION else found
        above, within = component, f"{within}/{component}" if within else component
    return ""


def protected_name(name: str, *, within: str) -> str:
    """Return the protected name of an entry in the folder `within`, a path of ours, or the empty text."""
    plain = name.lower().rstrip(". ") if name.isascii() else _folded(name)
    if plain in EVERYWHERE:
        return plain
    if plain == "agents" and not within:
        return plain
    if plain.endswith(".md") and _folded(within.rpartition("/")[2]) == "agents":
        return _DEFINITION
    return ""


def find_steering(path: str) -> str:
    """Return the name of `PROTECTED` that a path of ours goes through, or the empty text."""
    for depth, component in enumerate(path.split("/")):
        name = _folded(component)
        if name in PROTECTED and (depth == 0 or name != "agents"):
            return name
    return ""


def display(text: str, longest: int = 120) -> str:
    """The text on one line, for messages and cards: every invisible character in it is written out."""
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
