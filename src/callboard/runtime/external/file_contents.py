"""Contents of files that an external agent's own call changed."""

from __future__ import annotations

import contextlib

import msgspec

from callboard.contracts.content import Blob
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.ports.tools import ToolOutcome
from callboard.tools.builtin.folder_files import FolderFiles, to_blob

from ..dependencies import Dependencies


async def add_contents(outcome: ToolOutcome, folder: str, dependencies: Dependencies) -> ToolOutcome:
    """Return the outcome with the current content of each changed file.

    An agent reports only parts of a file, so the file is read when the call ends. An unreadable
    file has no content and is not an artifact.
    """
    files = FolderFiles(dependencies.closed_folders)
    changes: list[FileChange] = []
    blobs: list[Blob] = []
    for change in outcome.changes:
        data = None
        if change.after is None and change.kind != "deleted":
            # The path may be outside the folder, or no file. The change is recorded without
            # content.
            with contextlib.suppress(Refusal):
                data = await files.read(folder, change.path)
        if data is not None:
            blob = to_blob(dependencies.secrets.redact_bytes(data))
            blobs.append(blob)
            change = msgspec.structs.replace(change, after=blob.ref)
        changes.append(change)
    return msgspec.structs.replace(outcome, changes=tuple(changes), blobs=(*outcome.blobs, *blobs))
