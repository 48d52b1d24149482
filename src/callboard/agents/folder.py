"""Definitions of a folder: `agents/*.md`, loaded again after a change.

The folder is untrusted: symbolic links are not followed, special files are not opened, and file sizes are limited.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass
from typing import NamedTuple

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition, DefinitionProblem, Roster, fold_name

from .definition import MAX_FILE_BYTES, LoadedDefinition, build_unreadable, load_definition
from .packaged import build_delegating_lead, build_packaged_roster
from .roster import FOLDER, build_roster

#: The most files that are loaded. Further files are a problem.
MAX_FILES = 500
#: A file that changed less than this time before it was read may change again with the same time stamp, in nanoseconds.
_SETTLED = 2_000_000_000
#: Files that are not definitions.
_IGNORED = ("readme.md",)
_NO_LINK = "Replace the symbolic link with a regular file or folder."
_CHECK_PERMISSIONS = "Check its permissions."
_NOT_REGULAR = "It is not a regular file."
_USE_MARKDOWN = "Use a Markdown file."

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class _Stamp(NamedTuple):
    """Properties that change with a file. The inode's change time is included because modification times can be set."""

    name: str
    inode: int
    mode: int
    size: int
    modified: int
    changed: int


@dataclass(frozen=True)
class _LoadedFolder:
    """A roster and the stamps of its files. `settled` means that any later change will change the stamps."""

    stamps: tuple[_Stamp, ...]
    settled: bool
    roster: Roster


class FolderDefinitions:
    """Implement the port `Definitions`.

    A folder without agents has the packaged agent; a folder without a main agent has it as its lead. Each call checks the
    directory for changes. A run that has started keeps its definition.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, _LoadedFolder] = {}

    def read_roster(self, folder: str) -> Roster:
        """Return the agents of the folder, with the problems of their files."""
        handle = _open_agents(folder)
        if handle is None:
            return build_packaged_roster()
        if isinstance(handle, DefinitionProblem):
            return build_roster((), problems=(handle,))
        try:
            return self._load(folder, handle)
        finally:
            os.close(handle)

    def find_lead(self, folder: str) -> Definition:
        """Return the agent of new sessions. Raises Refusal `bad_definition` if no agent can lead."""
        roster = self.read_roster(folder)
        lead = roster.find(roster.lead) if roster.lead else None
        if lead is None:
            # The missing lead is also a problem of the roster; do not repeat it.
            others = (
                _format_problem(problem)
                for problem in roster.problems
                if (problem.file, problem.field) != (FOLDER, "lead")
            )
            reasons = " ".join(dict.fromkeys(others)) or "None of its agents has `kind: main`."
            hint = "Run `callboard agents` to list the problems."
            raise Refusal("bad_definition", f"No agent of this folder can lead. {reasons}", field=FOLDER, hint=hint)
        return lead

    def get(self, folder: str, name: str) -> Definition:
        """Return the agent of that name or alias, ignoring case. Raises Refusal `unknown_agent`.

        The packaged agent is always available, for sessions that are older than the folder's definitions.
        """
        roster = self.read_roster(folder)
        definition = roster.find(name) or build_packaged_roster().find(name)
        if definition is not None:
            return definition
        file = fold_name(f"{FOLDER}/{name}.md")
        problem = next((problem for problem in roster.problems if fold_name(problem.file) == file), None)
        reason = f" {_format_problem(problem)}" if problem is not None else ""
        hint = "Run `callboard agents` to list the agents of a folder and the problems of their files."
        raise Refusal("unknown_agent", f"There is no agent {name} in {folder}.{reason}", field="agent", hint=hint)

    def _load(self, folder: str, handle: int) -> Roster:
        started = time.time_ns()
        stamps = _read_stamps(handle)
        loaded = self._loaded.get(folder)
        if loaded is None or not loaded.settled or loaded.stamps != stamps:
            newest = max((stamp.changed for stamp in stamps), default=0)
            loaded = _LoadedFolder(stamps, newest < started - _SETTLED, _load_roster(handle, stamps))
            self._loaded[folder] = loaded
        return loaded.roster


def _format_problem(problem: DefinitionProblem) -> str:
    location = f"{problem.file}:{problem.line}" if problem.line else problem.file
    return f"{location}: {problem.message}"


def _open_agents(folder: str) -> int | DefinitionProblem | None:
    """Return a handle of the folder's `agents`, for the caller to close; None if there is no such folder."""
    try:
        parent = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if stat.S_ISLNK(os.stat(FOLDER, dir_fd=parent, follow_symlinks=False).st_mode):
                return DefinitionProblem(file=FOLDER, line=0, field="", message="It is a symbolic link.", hint=_NO_LINK)
            return os.open(FOLDER, _DIRECTORY, dir_fd=parent)
        finally:
            os.close(parent)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        message = f"It cannot be read: {error.strerror or error}."
        return DefinitionProblem(file=FOLDER, line=0, field="", message=message, hint=_CHECK_PERMISSIONS)


def _read_stamps(handle: int) -> tuple[_Stamp, ...]:
    """Return the stamps of possible definitions, sorted by name."""
    stamps: list[_Stamp] = []
    for name in sorted(os.listdir(handle)):
        if not name.endswith(".md") or name.startswith(".") or name.casefold() in _IGNORED:
            continue
        try:
            status = os.stat(name, dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:
            continue
        stamps.append(
            _Stamp(name, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        )
    return tuple(stamps)


def _load_roster(handle: int, stamps: tuple[_Stamp, ...]) -> Roster:
    if not stamps:
        return build_packaged_roster()
    files = [_load_file(handle, stamp) for stamp in stamps[:MAX_FILES]]
    if len(stamps) > MAX_FILES:
        message = f"There are {len(stamps)} files; only the first {MAX_FILES} are loaded."
        problem = DefinitionProblem(file=FOLDER, line=0, field="", message=message, hint="Remove agents.")
        return build_roster(files, problems=(problem,))
    return build_roster((*files, *_find_built_in_lead(files)))


def _find_built_in_lead(files: list[LoadedDefinition]) -> tuple[LoadedDefinition, ...]:
    """Return the packaged lead if every file is valid and none defines a main agent."""
    if any(file.definition is None or file.definition.kind == "main" for file in files):
        return ()
    lead = build_delegating_lead()
    names = {fold_name(file.definition.name) for file in files if file.definition is not None}
    return () if fold_name(lead.name) in names else (LoadedDefinition("", lead, (), {}),)


def _load_file(handle: int, stamp: _Stamp) -> LoadedDefinition:
    path = f"{FOLDER}/{os.fsencode(stamp.name).decode(errors='replace')}"
    if stat.S_ISLNK(stamp.mode):
        return build_unreadable(path, "It is a symbolic link.", _NO_LINK)
    if not stat.S_ISREG(stamp.mode):
        return build_unreadable(path, _NOT_REGULAR, _USE_MARKDOWN)
    try:
        with os.fdopen(os.open(stamp.name, _FILE, dir_fd=handle), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return build_unreadable(path, _NOT_REGULAR, _USE_MARKDOWN)
            return load_definition(file.read(MAX_FILE_BYTES + 1), path)
    except OSError as error:
        return build_unreadable(path, f"It cannot be read: {error.strerror or error}.", _CHECK_PERMISSIONS)
