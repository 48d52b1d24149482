"""File changes by a person, with the path confinement of tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from threading import Event
from typing import NamedTuple, TypeVar

from callboard.contracts.content import Blob, make_blob
from callboard.contracts.errors import Refusal

from ..files.changes import PlannedChange, detect_text_media, diff
from ..files.handles import Folder
from ..files.paths import PATH_HINT, PathDenied, display, find_steering, to_relative_path
from ..files.text_encoding import decode
from ..protection.atomic_write import ChangedMeanwhileError, remove, replace
from ..shielded_wait import wait_shielded
from .write import MAX_FILE_BYTES, WriteArguments, plan

T = TypeVar("T")

#: Maximum length of a diff, in characters.
MAX_DIFF_CHARS = 16_000_000


class FileComparison(NamedTuple):
    """Comparison of two contents. `binary`: one is not text, so there are no lines."""

    diff: str
    added: int
    removed: int
    binary: bool


class FolderFiles:
    """Files of folders, for a person. Nothing enters the folders in `hidden`.

    Methods raise Refusal `path_denied`, `too_large`, or `tool_failed` for a system error.
    """

    def __init__(self, hidden: Sequence[str] = ()) -> None:
        self._hidden = tuple(hidden)

    async def read(self, folder: str, path: str) -> bytes | None:
        """Return the bytes of a file; None if it does not exist."""

        def read_bounded(opened: Folder) -> bytes | None:
            data = opened.read(path, MAX_FILE_BYTES)
            if data is not None and len(data) > MAX_FILE_BYTES:
                raise Refusal(
                    "too_large",
                    f"{display(path)} is larger than {MAX_FILE_BYTES:,} bytes.",
                    field="path",
                    hint="Use a smaller file.",
                )
            return data

        return await self._run_in(folder, read_bounded)

    async def encode(self, folder: str, path: str, text: str) -> bytes:
        """Encode the text as the file would store it: an existing file keeps its encoding and line ends."""
        arguments = WriteArguments(file_path=path, content=text)
        return (await self._run_in(folder, lambda inside: plan(inside, path, arguments))).after

    async def replace(self, folder: str, path: str, before: bytes | None, after: bytes) -> None:
        """Replace the file if it is unchanged. Raises Refusal `file_changed` otherwise."""
        stop = Event()
        await self._run_in(folder, lambda inside: replace(inside, PlannedChange(path, before, after), stop))

    async def remove(self, folder: str, path: str, before: bytes) -> None:
        """Remove the file if it is unchanged. Raises Refusal `file_changed` otherwise."""
        await self._run_in(folder, lambda inside: remove(inside, path, before))

    async def _run_in(self, folder: str, work: Callable[[Folder], T]) -> T:
        """Run the work in a thread. It completes even if the caller is cancelled."""

        def work_inside() -> T:
            try:
                with Folder(folder, self._hidden) as opened:
                    return work(opened)
            except PathDenied as denied:
                raise Refusal("path_denied", denied.message, field="path", hint=PATH_HINT) from denied
            except ChangedMeanwhileError as changed:
                raise Refusal(
                    "file_changed", "The file changed in the meantime.", hint="Read it again, then repeat the change."
                ) from changed
            except OSError as error:
                raise Refusal(
                    "tool_failed",
                    f"{error.strerror or error}.",
                    hint="Check that the path exists and that you can change it.",
                ) from error

        result, cancelled = await wait_shielded(asyncio.to_thread(work_inside))
        if cancelled:
            raise asyncio.CancelledError
        return result


def check_changeable(folder: str, path: str) -> str:
    """Return the relative path of a file that a person may change as an artifact. Raises Refusal `path_denied`."""
    try:
        file = to_relative_path(folder, path)
    except PathDenied as denied:
        raise Refusal("path_denied", denied.message, field="path", hint=PATH_HINT) from denied
    protected = find_steering(file)
    if protected:
        raise Refusal(
            "path_denied",
            f"Files in {protected} decide what agents may do. They are not artifacts.",
            field="path",
            hint="Use update_settings or the rules, or edit the file yourself.",
        )
    if not file:
        raise Refusal(
            "path_denied",
            "The path names the folder itself, not a file in it.",
            field="path",
            hint="Send the path of a file in the folder.",
        )
    return file


def to_blob(data: bytes) -> Blob:
    """Return the bytes as a blob with their media type."""
    return make_blob(data, detect_text_media(data))


def to_text(data: bytes) -> str | None:
    """Decode the bytes; None for binary data."""
    decoded = decode(data)
    return None if decoded is None else decoded.text


def compare(path: str, before: bytes | None, after: bytes) -> FileComparison:
    """Compare two contents of a file."""
    binary = decode(after) is None or (before is not None and decode(before) is None)
    change = diff(PlannedChange(path, before, after))
    return FileComparison("" if binary else change.text[:MAX_DIFF_CHARS], change.added, change.removed, binary)
