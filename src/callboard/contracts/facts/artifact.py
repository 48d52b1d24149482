"""Facts of artifacts: creation, versions, saves, exports and deletion.

A version is immutable, and its content is a blob. Diffs are computed from two versions. An artifact
with a path is a file of the session's folder or of a child's worktree. Each change of that file by
a tool is a version.
"""

from __future__ import annotations

from typing import ClassVar

from ..content import BlobRef
from ..entities.artifact import ArtifactKind, ArtifactOperation, ExportForm, VersionOrigin
from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact

_ARTIFACT: tuple[ScopeKey, ...] = ("artifact",)


class ArtifactCreated(Fact, frozen=True, kw_only=True):
    """An artifact was created; its first version follows.

    `path` is relative to the folder, empty for an artifact without a file. `worktree` is the thread
    of the child whose worktree has the file, empty for the session's folder. An empty `title` is
    the file's name. `remote` is a remote agent's name for it.
    """

    type: ClassVar[str] = "artifact.created"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    erased: ClassVar[ErasedForm] = {"title": UNKNOWN, "artifact_kind": "binary"}
    artifact_kind: ArtifactKind
    title: str = ""
    path: str = ""
    worktree: str = ""
    remote: str = ""


class ArtifactSaveRequested(Fact, frozen=True, kw_only=True):
    """A person's change of a file is about to be written.

    `draft` is the new text, made from version `base`; None deletes the file. `restores` is the
    version that the draft restores, 0 for none.
    """

    type: ClassVar[str] = "artifact.save.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    base: int
    draft: BlobRef | None = None
    restores: int = 0
    reason: str = ""


class ArtifactVersionCreated(Fact, frozen=True, kw_only=True):
    """A version was saved.

    `version` counts from 1 without a gap. `base` is the version that it was made from, 0 for none.
    The scope has the agent's step that made it. `added` and `removed` count lines against `base`,
    for text; they are 0 for a found file.
    """

    type: ClassVar[str] = "artifact.version.created"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    erased: ClassVar[ErasedForm] = {"version": 0, "content": BlobRef(hash="", size=0), "version_origin": "found"}
    version: int
    content: BlobRef
    version_origin: VersionOrigin
    title: str = ""
    path: str = ""
    worktree: str = ""
    base: int = 0
    restores: int = 0
    added: int = 0
    removed: int = 0


class ArtifactUpdated(Fact, frozen=True, kw_only=True):
    """The title or path of an artifact changed. With `dropped` its draft was discarded."""

    type: ClassVar[str] = "artifact.updated"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    erased: ClassVar[ErasedForm] = {"title": UNKNOWN}
    title: str = ""
    path: str = ""
    dropped: bool = False


class ArtifactFailed(Fact, frozen=True, kw_only=True):
    """An operation failed and changed nothing.

    With the code `artifact_conflict` the newest version is `current`, not `base`, and the `draft`
    is kept. `export` is the failed export.
    """

    type: ClassVar[str] = "artifact.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    erased: ClassVar[ErasedForm] = {"operation": "save", "code": UNKNOWN, "message": ""}
    operation: ArtifactOperation
    code: str
    message: str
    base: int = 0
    current: int = 0
    restores: int = 0
    draft: BlobRef | None = None
    export: str = ""


class ArtifactExportStarted(Fact, frozen=True, kw_only=True):
    """An export of a version began.

    With `source` it is the diff from that version. `artifacts` are further artifacts in an archive;
    with `everything` the archive has all of the session.
    """

    type: ClassVar[str] = "artifact.export.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    export: str
    version: int
    form: ExportForm
    source: int = 0
    artifacts: tuple[str, ...] = ()
    everything: bool = False
    reason: str = ""


class ArtifactExportProgressed(Fact, frozen=True, kw_only=True):
    """A long export has read `done` of `total` bytes. Recorded seldom."""

    type: ClassVar[str] = "artifact.export.progressed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    export: str
    done: int
    total: int


class ArtifactExportCompleted(Fact, frozen=True, kw_only=True):
    """The export can be downloaded as a file called `name`. `left_out` counts artifacts without their bytes."""

    type: ClassVar[str] = "artifact.export.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    export: str
    content: BlobRef
    name: str
    left_out: int = 0


class ArtifactDeleted(Fact, frozen=True, kw_only=True):
    """An artifact was deleted; with `file` its file too. Its versions stay in the log."""

    type: ClassVar[str] = "artifact.deleted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    closes: ClassVar[ScopeKey | None] = "artifact"
    erased: ClassVar[ErasedForm] = {}
    file: bool = False
    reason: str = ""


ArtifactFact = (
    ArtifactCreated
    | ArtifactSaveRequested
    | ArtifactVersionCreated
    | ArtifactUpdated
    | ArtifactFailed
    | ArtifactExportStarted
    | ArtifactExportProgressed
    | ArtifactExportCompleted
    | ArtifactDeleted
)
