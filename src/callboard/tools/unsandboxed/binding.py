"""Binding of an approval to a command with its program, scripts and environment."""

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

#: Folders of system programs, which are bound by path, because the system updates them.
_SYSTEM: Final = ("/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/nix/store/")
#: Maximum size in bytes of a file that is read. A larger one outside the folder is bound by size and time.
_MAX_FILE_BYTES: Final = 8 << 20
#: Nanoseconds within which a file may change again with the same time stamp.
_SETTLED: Final = 2_000_000_000
_PIECE: Final = 1 << 20
#: Files that programs load from their start folder without naming them.
_START_FILES: Final[Mapping[str, tuple[str, ...]]] = {
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
    """A bound file: path, real path, and SHA-256 in hex. A system program has no digest."""

    path: str
    resolved: str
    digest: str

    @property
    def description(self) -> str:
        """Path with the beginning of the digest, for cards."""
        return f"{display(self.path)} (sha256 {self.digest[:12]})" if self.digest else display(self.path)


class CommandBinding(NamedTuple):
    """A command as it would start now.

    Attributes:
        program: The program that the search path finds.
        files: The program, files that words and environment name, and files that it loads from its start folder.
        digest: SHA-256 of the words, the environment and the files.
    """

    program: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    files: tuple[BoundFile, ...]
    digest: str

    def list_inside(self, folder: str) -> tuple[BoundFile, ...]:
        """Return the files in the folder, by path or real path."""
        root = f"{folder.rstrip('/')}/"
        return tuple(file for file in self.files if file.path.startswith(root) or file.resolved.startswith(root))

    @property
    def token(self) -> str:
        """Digest with the beginning of each file's digest. A rule stores it to report changes later."""
        return " ".join((self.digest, *(f"{file.digest[:16]}@{file.path}" for file in self.files if file.digest)))

    def list_changed(self, token: str) -> tuple[str, ...]:
        """Return the paths of files that are new or changed since the token."""
        before = set(token.split(" ")[1:])
        return tuple(
            file.path for file in self.files if file.digest and f"{file.digest[:16]}@{file.path}" not in before
        )


class Files:
    """Cached digests of files. A changed file is read again."""

    def __init__(self) -> None:
        self._digests: dict[str, tuple[_Stamp, bool, str]] = {}
        self._lock = threading.Lock()

    def digest(self, path: str, *, whole: bool) -> str:
        """Return the SHA-256 of a file in hex; empty if it is not a regular file. Follows links.

        Without `whole`, a file above 8 MiB is represented by its size and modification time.
        """
        started = time.time_ns()
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return ""
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                return ""
            stamp = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
            with self._lock:
                cached = self._digests.get(path)
            if cached is not None and cached[1] and cached[0] == stamp:
                return cached[2]
            hasher = hashlib.sha256()
            if status.st_size > _MAX_FILE_BYTES and not whole:
                hasher.update(f"{status.st_size} {status.st_mtime_ns}".encode())
            else:
                while piece := file.read(_PIECE):
                    hasher.update(piece)
        with self._lock:
            self._digests[path] = stamp, status.st_ctime_ns < started - _SETTLED, hasher.hexdigest()
        return hasher.hexdigest()


_files = Files()


def bind(command: Sequence[str], environment: Mapping[str, str], start: str, search: str) -> CommandBinding:
    """Bind a command with all files that it names. Blocks.

    Args:
        command: Words of the command, secrets as handles.
        environment: Variables from its settings. Assignments of the program `env` are added.
        start: Start folder.
        search: Search path for the program.
    """
    program = find_program(command[0], start, search) or command[0]
    values = {**environment, **read_assignments(command)}
    names = _list_candidates(program, command, values, start, search)
    paths = dict.fromkeys(os.path.join(start, file) for file in names)  # noqa: PTH118
    files = tuple(file for path in paths if (file := _bind_file(path, start)) is not None)
    content = [list(command), sorted(values.items()), files]
    digest = hashlib.sha256(msgspec.json.encode(content)).hexdigest()
    return CommandBinding(program, tuple(command), values, files, digest)


def _list_candidates(
    program: str, command: Sequence[str], values: Mapping[str, str], start: str, search: str
) -> Iterator[str]:
    """Yield every path that may be a file: program, words, values of options and variables, and loaded files."""
    yield program
    words = list(command[1:])
    for word in words:
        yield from list_names(word)
    texts = [list(split_shell_text(word)) for word in words]
    for value in values.values():
        yield value
        yield from value.split(os.pathsep)
        yield from (part for word in value.split() for part in list_names(word))
    # Arguments of programs that start another one, such as `env`, `nice` or `sudo`.
    for word in words:
        if "/" not in word and (program_path := find_program(word, start, search)):
            yield program_path
    for text in ([program, *words], *texts):
        yield from _list_loaded(text)


def _list_loaded(words: Sequence[str]) -> Iterator[str]:
    """Yield the modules and start-folder files that the programs among the words load."""
    for argument, following in pairwise(words):
        if argument == "-m":
            module = following.replace(".", "/")
            yield from (f"{module}.py", f"{module}/__init__.py", f"{module}/__main__.py")
    for word in words:
        name = word.rpartition("/")[2]
        yield from _START_FILES.get(name, ())
        if name in _LOCAL_PROGRAMS:
            yield from (f"node_modules/.bin/{argument}" for argument in words if "/" not in argument)


def _bind_file(path: str, start: str) -> BoundFile | None:
    if "\0" in path or not os.path.isfile(path):  # noqa: PTH113
        return None
    resolved = os.path.realpath(path)
    root = f"{start.rstrip('/')}/"
    is_inside = path.startswith(root) or resolved.startswith(root)
    if not is_inside and resolved.startswith(_SYSTEM):
        return BoundFile(path, resolved, "")
    return BoundFile(path, resolved, _files.digest(resolved, whole=is_inside))
