"""What runs outside of the sandbox and comes from where agents change files: what an agent wrote there would get out.

A hook and a server of tools are started by us, with what their settings give them. The files that their commands name are
looked at; what those load in turn is not. Which those are is decided by the words of the command alone, which no agent changes.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from typing import NamedTuple

from callboard.contracts.entities import worktree

from ..files.paths import PathDenied, display, find_steering, relative

_MOST_LINKS = 40
#: What runs the file that it is given first, and how files are called that something runs.
_RUNS = re.compile(r"((python|pypy)[\d.]*|node(js)?|deno|bun|tsx|ruby|perl|php|lua|(ba|da|k|z|fi)?sh)")
_IS_RUN = re.compile(r".+\.(pyz?|[cm]?[jt]sx?|sh|bash|zsh|fish|rb|pl|php|lua|jar|wasm|dll|so|node)", re.IGNORECASE)

#: What a text for a shell has and a word that is a path or an option has not.
_SHELL_TEXT = re.compile(r"[\s;&|<>`$(]")
_PART = re.compile(r"[^\s;&|()<>{}'\"`$=:]+")
#: Folders that a shell text enters.
_ENTERED = re.compile(r"\b(?:cd|pushd|-C)\s+['\"]?([^\s;&|()<>{}'\"`$]+)")
_MOST_ENTERED = 8


class Reach(NamedTuple):
    """Where agents change files: in these folders and in the worktrees of their children, apart from what takes a person's yes
    at the top of each. What a command names in the folder `trusted` is left to the trust in that folder, which is bound to
    those files as they are."""

    folders: tuple[str, ...] = ()
    trusted: str = ""

    def find_folder(self, path: str) -> str:
        """The outermost of the folders whose agents can change what stands under the path; empty for none."""
        for folder in sorted(self.folders, key=len):
            root = folder.rstrip("/") + "/"
            below = path[len(root) :] if path.startswith(root) else worktree.within(path, folder)
            if below and not find_steering(below.partition("/")[0]):
                return folder
        return ""

    def is_trusted(self, word: str) -> bool:
        """True for a word of a command that names something that is left to trust."""
        try:
            return bool(self.trusted) and relative(self.trusted, word) != ""
        except PathDenied:
            return False


class ExposedProgram(NamedTuple):
    """A file that a command comes from, and the folder whose agents can change it."""

    path: str
    folder: str

    @property
    def problem(self) -> str:
        """What is wrong, in words that follow a name and a full stop."""
        return f"its program {display(self.path)} stands where agents of {display(self.folder)} change files"

    @property
    def remedy(self) -> str:
        """What to do about it, a sentence."""
        return f"Use one in {display(self.folder)}/.callboard/, or outside of every folder that is opened here"


class ReachLookup(NamedTuple):
    """A command with its program by the path under which it was found, so that what was looked at is what is run; and what of
    it is exposed."""

    command: tuple[str, ...]
    exposed: ExposedProgram | None


def check_program(
    command: Sequence[str], start: str, search: str, *reaches: Reach, given_data: bool = False
) -> ReachLookup:
    """Looks at every file that a command names which is started in the folder `start` with the search path `search`; of one
    that is `given_data` to work on, at the program and at scripts. Blocks. Raises FileNotFoundError for a program that is not
    found."""
    program, *words = command
    found = find_program(program, start, search)
    if not found:
        raise FileNotFoundError(2, os.strerror(2), program)
    # Nobody was shown what a search path finds.
    files = _scripts(program, words) if given_data else words
    named = [(found, "/" in program), *((one, True) for word in files for one in list_names(word))]
    exposed = (
        _exposed(os.path.join(start, one), reach)  # noqa: PTH118
        for reach in reaches
        for one, is_shown in named
        if not (is_shown and reach.is_trusted(one)) and _is_file(start, one)
    )
    return ReachLookup((found, *words), next(filter(None, exposed), None))


def list_names(word: str) -> tuple[str, ...]:
    """What a word of a command can name a file with: itself, what an option is set to, and the parts of a shell text."""
    option, _, value = word.partition("=")
    named = (word, value) if value and option.startswith("-") else (word,)
    return (*named, *split_shell_text(word))


def split_shell_text(word: str) -> tuple[str, ...]:
    """Return the words of a shell text, such as the argument of `sh -c`; empty for a word that is none.

    Parts behind `cd` are also returned below that folder. Too many parts rather than too few: only those that are files
    count.
    """
    if _SHELL_TEXT.search(word) is None:
        return ()
    parts = dict.fromkeys(_PART.findall(word))
    with contextlib.suppress(ValueError):
        # A name with a space in it.
        parts.update(dict.fromkeys(shlex.split(word)))
    parts.update({os.path.expanduser(part): None for part in parts if part.startswith("~")})  # noqa: PTH111
    entered: list[str] = _ENTERED.findall(word)
    below = dict.fromkeys(os.path.join(folder, part) for folder in entered[:_MOST_ENTERED] for part in parts)  # noqa: PTH118
    return tuple(parts | below)


def _scripts(program: str, words: Sequence[str]) -> list[str]:
    """Those of the words that name what is run, as far as they say so."""
    first = next((at for at, word in enumerate(words) if not word.startswith("-")), -1)
    is_given = _RUNS.fullmatch(os.path.basename(program)) is not None  # noqa: PTH119
    return [word for at, word in enumerate(words) if _IS_RUN.fullmatch(word) or (is_given and at == first)]


def _exposed(path: str, reach: Reach) -> ExposedProgram | None:
    for step in reversed(_steps(path)):
        folder = reach.find_folder(step)
        if folder:
            return ExposedProgram(step, folder)
    return None


def _is_file(start: str, named: str) -> bool:
    """A path that is written whole counts also while nothing is there: who can put a file there can put it there in time."""
    if not named or "\0" in named:
        return False
    path = os.path.join(start, named)  # noqa: PTH118
    return os.path.isfile(path) or (named.startswith("/") and not os.path.isdir(path))  # noqa: PTH112, PTH113


def find_program(program: str, start: str, search: str) -> str:
    """Return the program as a start in the folder `start` would find it; empty for none."""
    if "/" in program:
        return program
    # A search path may name folders relative to where the program is started.
    places = (os.path.join(start, one) for one in search.split(os.pathsep))  # noqa: PTH118
    return shutil.which(program, path=os.pathsep.join(places)) or ""


def _steps(path: str) -> list[str]:
    """Every place that the way to a file goes through, each link among them: who can change one of these can change what is
    found at its end."""
    ahead, here, links = path.split("/")[::-1], "/", 0
    steps: list[str] = []
    while ahead and links <= _MOST_LINKS:
        part = ahead.pop()
        if part == "..":
            here = os.path.dirname(here)  # noqa: PTH120
        if part in ("", ".", ".."):
            continue
        here = os.path.join(here, part)  # noqa: PTH118
        steps.append(here)
        try:
            to = os.readlink(here)  # noqa: PTH115
        except OSError:
            continue
        links += 1
        here = "/" if to.startswith("/") else os.path.dirname(here)  # noqa: PTH120
        ahead += to.split("/")[::-1]
    return steps
