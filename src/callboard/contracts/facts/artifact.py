"""Facts of artifacts: what was made, its versions, and what became of saving, exporting and deleting it.

A version is immutable; its content is a blob, and what differs between two of them is computed from those. An artifact with a
path is a file of the session's folder, or of a child's worktree, and each change that a tool makes to that file is a version of
it.
"""

from __future__ import annotations

from typing import ClassVar

from ..content import BlobRef
from ..entities.artifact import ArtifactKind, ArtifactOperation, ExportForm, VersionOrigin
from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact

_ARTIFACT: tuple[ScopeKey, ...] = ("artifact",)


class ArtifactCreated(Fact, frozen=True, kw_only=True):
    """An artifact is there. `path` is relative to the folder, empty for one that is no file. `worktree` is the thread of the
    child in whose worktree the file is, empty for the session's folder. An empty `title` is the file's name. `remote`
    is what an agent elsewhere calls what it delivered. Its first version follows."""

    type: ClassVar[str] = "artifact.created"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    erased: ClassVar[ErasedForm] = {"title": UNKNOWN, "artifact_kind": "binary"}
    artifact_kind: ArtifactKind
    title: str = ""
    path: str = ""
    worktree: str = ""
    remote: str = ""


class ArtifactSaveRequested(Fact, frozen=True, kw_only=True):
    """A person's change of a file is about to be made: the intent, before anything is touched. `draft` is what they wrote,
    made from version `base`; with `restores` it is that version again. Of a deletion there is no draft, and the file is to go.
    """

    type: ClassVar[str] = "artifact.save.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    base: int
    draft: BlobRef | None = None
    restores: int = 0
    reason: str = ""


class ArtifactVersionCreated(Fact, frozen=True, kw_only=True):
    """A version is saved. `version` counts from 1 without a hole; `base` is the one that it was made from, 0 for none. The
    scope names the step that made it, where an agent did. `title`, `path` and `worktree` are the artifact's. `added` and
    `removed` count lines against `base`, where both are text; of what was found nobody counted."""

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
    """What an artifact is called changed, or where its file is. With `dropped` the draft that was kept is given up."""

    type: ClassVar[str] = "artifact.updated"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    erased: ClassVar[ErasedForm] = {"title": UNKNOWN}
    title: str = ""
    path: str = ""
    dropped: bool = False


class ArtifactFailed(Fact, frozen=True, kw_only=True):
    """An operation failed and changed nothing. `artifact_conflict` is a save against a version that is not the newest: the
    newest is `current`, and the `draft` is kept beside it. `export` names the one that failed."""

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
    """A version is being exported. `export` names it among the session's; `form` is what is made of it. With `source` it is the
    difference from that version. `artifacts` are the others that go with it into an archive; with `everything` all that the
    session has do."""

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
    """`done` of `total` bytes of what is exported are read; said of exports that take long, and not often."""

    type: ClassVar[str] = "artifact.export.progressed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    export: str
    done: int
    total: int


class ArtifactExportCompleted(Fact, frozen=True, kw_only=True):
    """The export is there to be downloaded, as a file of that name. `left_out` counts the artifacts whose bytes are not there
    any more."""

    type: ClassVar[str] = "artifact.export.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    export: str
    content: BlobRef
    name: str
    left_out: int = 0


class ArtifactDeleted(Fact, frozen=True, kw_only=True):
    """An artifact is gone from the workspace; with `file` its file was removed as well. Its versions stay in the log."""

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
