"""The files that a merge brought, with what they held before and hold now, read from the repository and not from the folder."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence

from callboard.contracts.content import Blob
from callboard.contracts.facts.tool import FileChange
from callboard.tools.builtin.folder_files import compare, to_blob

from .git import git_output

#: How many files are told of, how large each is at most, and how much all of them hold, in bytes.
MOST_FILES = 500
LARGEST_FILE = 8 * 1024 * 1024
LARGEST_ALL = 64 * 1024 * 1024
#: One line of `diff-tree --raw`: modes, names of the contents, and what happened.
_RAW = re.compile(rb":(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])")
_FILE = b"100"


async def read_merged_files(
    folder: str, before: str, after: str, redact: Callable[[bytes], bytes]
) -> tuple[tuple[FileChange, ...], tuple[Blob, ...]]:
    """What differs below the folder between two commits: files, not links. Nothing where git cannot tell. `redact` is what
    their contents pass before they are kept."""
    listed = await git_output(
        folder, ("diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", "--relative", "-z", before, after)
    )
    fields = listed.split(b"\0")
    found: list[tuple[str, str, str]] = []
    for told, path in zip(fields[::2], fields[1::2], strict=False):
        match = _RAW.fullmatch(told)
        if match is not None and (match[1].startswith(_FILE) or match[2].startswith(_FILE)):
            old = match[3].decode() if match[1].startswith(_FILE) else ""
            new = match[4].decode() if match[2].startswith(_FILE) else ""
            found.append((path.decode("utf-8", "replace"), old, new))
    found = found[:MOST_FILES]
    contents = await _contents(folder, sorted({name for _, *names in found for name in names if name.strip("0")}))
    return await asyncio.to_thread(lambda: _changes(found, {name: redact(data) for name, data in contents.items()}))


def _changes(
    found: Sequence[tuple[str, str, str]], contents: dict[str, bytes]
) -> tuple[tuple[FileChange, ...], tuple[Blob, ...]]:
    changes: list[FileChange] = []
    blobs: dict[str, Blob] = {}
    for path, old, new in found:
        before, after = contents.get(old), contents.get(new)
        if after is None:
            if not new.strip("0"):
                changes.append(FileChange(path=path, kind="deleted"))
            continue
        kept = to_blob(after)
        former = None if before is None else to_blob(before)
        told = compare(path, before, after)
        changes.append(
            FileChange(
                path=path,
                kind="created" if before is None else "modified",
                added=told.added,
                removed=told.removed,
                before=None if former is None else former.ref,
                after=kept.ref,
            )
        )
        blobs |= {one.ref.hash: one for one in (former, kept) if one is not None}
    return tuple(changes), tuple(blobs.values())


async def _contents(folder: str, names: Sequence[str]) -> dict[str, bytes]:
    """The contents of those names that are not too large."""
    asked = "".join(f"{name}\n" for name in names).encode()
    sizes = (await git_output(folder, ("cat-file", "--batch-check=%(objectname) %(objectsize)"), asked)).split(b"\n")
    wanted: list[str] = []
    room = LARGEST_ALL
    for line in sizes:
        name, _, size = line.decode().partition(" ")
        if size.isdigit() and int(size) <= min(LARGEST_FILE, room):
            room -= int(size)
            wanted.append(name)
    told = await git_output(folder, ("cat-file", "--batch"), "".join(f"{name}\n" for name in wanted).encode())
    contents: dict[str, bytes] = {}
    at = 0
    while at < len(told):
        end = told.index(b"\n", at)
        name, _, size = told[at:end].split(b" ")
        contents[name.decode()] = told[end + 1 : end + 1 + int(size)]
        at = end + 1 + int(size) + 1
    return contents
