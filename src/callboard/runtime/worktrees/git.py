"""Git as the runtime runs it, in folders that nobody vouches for: nothing that a folder's files say is run.

A repository's own settings can name programs: hooks, a monitor, filters, drivers of merges and differences, signing, an editor,
transports. Those that have one name are switched off. Those that have a name of their own are looked up, and a user's own
settings hold for them in place of the repository's, or nothing does. A repository within the folder is left alone: git would
look into it by its settings.
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

_OFF = {
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
_PASSED_ON = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR")
#: Programs under names of their own, and what stands in for them: no filter, no other view, and git's own merge of texts.
_NAMED = re.compile(r"(filter|merge|diff)\..+\.(clean|smudge|process|required|driver|command|textconv)")
_INSTEAD = {"required": "false", "driver": "git merge-file %A %O %B"}


class GitResult(NamedTuple):
    """What git said. `code` 0 is success."""

    code: int
    text: str


#: Of a repository that could run what it names.
_NOT_HELD = GitResult(128, "the repository's settings name programs in a way that git cannot be kept from running them")


async def git(folder: str, *arguments: str, stdin: str = "") -> GitResult:
    """Runs git in a folder, with `given` on its input."""
    held = await _held(folder, arguments)
    if held is None:
        return _NOT_HELD
    asked = stdin.encode("utf-8", "surrogateescape")
    code, out = await _run(folder, held, asked, asyncio.subprocess.STDOUT)
    return GitResult(code, out.decode("utf-8", "surrogateescape").strip())


async def git_output(folder: str, arguments: Sequence[str], asked: bytes = b"") -> bytes:
    """What git prints when it is asked so; nothing where it fails."""
    held = await _held(folder, arguments)
    if held is None:
        return b""
    code, out = await _run(folder, held, asked)
    return b"" if code else out


async def git_paths(folder: str, *arguments: str) -> tuple[str, ...]:
    """What git names where it is asked to end each with a NUL byte; nothing where it fails."""
    out = await git_output(folder, arguments)
    return tuple(one for one in out.decode("utf-8", "surrogateescape").split("\0") if one)


async def _held(folder: str, arguments: Sequence[str]) -> list[str] | None:
    """The arguments with all that is switched off before them; None where that cannot be said."""
    named = await _named(folder)
    # A setting is given as name=value, so nothing can be said of a name that has such a sign in it.
    if named is None or any("=" in key for key in named):
        return None
    settings = {**_OFF, **named}
    return [*(part for key, value in settings.items() for part in ("-c", f"{key}={value}")), *arguments]


async def locate_repository(folder: str) -> GitResult:
    """The folder's repository: its top, the folder's place below it, and its newest commit, a line each.

    One whose settings say that its files lie elsewhere is none: git would write there.
    """
    found = await git(folder, "rev-parse", "--absolute-git-dir", "--show-toplevel", "--show-prefix", "HEAD")
    if found.code:
        return found
    store, root, *rest = found.text.splitlines()
    if not await asyncio.to_thread(_is_of, Path(root), Path(store)):
        return GitResult(128, "the repository's settings say that its files lie elsewhere")
    return GitResult(0, "\n".join((root, rest[0] if len(rest) > 1 else "", rest[-1])))


def _is_of(root: Path, store: Path) -> bool:
    """True where the working tree itself names that repository."""
    named = root / ".git"
    if named.is_dir():
        return named.resolve() == store.resolve()
    if not named.is_file():
        return False
    place = named.read_text(errors="replace").removeprefix("gitdir:").strip()
    return (root / place).resolve() == store.resolve()


async def _named(folder: str) -> dict[str, str] | None:
    code, out = await _run(folder, ("config", "--list", "--show-scope", "-z"))
    if code:
        return None
    parts = out.decode("utf-8", "surrogateescape").split("\0")
    theirs: dict[str, str] = {}
    ours: dict[str, str] = {}
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        key, _, value = entry.partition("\n")
        if _NAMED.fullmatch(key):
            (theirs if scope in ("local", "worktree") else ours)[key] = value
    return {key: ours.get(key, _INSTEAD.get(key.rpartition(".")[2], "")) for key in theirs}


async def _run(
    folder: str, arguments: Sequence[str], asked: bytes = b"", errors: int = asyncio.subprocess.DEVNULL
) -> tuple[int, bytes]:
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    try:
        with _input(asked) as given:
            process = await asyncio.create_subprocess_exec(
                *("git", "-C", folder, *arguments),
                stdin=given,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                env={**passed, **_ENVIRONMENT},
            )
    except OSError as error:
        return 127, f"git cannot be run ({error.strerror})".encode()
    out, _ = await process.communicate()
    return process.returncode or 0, out


@contextmanager
def _input(asked: bytes) -> Generator[int | IO[bytes]]:
    """What a program is to read. Not through a pipe: git may end without having read it, and not every event loop takes that
    for nothing."""
    if not asked:
        yield asyncio.subprocess.DEVNULL
        return
    with tempfile.TemporaryFile(prefix="callboard-git-") as file:
        file.write(asked)
        file.seek(0)
        yield file
