"""Programs outside the sandbox that agents could change.

Hooks and tool servers start with the values of their settings. The files that their commands name
are checked; files that those load are not. The words of the command alone decide which files these
are, and agents cannot change the words.
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
#: Programs that run their first file argument, and names of files that are run.
_RUNS = re.compile(r"((python|pypy)[\d.]*|node(js)?|deno|bun|tsx|ruby|perl|php|lua|(ba|da|k|z|fi)?sh)")
_IS_RUN = re.compile(r".+\.(pyz?|[cm]?[jt]sx?|sh|bash|zsh|fish|rb|pl|php|lua|jar|wasm|dll|so|node)", re.IGNORECASE)

#: Characters of a shell text that a path or an option does not have.
_SHELL_TEXT = re.compile(r"[\s;&|<>`$(]")
_PART = re.compile(r"[^\s;&|()<>{}'\"`$=:]+")
#: Folders that a shell text enters.
_ENTERED = re.compile(r"\b(?:cd|pushd|-C)\s+['\"]?([^\s;&|()<>{}'\"`$]+)")
_MOST_ENTERED = 8


class Reach(NamedTuple):
    """Folders where agents change files, with the worktrees of their subagents, except protected
    names at the top.

    Attributes:
        trusted: Folder whose trust covers the files that a command names in it, as they are.
    """

    folders: tuple[str, ...] = ()
    trusted: str = ""

    def find_folder(self, path: str) -> str:
        """Return the outermost folder whose agents can change the path; empty for none."""
        for folder in sorted(self.folders, key=len):
            root = folder.rstrip("/") + "/"
            below = path[len(root) :] if path.startswith(root) else worktree.within(path, folder)
            if below and not find_steering(below.partition("/")[0]):
                return folder
        return ""

    def is_trusted(self, word: str) -> bool:
        """Return True for a word of a command that names a file covered by trust."""
        try:
            return bool(self.trusted) and relative(self.trusted, word) != ""
        except PathDenied:
            return False


class ExposedProgram(NamedTuple):
    """A file of a command, and the folder whose agents can change it."""

    path: str
    folder: str

    @property
    def problem(self) -> str:
        """The problem, without a capital and a full stop."""
        return f"its program {display(self.path)} stands where agents of {display(self.folder)} change files"

    @property
    def remedy(self) -> str:
        """What to do about it, a sentence without its full stop."""
        return f"Use one in {display(self.folder)}/.callboard/, or outside of every folder that is opened here"


class ReachLookup(NamedTuple):
    """A command with the path of its program, so that the checked file is the one that runs, and
    its exposed file.
    """

    command: tuple[str, ...]
    exposed: ExposedProgram | None


def check_program(
    command: Sequence[str], start: str, search: str, *reaches: Reach, given_data: bool = False
) -> ReachLookup:
    """Check every file that a command names. Blocks.

    Args:
        start: Folder in which it starts.
        search: Its search path.
        given_data: The command's files are data, so check only the program and scripts.
    Raises:
        FileNotFoundError: The program is not found.
    """
    program, *words = command
    found = find_program(program, start, search)
    if not found:
        raise FileNotFoundError(2, os.strerror(2), program)
    # No person saw the path that the search path finds.
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
    """Return what a word can name a file with: itself, the value of an option, and the parts of a
    shell text.
    """
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
    """Return the words that name files that are run."""
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
    """Return True for a file. An absolute path counts also if nothing is there, because a file
    could be created in time.
    """
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
    """Return every place on the way to a file, with each link. Changing one of them changes what is found."""
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
