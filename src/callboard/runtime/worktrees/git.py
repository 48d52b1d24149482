"""Git for untrusted folders: it runs no program that a repository's files name.

A repository's settings can name programs: hooks, monitors, filters, merge and diff drivers,
signing, editors and transports. Settings with a fixed name are switched off. Drivers and filters
with their own names use the user's setting or none. Nested repositories are ignored, because git
would apply their settings.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

_DISABLED = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.editor": "true",
    "core.pager": "cat",
    "core.sshCommand": "false",
    "core.askPass": "true",
    "commit.gpgSign": "false",
    "merge.verifySignatures": "false",
    "diff.external": "",
    "diff.ignoreSubmodules": "all",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "protocol.allow": "never",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "user.name": "Callboard",
    "user.email": "callboard@localhost",
}
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_EDITOR": "true",
    "LC_ALL": "C.UTF-8",
}
_INHERITED = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR")
#: Programs with their own names, and their replacements: no filter, and git's built-in text merge.
_PROGRAM_KEY = re.compile(r"(filter|merge|diff)\..+\.(clean|smudge|process|required|driver|command|textconv)")
_REPLACEMENTS = {"required": "false", "driver": "git merge-file %A %O %B"}


class GitResult(NamedTuple):
    """The output of git. `code` 0 is success."""

    code: int
    text: str


#: The result for a repository whose programs cannot be disabled.
_UNSAFE = GitResult(128, "the repository's settings name programs that cannot be disabled")


async def git(folder: str, *arguments: str, stdin: str = "") -> GitResult:
    """Run git in a folder, with `stdin` as its input."""
    safe = await _build_safe_arguments(folder, arguments)
    if safe is None:
        return _UNSAFE
    data = stdin.encode("utf-8", "surrogateescape")
    code, out = await _run(folder, safe, data, asyncio.subprocess.STDOUT)
    return GitResult(code, out.decode("utf-8", "surrogateescape").strip())


async def read_git_output(folder: str, arguments: Sequence[str], data: bytes = b"") -> bytes:
    """Return the output of git; empty if it fails."""
    safe = await _build_safe_arguments(folder, arguments)
    if safe is None:
        return b""
    code, out = await _run(folder, safe, data)
    return b"" if code else out


async def read_git_paths(folder: str, *arguments: str) -> tuple[str, ...]:
    """Return the NUL-terminated names that git prints; empty if it fails."""
    out = await read_git_output(folder, arguments)
    return tuple(name for name in out.decode("utf-8", "surrogateescape").split("\0") if name)


async def _build_safe_arguments(folder: str, arguments: Sequence[str]) -> list[str] | None:
    """Return the arguments with all overrides before them; None if the repository cannot be made safe."""
    overrides = await _list_program_overrides(folder)
    # Git takes overrides as name=value, so a name with "=" cannot be overridden.
    if overrides is None or any("=" in key for key in overrides):
        return None
    settings = {**_DISABLED, **overrides}
    return [*(part for key, value in settings.items() for part in ("-c", f"{key}={value}")), *arguments]


async def locate_repository(folder: str) -> GitResult:
    """Return the root of the folder's repository, the folder's path below it, and its newest
    commit, one per line.

    A repository whose settings place its files in other folders is refused, because git would write there.
    """
    located = await git(folder, "rev-parse", "--absolute-git-dir", "--show-toplevel", "--show-prefix", "HEAD")
    if located.code:
        return located
    store, root, *rest = located.text.splitlines()
    if not await asyncio.to_thread(_is_own_repository, Path(root), Path(store)):
        return GitResult(128, "the repository's settings place its files in other folders")
    return GitResult(0, "\n".join((root, rest[0] if len(rest) > 1 else "", rest[-1])))


def _is_own_repository(root: Path, store: Path) -> bool:
    """Return True if the working tree refers to that repository."""
    git_file = root / ".git"
    if git_file.is_dir():
        return git_file.resolve() == store.resolve()
    if not git_file.is_file():
        return False
    target = git_file.read_text(errors="replace").removeprefix("gitdir:").strip()
    return (root / target).resolve() == store.resolve()


async def _list_program_overrides(folder: str) -> dict[str, str] | None:
    code, out = await _run(folder, ("config", "--list", "--show-scope", "-z"))
    if code:
        return None
    parts = out.decode("utf-8", "surrogateescape").split("\0")
    theirs: dict[str, str] = {}
    ours: dict[str, str] = {}
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        key, _, value = entry.partition("\n")
        if _PROGRAM_KEY.fullmatch(key):
            (theirs if scope in ("local", "worktree") else ours)[key] = value
    return {key: ours.get(key, _REPLACEMENTS.get(key.rpartition(".")[2], "")) for key in theirs}


async def _run(
    folder: str, arguments: Sequence[str], data: bytes = b"", errors: int = asyncio.subprocess.DEVNULL
) -> tuple[int, bytes]:
    passed = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    try:
        with _open_input(data) as input_file:
            process = await asyncio.create_subprocess_exec(
                *("git", "-C", folder, *arguments),
                stdin=input_file,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                env={**passed, **_ENVIRONMENT},
            )
    except OSError as error:
        return 127, f"git cannot be run ({error.strerror})".encode()
    out, _ = await process.communicate()
    return process.returncode or 0, out


@contextmanager
def _open_input(data: bytes) -> Generator[int | IO[bytes]]:
    """Yield the input of a program as a file. Not every event loop handles a pipe that git does not read."""
    if not data:
        yield asyncio.subprocess.DEVNULL
        return
    with tempfile.TemporaryFile(prefix="callboard-git-") as file:
        file.write(data)
        file.seek(0)
        yield file
