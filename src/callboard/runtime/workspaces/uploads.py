"""Files that wait to be attached: each in the user's state, under an id of its own, for a day."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from callboard.contracts.disk import disk_refusal
from callboard.contracts.errors import Refusal
from callboard.contracts.ids import Ids
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.ports.uploads import LARGEST_UPLOAD, Upload
from callboard.tools.files.file_types import detect_media

from ..secrets.append_redactor import redact_stream

#: How long a file waits, in seconds.
DAY = 24 * 60 * 60
#: What the beginning of a file tells what it is by, in bytes.
_SAMPLE = 64 * 1024


class UploadFolder:
    """Implements the port `Uploads`. `now` is in microseconds since the epoch; what is kept went through a `veil`. Nothing is
    made before the first file comes."""

    def __init__(self, folder: Path, ids: Ids, now: Callable[[], int], veil: Callable[[], StreamRedaction]) -> None:
        self._veil = veil
        self._folder = folder
        self._ids = ids
        self._now = now

    async def receive(self, name: str, pieces: AsyncIterator[bytes]) -> Upload:
        """Takes one file, piece by piece. Raises Refusal `too_large`, `invalid_input`, `store_full`, `store_unusable`."""
        await asyncio.to_thread(self._sweep)
        upload = self._ids.new("upload")
        path = self._folder / upload
        try:
            size, head = await self._write(path, pieces)
            veil = self._veil()
            told = Upload(upload=upload, name=veil.add(name) + veil.pending(), media=detect_media(head), size=size)
            await asyncio.to_thread(_note, path, told)
        except BaseException as error:
            # What could not be taken away is swept after a day.
            with suppress(OSError):
                path.unlink(missing_ok=True)
            if refusal := disk_refusal(error):
                raise refusal from error
            raise
        return told

    async def take(self, upload: str) -> tuple[Upload, bytes] | None:
        """The file with its bytes, None where it is no longer there. Raises OSError where the disk does not read it."""
        return await asyncio.to_thread(self._take, upload)

    async def _write(self, path: Path, pieces: AsyncIterator[bytes]) -> tuple[int, bytes]:
        size, head = 0, b""
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for piece in redact_stream(pieces, self._veil()):
                size += len(piece)
                if size > LARGEST_UPLOAD:
                    most = f"{LARGEST_UPLOAD // 1024 // 1024} MB"
                    raise Refusal(
                        "too_large",
                        f"A file that is attached has at most {most}.",
                        hint="Put it into the folder and name it with an @.",
                    )
                head += piece[: _SAMPLE - len(head)]
                await asyncio.to_thread(file.write, piece)
            await asyncio.to_thread(_sync, file)
        if not size:
            raise Refusal("invalid_input", "The file is empty.", field="body", hint="Send the bytes of one file.")
        return size, head

    def _take(self, upload: str) -> tuple[Upload, bytes] | None:
        path = self._folder / upload
        try:
            told = msgspec.json.decode(_noted(path).read_bytes(), type=Upload)
            return told, path.read_bytes()
        except (FileNotFoundError, msgspec.MsgspecError):
            return None

    def _sweep(self) -> None:
        """Makes the folder, and takes away what has waited for longer than a day."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in self._folder.iterdir():
            try:
                if self._now() / 1_000_000 - path.stat().st_mtime > DAY:
                    path.unlink()
            except FileNotFoundError:
                # Another process takes the same ones away.
                continue


def _note(path: Path, told: Upload) -> None:
    with os.fdopen(os.open(_noted(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(msgspec.json.encode(told))
        _sync(file)
    _sync_names(path.parent)


def _sync(file: BinaryIO) -> None:
    """Make what was written durable: an upload is acknowledged, and a loss of power must not take it back."""
    file.flush()
    os.fsync(file.fileno())


def _sync_names(folder: Path) -> None:
    """Make the names in the folder durable, and its own."""
    for each in (folder, folder.parent):
        handle = os.open(each, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _noted(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")
