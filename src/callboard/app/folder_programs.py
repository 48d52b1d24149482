"""The programs of a folder that its own tool servers and hooks are started from. Who trusts a folder trusts them as they are:
they run outside the sandbox, and an agent that may write in the folder may write them."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from callboard.contracts.settings import StdioServer
from callboard.tools.exposed import named_by
from callboard.tools.paths import PathDenied, relative

from .folder_settings import FolderFile, Program

#: A file that changed this shortly before it was read may change again without another time stamp, in nanoseconds.
_SETTLED: Final = 2_000_000_000
_PIECE: Final = 1 << 20

_Stamp = tuple[int, int, int, int]


class _Read(NamedTuple):
    stamp: _Stamp
    settled: bool
    digest: str


class FolderPrograms:
    """Reads each again when it changed."""

    def __init__(self) -> None:
        self._read: dict[str, _Read] = {}

    def of(self, folder: str, file: FolderFile) -> tuple[Program, ...]:
        """The files of the folder that the commands of its servers and hooks name, in order."""
        words: dict[str, Literal["server", "hook"]] = dict.fromkeys(
            _named(one.command for one in file.says.hooks), "hook"
        )
        servers = (one.command for one in file.says.servers if isinstance(one, StdioServer))
        words.update(dict.fromkeys(_named(servers), "server"))
        found: dict[str, Program] = {}
        for word, what in sorted(words.items()):
            try:
                path = relative(folder, word)
            except PathDenied:
                continue
            digest = self._digest(Path(folder) / path) if path else ""
            if digest and (path not in found or what == "server"):
                found[path] = Program(path, digest, what)
        return tuple(one for _, one in sorted(found.items()))

    def _digest(self, path: Path) -> str:
        """The SHA-256 of the file in hex; empty for what is none. A link stands for what it leads to, as it would run."""
        began = time.time_ns()
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return ""
        with os.fdopen(handle, "rb") as opened:
            of = os.fstat(handle)
            if not stat.S_ISREG(of.st_mode):
                return ""
            stamp = of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns
            kept = self._read.get(str(path))
            if kept is not None and kept.settled and kept.stamp == stamp:
                return kept.digest
            made = hashlib.sha256()
            while piece := opened.read(_PIECE):
                made.update(piece)
        self._read[str(path)] = _Read(stamp, of.st_ctime_ns < began - _SETTLED, made.hexdigest())
        return made.hexdigest()


def _named(commands: Iterable[Sequence[str]]) -> list[str]:
    return [named for command in commands for word in command for named in named_by(word)]
