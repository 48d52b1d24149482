"""The definitions of a folder: `agents/*.md`, read again when one of them changed.

The folder is nobody's friend: nothing is read through a symbolic link, no file is read past a size, nothing special is opened.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass
from typing import NamedTuple

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition, DefinitionProblem, Roster, folded

from .definition import LARGEST, LoadedDefinition, load_definition, unreadable
from .packaged import delegating_lead, packaged_roster
from .roster import FOLDER, build_roster

#: More files than any team has; the rest is reported.
MOST = 500
#: A file that changed this shortly before it was read may change again without another time stamp, in nanoseconds.
_SETTLED = 2_000_000_000
#: Documentation that stands beside the agents.
_NO_AGENTS = ("readme.md",)
_NO_LINK = "Callboard reads no agents through a symbolic link."

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class _Stamp(NamedTuple):
    """What changes with a file. The time of change of the inode is there because a modification time can be set."""

    name: str
    inode: int
    mode: int
    size: int
    modified: int
    changed: int


@dataclass(frozen=True)
class _LoadedFile:
    """A roster and what it was read from. `settled` says that a later change will show in the stamps."""

    stamps: tuple[_Stamp, ...]
    settled: bool
    roster: Roster


class FolderDefinitions:
    """Implements the port `Definitions`. A folder without agents has the packaged one, and one without a main agent has it as
    its lead.

    Each use looks whether a file changed, which costs a look at the directory; a run that began keeps what it was told.
    """

    def __init__(self) -> None:
        self._kept: dict[str, _LoadedFile] = {}

    def roster(self, folder: str) -> Roster:
        """All agents of this folder and what is wrong with their files."""
        opened = _opened(folder)
        if opened is None:
            return packaged_roster()
        if isinstance(opened, DefinitionProblem):
            return build_roster((), problems=(opened,))
        try:
            return self._read(folder, opened)
        finally:
            os.close(opened)

    def lead(self, folder: str) -> Definition:
        """The agent that a new session starts with. Raises Refusal `bad_definition` where none can lead."""
        found = self.roster(folder)
        lead = found.find(found.lead) if found.lead else None
        if lead is None:
            # That none can lead is one of the problems as well, and is not worth two sentences.
            others = (_told(one) for one in found.problems if (one.file, one.field) != (FOLDER, "lead"))
            told = " ".join(dict.fromkeys(others)) or "None of its agents has `kind: main`."
            hint = "`callboard agents` shows what to fix."
            raise Refusal("bad_definition", f"No agent of this folder can lead. {told}", field=FOLDER, hint=hint)
        return lead

    def get(self, folder: str, name: str) -> Definition:
        """The agent of that name or alias, in any case. Raises Refusal `unknown_agent`.

        The packaged agent stays reachable, so that a session from before the folder had agents goes on.
        """
        roster = self.roster(folder)
        found = roster.find(name) or packaged_roster().find(name)
        if found is not None:
            return found
        bad = [one for one in roster.problems if folded(one.file) == folded(f"{FOLDER}/{name}.md")]
        why = f" {_told(bad[0])}" if bad else ""
        hint = "`callboard agents` lists the agents of a folder and what is wrong with their files."
        raise Refusal("unknown_agent", f"There is no agent {name} in {folder}.{why}", field="agent", hint=hint)

    def _read(self, folder: str, handle: int) -> Roster:
        began = time.time_ns()
        stamps = _stamps(handle)
        kept = self._kept.get(folder)
        if kept is None or not kept.settled or kept.stamps != stamps:
            newest = max((one.changed for one in stamps), default=0)
            kept = _LoadedFile(stamps, newest < began - _SETTLED, _roster(handle, stamps))
            self._kept[folder] = kept
        return kept.roster


def _told(problem: DefinitionProblem) -> str:
    place = f"{problem.file}:{problem.line}" if problem.line else problem.file
    return f"{place}: {problem.message}"


def _opened(folder: str) -> int | DefinitionProblem | None:
    """A handle of the folder's `agents`, to be closed; None where there is no such folder, else why it is not read."""
    try:
        above = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if stat.S_ISLNK(os.stat(FOLDER, dir_fd=above, follow_symlinks=False).st_mode):
                return DefinitionProblem(file=FOLDER, line=0, field="", message="It is a symbolic link.", hint=_NO_LINK)
            return os.open(FOLDER, _DIRECTORY, dir_fd=above)
        finally:
            os.close(above)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        message = f"It cannot be read: {error.strerror or error}."
        return DefinitionProblem(file=FOLDER, line=0, field="", message=message, hint="Look at its permissions.")


def _stamps(handle: int) -> tuple[_Stamp, ...]:
    """The files that could be definitions, by name."""
    found: list[_Stamp] = []
    for name in sorted(os.listdir(handle)):
        if not name.endswith(".md") or name.startswith(".") or name.casefold() in _NO_AGENTS:
            continue
        try:
            of = os.stat(name, dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:
            continue
        found.append(_Stamp(name, of.st_ino, of.st_mode, of.st_size, of.st_mtime_ns, of.st_ctime_ns))
    return tuple(found)


def _roster(handle: int, stamps: tuple[_Stamp, ...]) -> Roster:
    if not stamps:
        return packaged_roster()
    reads = [_read(handle, one) for one in stamps[:MOST]]
    if len(stamps) > MOST:
        message = f"There are {len(stamps)} files; those after the first {MOST} are not read."
        problem = DefinitionProblem(file=FOLDER, line=0, field="", message=message, hint="Keep fewer agents here.")
        return build_roster(reads, problems=(problem,))
    return build_roster((*reads, *_built_in_lead(reads)))


def _built_in_lead(reads: list[LoadedDefinition]) -> tuple[LoadedDefinition, ...]:
    """The packaged lead, for a folder in which every file loads and none defines a main agent."""
    if any(one.definition is None or one.definition.kind == "main" for one in reads):
        return ()
    lead = delegating_lead()
    taken = {folded(one.definition.name) for one in reads if one.definition is not None}
    return () if folded(lead.name) in taken else (LoadedDefinition("", lead, (), {}),)


def _read(handle: int, stamp: _Stamp) -> LoadedDefinition:
    file = f"{FOLDER}/{os.fsencode(stamp.name).decode(errors='replace')}"
    if stat.S_ISLNK(stamp.mode):
        return unreadable(file, "It is a symbolic link.", _NO_LINK)
    if not stat.S_ISREG(stamp.mode):
        return unreadable(file, "It is not a regular file.", "A definition is a Markdown file.")
    try:
        with os.fdopen(os.open(stamp.name, _FILE, dir_fd=handle), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return unreadable(file, "It is not a regular file.", "A definition is a Markdown file.")
            return load_definition(opened.read(LARGEST + 1), file)
    except OSError as error:
        return unreadable(file, f"It cannot be read: {error.strerror or error}.", "Look at its permissions.")
