"""What files hold that an agent's own call changed. It tells a part of a file only, so the file is looked at when the call
ends."""

from __future__ import annotations

import contextlib

import msgspec

from callboard.contracts.content import Blob
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.ports.tools import ToolOutcome
from callboard.tools.builtin.folder_files import FolderFiles, to_blob

from ..dependencies import Dependencies


async def with_contents(outcome: ToolOutcome, folder: str, dependencies: Dependencies) -> ToolOutcome:
    """The outcome with what each file that it changed holds now. One that cannot be read has no content, and is no artifact."""
    files = FolderFiles(dependencies.closed_folders)
    changes: list[FileChange] = []
    blobs: list[Blob] = []
    for change in outcome.changes:
        data = None
        if change.after is None and change.kind != "deleted":
            # It may lie outside of the folder, or be no file: the change is told all the same.
            with contextlib.suppress(Refusal):
                data = await files.read(folder, change.path)
        if data is not None:
            blob = to_blob(dependencies.secrets.redact_bytes(data))
            blobs.append(blob)
            change = msgspec.structs.replace(change, after=blob.ref)
        changes.append(change)
    return msgspec.structs.replace(outcome, changes=tuple(changes), blobs=(*outcome.blobs, *blobs))
