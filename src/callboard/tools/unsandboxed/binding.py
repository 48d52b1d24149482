"""Digest of a command with its program, scripts and environment, so that the approved command is
the one that starts.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from ..files.paths import display
from .reach import find_program, list_names, split_shell_text
from .variables import read_assignments

#: Folders of system programs. They are bound by path, because the system updates them.
_SYSTEM: Final = ("/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/nix/store/")
#: A larger file outside the folder is bound by its size and modification time, in bytes.
_LARGEST: Final = 8 << 20
#: A file that changed this recently may change again with the same time stamp, in nanoseconds.
_SETTLED: Final = 2_000_000_000
_PIECE: Final = 1 << 20
#: Files that programs load from their start folder without a word of the command.
_READS: Final[Mapping[str, tuple[str, ...]]] = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    **dict.fromkeys(
        ("npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "node"), ("package.json", ".npmrc", ".yarnrc.yml")
    ),
    **dict.fromkeys(("uv", "uvx", "poetry", "pdm", "hatch"), ("pyproject.toml", "uv.toml", ".env", ".python-version")),
    "cargo": ("Cargo.toml", "build.rs", ".cargo/config.toml"),
    "just": ("justfile", "Justfile", ".justfile"),
    "deno": ("deno.json", "deno.jsonc", "import_map.json"),
    "docker": ("compose.yaml", "docker-compose.yml", "Dockerfile"),
    "go": ("go.mod", "main.go"),
    "bundle": ("Gemfile", ".bundle/config"),
}
_LOCAL_PROGRAMS: Final = frozenset({"npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx"})

_Stamp = tuple[int, int, int, int]


class BoundFile(NamedTuple):
    """A bound file: its path, its real path, and its SHA-256 in hex. A system program has no digest."""

    path: str
    resolved: str
    digest: str

    @property
    def description(self) -> str:
        """Path with the beginning of the digest, for a card."""
        return f"{display(self.path)} (sha256 {self.digest[:12]})" if self.digest else display(self.path)


class CommandBinding(NamedTuple):
    """A command as it would be started now.

    Attributes:
        program: The program as the search path finds it.
        files: The program, the files that the words and the environment name, and what the program loads where it starts.
        digest: The SHA-256 of the words, the environment's names and values, and the files.
    """

    program: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    files: tuple[BoundFile, ...]
    digest: str

    def list_inside(self, folder: str) -> tuple[BoundFile, ...]:
        """Return the files in the folder, by their path or real path."""
        root = f"{folder.rstrip('/')}/"
        return tuple(one for one in self.files if one.path.startswith(root) or one.resolved.startswith(root))

    @property
    def token(self) -> str:
        """Digest with the beginning of each file's digest. A rule stores it to report later what changed."""
        return " ".join((self.digest, *(f"{one.digest[:16]}@{one.path}" for one in self.files if one.digest)))

    def list_changed(self, token: str) -> tuple[str, ...]:
        """Return the paths of files that changed since the token, including new ones."""
        before = set(token.split(" ")[1:])
        return tuple(one.path for one in self.files if one.digest and f"{one.digest[:16]}@{one.path}" not in before)


class Files:
    """Cached digests of files. A changed file is read again."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[_Stamp, bool, str]] = {}
        self._lock = threading.Lock()

    def digest(self, path: str, *, whole: bool) -> str:
        """Return the SHA-256 of a file in hex; empty for what is not a regular file.

        Args:
            path: The file; a link stands for what it leads to.
            whole: Read a large file too. Otherwise one above 8 MiB is bound by its size and time of change.
        """
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
            with self._lock:
                kept = self._read.get(path)
            if kept is not None and kept[1] and kept[0] == stamp:
                return kept[2]
            made = hashlib.sha256()
            if of.st_size > _LARGEST and not whole:
                made.update(f"{of.st_size} {of.st_mtime_ns}".encode())
            else:
                while piece := opened.read(_PIECE):
                    made.update(piece)
        with self._lock:
            self._read[path] = stamp, of.st_ctime_ns < began - _SETTLED, made.hexdigest()
        return made.hexdigest()


_files = Files()


def bind(command: Sequence[str], environment: Mapping[str, str], start: str, search: str) -> CommandBinding:
    """Look at everything that a command names and return it with a digest. Blocks while files are read.

    Args:
        command: The words; secret handles stay handles.
        environment: The variables that its settings name. Those of the program `env` count too.
        start: The folder in which it is started.
        search: The search path by which its program is found.
    """
    program = find_program(command[0], start, search) or command[0]
    values = {**environment, **read_assignments(command)}
    every = _named(program, command, values, start, search)
    named = dict.fromkeys(os.path.join(start, one) for one in every)  # noqa: PTH118
    files = tuple(one for path in named if (one := _file(path, start)) is not None)
    bound = [list(command), sorted(values.items()), files]
    digest = hashlib.sha256(msgspec.json.encode(bound)).hexdigest()
    return CommandBinding(program, tuple(command), values, files, digest)


def _named(program: str, command: Sequence[str], values: Mapping[str, str], start: str, search: str) -> Iterator[str]:
    """Every path that may be a file: the program, words, values of options and variables, modules, and what it loads."""
    yield program
    words = list(command[1:])
    for word in words:
        yield from list_names(word)
    texts = [list(split_shell_text(word)) for word in words]
    for value in values.values():
        yield value
        yield from value.split(os.pathsep)
        yield from (part for word in value.split() for part in list_names(word))
    # Programs that start another one: `env`, `nice`, `sudo`.
    for word in words:
        if "/" not in word and (found := find_program(word, start, search)):
            yield found
    for text in ([program, *words], *texts):
        yield from _loaded(text)


def _loaded(words: Sequence[str]) -> Iterator[str]:
    """What the programs among the words load without naming a file: modules, and what is where they start."""
    for word, after in pairwise(words):
        if word == "-m":
            module = after.replace(".", "/")
            yield from (f"{module}.py", f"{module}/__init__.py", f"{module}/__main__.py")
    for one in words:
        name = one.rpartition("/")[2]
        yield from _READS.get(name, ())
        if name in _LOCAL_PROGRAMS:
            yield from (f"node_modules/.bin/{word}" for word in words if "/" not in word)


def _file(path: str, start: str) -> BoundFile | None:
    if "\0" in path or not os.path.isfile(path):  # noqa: PTH113
        return None
    resolved = os.path.realpath(path)
    root = f"{start.rstrip('/')}/"
    inside = path.startswith(root) or resolved.startswith(root)
    if not inside and resolved.startswith(_SYSTEM):
        return BoundFile(path, resolved, "")
    return BoundFile(path, resolved, _files.digest(resolved, whole=inside))
