"""Check for programs outside the sandbox that agents could change.

Hooks and tool servers start with commands from the settings, which agents cannot change. The files
that these commands name are checked. Files that those load are not.
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

from ..files.paths import PathDenied, display, find_steering, to_relative_path

_MAX_LINKS = 40
#: Programs that run their first file argument, and names of scripts.
_RUNNERS = re.compile(r"((python|pypy)[\d.]*|node(js)?|deno|bun|tsx|ruby|perl|php|lua|(ba|da|k|z|fi)?sh)")
_SCRIPT_NAME = re.compile(r".+\.(pyz?|[cm]?[jt]sx?|sh|bash|zsh|fish|rb|pl|php|lua|jar|wasm|dll|so|node)", re.IGNORECASE)

#: Characters of shell text that paths and options do not contain.
_SHELL_TEXT = re.compile(r"[\s;&|<>`$(]")
_PART = re.compile(r"[^\s;&|()<>{}'\"`$=:]+")
#: Folders that shell text changes to.
_CHANGED_FOLDER = re.compile(r"\b(?:cd|pushd|-C)\s+['\"]?([^\s;&|()<>{}'\"`$]+)")
_MAX_FOLDERS = 8


class Reach(NamedTuple):
    """Folders where agents change files, with their subagents' worktrees, except protected names at the top.

    Attributes:
        trusted: Folder whose trust covers the files that a command names in it.
    """

    folders: tuple[str, ...] = ()
    trusted: str = ""

    def find_folder(self, path: str) -> str:
        """Return the outermost folder whose agents can change the path; empty for none."""
        for folder in sorted(self.folders, key=len):
            root = folder.rstrip("/") + "/"
            below = path[len(root) :] if path.startswith(root) else worktree.locate_in_worktree(path, folder)
            if below and not find_steering(below.partition("/")[0]):
                return folder
        return ""

    def is_trusted(self, word: str) -> bool:
        """Return True if the word names a file that trust covers."""
        try:
            return bool(self.trusted) and to_relative_path(self.trusted, word) != ""
        except PathDenied:
            return False


class ExposedProgram(NamedTuple):
    """A file of a command, and the folder whose agents can change it."""

    path: str
    folder: str

    @property
    def problem(self) -> str:
        """The problem, without capital and full stop."""
        return f"agents of {display(self.folder)} can change its program {display(self.path)}"

    @property
    def remedy(self) -> str:
        """The next step, without full stop."""
        return f"Move it to {display(self.folder)}/.callboard/ or outside of every open folder"


class ReachLookup(NamedTuple):
    """A command with the path of the checked program, and its exposed file."""

    command: tuple[str, ...]
    exposed: ExposedProgram | None


def check_program(
    command: Sequence[str], start: str, search: str, *reaches: Reach, given_data: bool = False
) -> ReachLookup:
    """Check every file that a command names. Blocks.

    Args:
        start: Start folder.
        search: Search path.
        given_data: The command's files are data: check only the program and scripts.
    Raises:
        FileNotFoundError: The program does not exist.
    """
    program, *words = command
    path = find_program(program, start, search)
    if not path:
        raise FileNotFoundError(2, os.strerror(2), program)
    # The person did not see the path that the search path finds, so trust does not cover it.
    files = _list_scripts(program, words) if given_data else words
    candidates = [(path, "/" in program), *((file, True) for word in files for file in list_names(word))]
    exposed = (
        _find_exposed(os.path.join(start, file), reach)  # noqa: PTH118
        for reach in reaches
        for file, is_shown in candidates
        if not (is_shown and reach.is_trusted(file)) and _is_file(start, file)
    )
    return ReachLookup((path, *words), next(filter(None, exposed), None))


def list_names(word: str) -> tuple[str, ...]:
    """Return the file names in a word: itself, the value of an option, and the parts of shell text."""
    option, _, value = word.partition("=")
    names = (word, value) if value and option.startswith("-") else (word,)
    return (*names, *split_shell_text(word))


def split_shell_text(word: str) -> tuple[str, ...]:
    """Return the parts of shell text, such as the argument of `sh -c`; empty for other words.

    Returns too many parts rather than too few, also below folders that `cd` enters. The caller
    ignores parts that are not files.
    """
    if _SHELL_TEXT.search(word) is None:
        return ()
    parts = dict.fromkeys(_PART.findall(word))
    with contextlib.suppress(ValueError):
        # Names can contain spaces.
        parts.update(dict.fromkeys(shlex.split(word)))
    parts.update({os.path.expanduser(part): None for part in parts if part.startswith("~")})  # noqa: PTH111
    folders: list[str] = _CHANGED_FOLDER.findall(word)
    in_folders = dict.fromkeys(os.path.join(folder, part) for folder in folders[:_MAX_FOLDERS] for part in parts)  # noqa: PTH118
    return tuple(parts | in_folders)


def _list_scripts(program: str, words: Sequence[str]) -> list[str]:
    """Return the words that name scripts."""
    first = next((index for index, word in enumerate(words) if not word.startswith("-")), -1)
    is_runner = _RUNNERS.fullmatch(os.path.basename(program)) is not None  # noqa: PTH119
    return [word for index, word in enumerate(words) if _SCRIPT_NAME.fullmatch(word) or (is_runner and index == first)]


def _find_exposed(path: str, reach: Reach) -> ExposedProgram | None:
    for step in reversed(_list_steps(path)):
        folder = reach.find_folder(step)
        if folder:
            return ExposedProgram(step, folder)
    return None


def _is_file(start: str, name: str) -> bool:
    """Return True for a file, and for a missing absolute path, where a file could be created in time."""
    if not name or "\0" in name:
        return False
    path = os.path.join(start, name)  # noqa: PTH118
    return os.path.isfile(path) or (name.startswith("/") and not os.path.isdir(path))  # noqa: PTH112, PTH113


def find_program(program: str, start: str, search: str) -> str:
    """Return the program that a start in the folder `start` finds; empty for none."""
    if "/" in program:
        return program
    # Entries of a search path may be relative to the start folder.
    folders = (os.path.join(start, folder) for folder in search.split(os.pathsep))  # noqa: PTH118
    return shutil.which(program, path=os.pathsep.join(folders)) or ""


def _list_steps(path: str) -> list[str]:
    """Return every step of a path with each link. A change of one step changes the file."""
    pending, current, links = path.split("/")[::-1], "/", 0
    steps: list[str] = []
    while pending and links <= _MAX_LINKS:
        part = pending.pop()
        if part == "..":
            current = os.path.dirname(current)  # noqa: PTH120
        if part in ("", ".", ".."):
            continue
        current = os.path.join(current, part)  # noqa: PTH118
        steps.append(current)
        try:
            target = os.readlink(current)  # noqa: PTH115
        except OSError:
            continue
        links += 1
        current = "/" if target.startswith("/") else os.path.dirname(current)  # noqa: PTH120
        pending += target.split("/")[::-1]
    return steps
