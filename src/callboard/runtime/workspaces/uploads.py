"""Uploaded files that wait to be attached to an input."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from callboard.contracts.disk import build_disk_refusal
from callboard.contracts.errors import Refusal
from callboard.contracts.ids import Ids
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.ports.uploads import MAX_UPLOAD_BYTES, Upload
from callboard.tools.files.file_types import detect_media

from ..secrets.append_redactor import redact_stream

#: Seconds after which an unused upload is deleted.
DAY = 24 * 60 * 60
#: Bytes from which the media type is detected.
_SAMPLE_BYTES = 64 * 1024


class UploadFolder:
    """Implements the port `Uploads` with files in the user's state folder.

    `now` returns microseconds since the epoch. `new_redactor` returns a redactor for one text. The
    folder is created with the first file.
    """

    def __init__(
        self, folder: Path, ids: Ids, now: Callable[[], int], new_redactor: Callable[[], StreamRedaction]
    ) -> None:
        self._new_redactor = new_redactor
        self._folder = folder
        self._ids = ids
        self._now = now

    async def receive(self, name: str, pieces: AsyncIterator[bytes]) -> Upload:
        """Store one file, piece by piece."""
        await asyncio.to_thread(self._sweep)
        upload = self._ids.new("upload")
        path = self._folder / upload
        try:
            size, head = await self._write(path, pieces)
            redactor = self._new_redactor()
            stored = Upload(
                upload=upload, name=redactor.add(name) + redactor.read_withheld(), media=detect_media(head), size=size
            )
            await asyncio.to_thread(_write_metadata, path, stored)
        except BaseException as error:
            # A file that cannot be deleted now is deleted by a later sweep.
            with suppress(OSError):
                path.unlink(missing_ok=True)
            if refusal := build_disk_refusal(error):
                raise refusal from error
            raise
        return stored

    async def read(self, upload: str) -> tuple[Upload, bytes] | None:
        """Return the file with its bytes; None if it is gone."""
        return await asyncio.to_thread(self._read, upload)

    async def _write(self, path: Path, pieces: AsyncIterator[bytes]) -> tuple[int, bytes]:
        size, head = 0, b""
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for piece in redact_stream(pieces, self._new_redactor()):
                size += len(piece)
                if size > MAX_UPLOAD_BYTES:
                    most = f"{MAX_UPLOAD_BYTES // 1024 // 1024} MB"
                    raise Refusal(
                        "too_large",
                        f"The file is too large. The limit is {most}.",
                        hint="Copy it into the folder and mention it with @.",
                    )
                head += piece[: _SAMPLE_BYTES - len(head)]
                await asyncio.to_thread(file.write, piece)
            await asyncio.to_thread(_sync, file)
        if not size:
            raise Refusal("invalid_input", "The file is empty.", field="body", hint="Send the bytes of one file.")
        return size, head

    def _read(self, upload: str) -> tuple[Upload, bytes] | None:
        path = self._folder / upload
        try:
            upload_info = msgspec.json.decode(_build_metadata_path(path).read_bytes(), type=Upload)
            return upload_info, path.read_bytes()
        except (FileNotFoundError, msgspec.MsgspecError):
            return None

    def _sweep(self) -> None:
        """Create the folder, and delete files that are older than a day."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in self._folder.iterdir():
            try:
                if self._now() / 1_000_000 - path.stat().st_mtime > DAY:
                    path.unlink()
            except FileNotFoundError:
                # Another process deleted the file.
                continue


def _write_metadata(path: Path, stored: Upload) -> None:
    with os.fdopen(os.open(_build_metadata_path(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(msgspec.json.encode(stored))
        _sync(file)
    _sync_folders(path.parent)


def _sync(file: BinaryIO) -> None:
    """Flush the file to disk: an acknowledged upload must survive a power loss."""
    file.flush()
    os.fsync(file.fileno())


def _sync_folders(folder: Path) -> None:
    """Flush the names in the folder and the folder's own name to disk."""
    for each in (folder, folder.parent):
        handle = os.open(each, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _build_metadata_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")
