"""Files of a folder changed for a person: through the same path confinement as any tool, and against what they were."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from threading import Event
from typing import NamedTuple, TypeVar

from callboard.contracts.content import Blob, blob_of
from callboard.contracts.errors import Refusal

from ..files.changes import PlannedChange, diff, media_of
from ..files.handles import Folder
from ..files.paths import PathDenied, display, find_steering, relative
from ..files.text_encoding import decode
from ..protection.atomic_write import ChangedMeanwhileError, remove, replace
from ..shielded_wait import wait_shielded
from .write import LARGEST_FILE, WriteArguments, plan

T = TypeVar("T")

#: The largest diff that is made, in characters: beyond it nobody reads.
LARGEST_DIFF = 16_000_000


class FileComparison(NamedTuple):
    """Two contents compared. `diff` is unified; with `binary` one of them is no text, and there are no lines."""

    diff: str
    added: int
    removed: int
    binary: bool


class FolderFiles:
    """The files of folders, for a person who asks. `hidden` are folders that nothing enters. Every method raises Refusal:
    `path_denied` of a path that leads elsewhere, `too_large`, `tool_failed` of what the system refuses."""

    def __init__(self, hidden: Sequence[str] = ()) -> None:
        self._hidden = tuple(hidden)

    async def read(self, folder: str, path: str) -> bytes | None:
        """The bytes of a file; None where there is none."""

        def found(inside: Folder) -> bytes | None:
            data = inside.read(path, LARGEST_FILE)
            if data is not None and len(data) > LARGEST_FILE:
                raise Refusal("too_large", f"{display(path)} is larger than {LARGEST_FILE:,} bytes.", field="path")
            return data

        return await self._in(folder, found)

    async def encode(self, folder: str, path: str, text: str) -> bytes:
        """The bytes that the file would have with that text: an existing file keeps its encoding and line ends."""
        asked = WriteArguments(file_path=path, content=text)
        return (await self._in(folder, lambda inside: plan(inside, path, asked))).after

    async def replace(self, folder: str, path: str, before: bytes | None, after: bytes) -> None:
        """Makes the file anew where it is still what it was. Raises `file_changed` otherwise, and nothing is done then."""
        stop = Event()
        await self._in(folder, lambda inside: replace(inside, PlannedChange(path, before, after), stop))

    async def remove(self, folder: str, path: str, before: bytes) -> None:
        """Removes the file where it is still what it was. Raises `file_changed` otherwise, and nothing is done then."""
        await self._in(folder, lambda inside: remove(inside, path, before))

    async def _in(self, folder: str, work: Callable[[Folder], T]) -> T:
        """Works in the folder, to the end also where the asker goes away."""

        def whole() -> T:
            try:
                with Folder(folder, self._hidden) as inside:
                    return work(inside)
            except PathDenied as denied:
                raise Refusal("path_denied", denied.message, field="path") from denied
            except ChangedMeanwhileError as changed:
                raise Refusal("file_changed", "The file was changed by somebody else meanwhile.") from changed
            except OSError as error:
                raise Refusal("tool_failed", f"{error.strerror or error}.") from error

        result, cancelled = await wait_shielded(asyncio.to_thread(whole))
        if cancelled:
            raise asyncio.CancelledError
        return result


def check_changeable(folder: str, path: str) -> str:
    """The path relative to the folder, of a file that a person may change here. Raises Refusal `path_denied`."""
    try:
        inside = relative(folder, path)
    except PathDenied as denied:
        raise Refusal("path_denied", denied.message, field="path") from denied
    guarded = find_steering(inside)
    if guarded:
        raise Refusal(
            "path_denied",
            f"What is in {guarded} decides what agents may do, and is no artifact.",
            field="path",
            hint="Use update_settings and the rules for it, or change the file yourself.",
        )
    if not inside:
        raise Refusal("path_denied", "The path names the folder itself, not a file in it.", field="path")
    return inside


def to_blob(data: bytes) -> Blob:
    """The bytes of a file with the media type that they show."""
    return blob_of(data, media_of(data))


def to_text(data: bytes) -> str | None:
    """The bytes as text; None where they are none."""
    found = decode(data)
    return None if found is None else found.text


def compare(path: str, before: bytes | None, after: bytes) -> FileComparison:
    """What differs between two contents of a file."""
    binary = decode(after) is None or (before is not None and decode(before) is None)
    found = diff(PlannedChange(path, before, after))
    return FileComparison("" if binary else found.text[:LARGEST_DIFF], found.added, found.removed, binary)
