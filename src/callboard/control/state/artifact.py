"""What a decider needs to know of artifacts: those that are there, saves and exports under way, drafts that are not saved.

An artifact is open until it is deleted, so what is kept of one is small: where it is, how many versions it has, and what its
newest one holds.
"""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.artifacts import (
    CreateArtifact,
    DeleteArtifact,
    EditArtifact,
    ExportArtifact,
    RetryArtifact,
    RollbackArtifact,
)
from callboard.contracts.content import Blob, BlobRef
from callboard.contracts.entities.artifact import ExportForm

#: How much of a content's hash is kept: enough to tell two contents apart, which is all that it is for.
HASH_PREFIX_LENGTH = 16
#: Keeps a path apart from where it is. No path of ours has it.
PLACE_SEPARATOR = "//"
#: How many exports that failed can be made again.
MAX_FAILED_EXPORTS = 20


class OpenArtifact(msgspec.Struct, frozen=True, array_like=True):
    """`place` is its path in the folder, behind the child's thread and two slashes where it is in a worktree; empty for one
    that is no file, or behind the slashes alone what an agent elsewhere calls it. `version` is the newest, 0 before the first,
    `mark` the beginning of its hash, and `told` the sequence of the fact that told of it."""

    place: str
    version: int = 0
    hash_prefix: str = ""
    title: str = ""
    last_sequence: int = 0

    @property
    def path(self) -> str:
        """Relative to the folder that it is in; empty for one that is no file."""
        before, apart, behind = self.place.partition(PLACE_SEPARATOR)
        return before if not apart else behind if before else ""

    @property
    def worktree(self) -> str:
        """The thread of the child in whose worktree it is."""
        before, apart, _ = self.place.partition(PLACE_SEPARATOR)
        return before if apart else ""

    def has_content(self, content: BlobRef) -> bool:
        """True where the newest version is of these bytes."""
        return bool(self.hash_prefix) and content.hash.startswith(self.hash_prefix)


class OpenSave(msgspec.Struct, frozen=True, kw_only=True):
    """A person's change of a file under way, in the process of that epoch. Without a draft the file is to go."""

    base: int
    epoch: int
    draft: BlobRef | None = None
    restores: int = 0
    reason: str = ""


class UnsavedDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What a person wrote that is not saved, and from which version."""

    base: int
    draft: BlobRef
    restores: int = 0


class OpenExport(msgspec.Struct, frozen=True, kw_only=True):
    """An export under way in the process of that epoch, or one that failed."""

    artifact: str
    form: ExportForm
    version: int
    epoch: int
    source: int = 0
    artifacts: tuple[str, ...] = ()
    everything: bool = False
    failed: bool = False


class Artifacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The artifacts of a session by id, with what is under way of them; the exports by their own."""

    open: dict[str, OpenArtifact] = msgspec.field(default_factory=dict[str, OpenArtifact])
    saves: dict[str, OpenSave] = msgspec.field(default_factory=dict[str, OpenSave])
    drafts: dict[str, UnsavedDraft] = msgspec.field(default_factory=dict[str, UnsavedDraft])
    exports: dict[str, OpenExport] = msgspec.field(default_factory=dict[str, OpenExport])

    def find_at(self, place: str) -> str:
        """The id of the artifact at that place; empty where none is."""
        return next((key for key, one in self.open.items() if one.place == place), "")


def delivery_place(agent: str, remote: str) -> str:
    """The place of what an agent elsewhere delivered under that name."""
    return f"{PLACE_SEPARATOR}{agent}/{remote}"


def file_place(path: str, worktree: str = "") -> str:
    """Where a file is."""
    return f"{worktree}{PLACE_SEPARATOR}{path}" if worktree else path


#: What a person asks of one artifact.
ArtifactRequest = CreateArtifact | EditArtifact | RollbackArtifact | RetryArtifact | DeleteArtifact


class FileState(msgspec.Struct, frozen=True, kw_only=True):
    """What a file was when it was looked at; without content there was none."""

    content: Blob | None = None


class ArtifactRequested(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asks, with what its decision rests on: the bytes that are to be saved, and the artifact's file as it is,
    where it has one; what was told up to the sequence `looked_at` was told before anybody looked. `added` and `removed` count
    lines against that file, or against the newest version of what is none."""

    session_id: str
    artifact_id: str
    request: ArtifactRequest
    draft: Blob | None = None
    file: FileState | None = None
    file_sequence: int = 0
    added: int = 0
    removed: int = 0


class ArtifactChangeReported(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a change of a file: done, or with `code` not. `look` is the file as it is then."""

    session_id: str
    artifact_id: str
    code: str = ""
    message: str = ""
    file: FileState | None = None
    added: int = 0
    removed: int = 0


class InterruptedSaveReported(msgspec.Struct, frozen=True, kw_only=True):
    """What a file is whose change a process began that has ended since; without `look` it cannot be looked at."""

    artifact: str
    file: FileState | None = None
    message: str = ""


class ExportRequested(msgspec.Struct, frozen=True, kw_only=True):
    """An export that can be made: of the version `version` of `artifact_id`. With `again` it is one that failed."""

    session_id: str
    artifact_id: str
    request: ExportArtifact | RetryArtifact
    form: ExportForm
    version: int
    source: int = 0
    artifacts: tuple[str, ...] = ()
    everything: bool = False


class ExportReported(msgspec.Struct, frozen=True, kw_only=True):
    """How far an export is, what it came to (`made`, called `name`), or why it failed."""

    export: str
    done: int = 0
    total: int = 0
    content: Blob | None = None
    name: str = ""
    left_out: int = 0
    code: str = ""
    message: str = ""
