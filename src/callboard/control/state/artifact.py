"""State of artifacts: open artifacts, saves and exports in progress, and unsaved drafts.

An artifact is open until it is deleted, so its state is small: its location, its number of versions,
and the hash prefix of the newest one.
"""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.artifact import (
    CreateArtifact,
    DeleteArtifact,
    EditArtifact,
    ExportArtifact,
    RetryArtifact,
    RollbackArtifact,
)
from callboard.contracts.content import Blob, BlobRef
from callboard.contracts.entities.artifact import ExportForm

#: Stored length of a content's hash, enough to compare two contents.
HASH_PREFIX_LENGTH = 16
#: Separates a path from its worktree. No path contains it.
LOCATION_SEPARATOR = "//"
#: Maximum number of failed exports that can be retried.
MAX_FAILED_EXPORTS = 20


class OpenArtifact(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An artifact that was not deleted.

    `location` is the path in the folder, after the child's thread and `//` if it is in a worktree. It
    is empty for an artifact that is not a file, or the remote agent's name for it after `//`.
    `version` is the newest, 0 before the first; `hash_prefix` is the beginning of its hash;
    `last_sequence` is the sequence of its newest fact.
    """

    location: str
    version: int = 0
    hash_prefix: str = ""
    title: str = ""
    last_sequence: int = 0

    @property
    def path(self) -> str:
        """Return the path relative to its folder; empty for an artifact that is not a file."""
        before, apart, behind = self.location.partition(LOCATION_SEPARATOR)
        return before if not apart else behind if before else ""

    @property
    def worktree(self) -> str:
        """Return the thread of the child that has it in its worktree."""
        before, apart, _ = self.location.partition(LOCATION_SEPARATOR)
        return before if apart else ""

    def has_content(self, content: BlobRef) -> bool:
        """Return True if the newest version has this content."""
        return bool(self.hash_prefix) and content.hash.startswith(self.hash_prefix)


class OpenSave(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A person's change of a file in progress, in the process of `epoch`. Without a draft the file
    is to be deleted."""

    base: int
    epoch: int
    draft: BlobRef | None = None
    restores: int = 0
    reason: str = ""


class UnsavedDraft(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A person's unsaved text, and the version that it was made from."""

    base: int
    draft: BlobRef
    restores: int = 0


class OpenExport(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An export in progress in the process of `epoch`, or a failed one."""

    artifact: str
    form: ExportForm
    version: int
    epoch: int
    source: int = 0
    artifacts: tuple[str, ...] = ()
    everything: bool = False
    failed: bool = False


class Artifacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The open artifacts of a session by id, with their saves and drafts; exports by export id."""

    open: dict[str, OpenArtifact] = {}
    saves: dict[str, OpenSave] = {}
    drafts: dict[str, UnsavedDraft] = {}
    exports: dict[str, OpenExport] = {}

    def find_at(self, location: str) -> str:
        """Return the id of the artifact at that location; empty for none."""
        return next((key for key, artifact in self.open.items() if artifact.location == location), "")


def build_delivery_location(agent: str, remote: str) -> str:
    """Return the location of an artifact that a remote agent delivered under that name."""
    return f"{LOCATION_SEPARATOR}{agent}/{remote}"


def build_file_location(path: str, worktree: str = "") -> str:
    """Return the location of a file."""
    return f"{worktree}{LOCATION_SEPARATOR}{path}" if worktree else path


#: A person's request about one artifact.
ArtifactRequest = CreateArtifact | EditArtifact | RollbackArtifact | RetryArtifact | DeleteArtifact


class FileState(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The content of a file as read; None for no file."""

    content: Blob | None = None


class ArtifactRequested(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A person's request, with what the runtime read for it: the bytes to save, and the artifact's
    file if it has one. The file was read after the fact at `file_sequence`. `added` and `removed`
    count lines against the file, or against the newest version."""

    session_id: str
    artifact_id: str
    request: ArtifactRequest
    draft: Blob | None = None
    file: FileState | None = None
    file_sequence: int = 0
    added: int = 0
    removed: int = 0


class ArtifactChangeReported(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The result of a file change: done, or failed with `code`. `file` is the file as it is now."""

    session_id: str
    artifact_id: str
    code: str = ""
    message: str = ""
    file: FileState | None = None
    added: int = 0
    removed: int = 0


class InterruptedSaveReported(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The present file of a save whose process ended; `file` is None if it cannot be read."""

    artifact: str
    file: FileState | None = None
    message: str = ""


class ExportRequested(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A valid export request for `version` of `artifact_id`."""

    session_id: str
    artifact_id: str
    request: ExportArtifact | RetryArtifact
    form: ExportForm
    version: int
    source: int = 0
    artifacts: tuple[str, ...] = ()
    everything: bool = False


class ExportReported(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Progress of an export, its result (`content`, called `name`), or its failure."""

    export: str
    done: int = 0
    total: int = 0
    content: Blob | None = None
    name: str = ""
    left_out: int = 0
    code: str = ""
    message: str = ""
