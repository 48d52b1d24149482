"""The files that a merge changed, read from the repository."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence

from callboard.contracts.content import Blob
from callboard.contracts.facts.tool import FileChange
from callboard.tools.builtin.folder_files import compare, to_blob

from .git import read_git_output

#: Number of files, and bytes of one file and of all.
MAX_FILES = 500
MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_TOTAL_BYTES = 64 * 1024 * 1024
#: One line of `diff-tree --raw`: modes, object names, and the kind of change.
_RAW_LINE = re.compile(rb":(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])")
_REGULAR_FILE = b"100"


async def read_merged_files(
    folder: str, before: str, after: str, redact: Callable[[bytes], bytes]
) -> tuple[tuple[FileChange, ...], tuple[Blob, ...]]:
    """Return the regular files below the folder that differ between two commits, and their
    contents.

    The result is empty if git fails. `redact` redacts the contents.
    """
    listed = await read_git_output(
        folder, ("diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", "--relative", "-z", before, after)
    )
    fields = listed.split(b"\0")
    entries: list[tuple[str, str, str]] = []
    for line, path in zip(fields[::2], fields[1::2], strict=False):
        match = _RAW_LINE.fullmatch(line)
        if match is not None and (match[1].startswith(_REGULAR_FILE) or match[2].startswith(_REGULAR_FILE)):
            old = match[3].decode() if match[1].startswith(_REGULAR_FILE) else ""
            new = match[4].decode() if match[2].startswith(_REGULAR_FILE) else ""
            entries.append((path.decode("utf-8", "replace"), old, new))
    entries = entries[:MAX_FILES]
    contents = await _read_contents(
        folder, sorted({name for _, *names in entries for name in names if name.strip("0")})
    )
    return await asyncio.to_thread(
        lambda: _build_changes(entries, {name: redact(data) for name, data in contents.items()})
    )


def _build_changes(
    entries: Sequence[tuple[str, str, str]], contents: dict[str, bytes]
) -> tuple[tuple[FileChange, ...], tuple[Blob, ...]]:
    changes: list[FileChange] = []
    blobs: dict[str, Blob] = {}
    for path, old, new in entries:
        before, after = contents.get(old), contents.get(new)
        if after is None:
            if not new.strip("0"):
                changes.append(FileChange(path=path, kind="deleted"))
            continue
        new_blob = to_blob(after)
        old_blob = None if before is None else to_blob(before)
        comparison = compare(path, before, after)
        changes.append(
            FileChange(
                path=path,
                kind="created" if before is None else "modified",
                added=comparison.added,
                removed=comparison.removed,
                before=None if old_blob is None else old_blob.ref,
                after=new_blob.ref,
            )
        )
        blobs |= {blob.ref.hash: blob for blob in (old_blob, new_blob) if blob is not None}
    return tuple(changes), tuple(blobs.values())


async def _read_contents(folder: str, names: Sequence[str]) -> dict[str, bytes]:
    """Return the contents of those objects that are not too large."""
    names_input = "".join(f"{name}\n" for name in names).encode()
    sizes = (
        await read_git_output(folder, ("cat-file", "--batch-check=%(objectname) %(objectsize)"), names_input)
    ).split(b"\n")
    fitting: list[str] = []
    remaining_bytes = MAX_TOTAL_BYTES
    for line in sizes:
        name, _, size = line.decode().partition(" ")
        if size.isdigit() and int(size) <= min(MAX_FILE_BYTES, remaining_bytes):
            remaining_bytes -= int(size)
            fitting.append(name)
    output = await read_git_output(folder, ("cat-file", "--batch"), "".join(f"{name}\n" for name in fitting).encode())
    contents: dict[str, bytes] = {}
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        name, _, size = output[at:end].split(b" ")
        contents[name.decode()] = output[end + 1 : end + 1 + int(size)]
        at = end + 1 + int(size) + 1
    return contents
