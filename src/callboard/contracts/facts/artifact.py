"""Facts of artifacts: what was made, its versions, and what became of saving, exporting and deleting it.

A version is immutable; its content is a blob. An artifact with a path is a file of the session's folder, and each change that
a tool makes to that file is a version of it.
"""

from __future__ import annotations

from typing import ClassVar

from ..artifact import ArtifactKind, ArtifactOperation, VersionOrigin
from ..content import BlobRef, Text
from ..scope import ScopeKey
from .base import Fact

_ARTIFACT: tuple[ScopeKey, ...] = ("artifact",)


class ArtifactCreated(Fact, frozen=True, kw_only=True):
    """An artifact is there. `path` is relative to the folder, empty for one that is no file. Its first version follows."""

    type: ClassVar[str] = "artifact.created"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    title: str
    artifact_kind: ArtifactKind
    path: str = ""


class ArtifactSaveRequested(Fact, frozen=True, kw_only=True):
    """A person's change of a file is about to be written: the intent, before anything is touched. `draft` is what they wrote,
    made from version `base`; with `restores` it is that version again."""

    type: ClassVar[str] = "artifact.save.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    base: int
    draft: BlobRef
    restores: int = 0


class ArtifactVersionCreated(Fact, frozen=True, kw_only=True):
    """A version is saved. `version` counts from 1 without a hole; `base` is the one that it was made from, 0 for none. The
    scope names the step that made it, where an agent did. `diff` is unified, against `base`; absent for what is no text."""

    type: ClassVar[str] = "artifact.version.created"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    version: int
    content: BlobRef
    version_origin: VersionOrigin
    base: int = 0
    restores: int = 0
    added: int = 0
    removed: int = 0
    diff: Text | None = None


class ArtifactUpdated(Fact, frozen=True, kw_only=True):
    """What an artifact is called changed, or where its file is."""

    type: ClassVar[str] = "artifact.updated"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    title: str
    path: str = ""


class ArtifactFailed(Fact, frozen=True, kw_only=True):
    """An operation failed and changed nothing. `artifact_conflict` is a save against a version that is not the newest: the
    newest is `current`, and the `draft` is kept beside it."""

    type: ClassVar[str] = "artifact.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    operation: ArtifactOperation
    code: str
    message: str
    base: int = 0
    current: int = 0
    draft: BlobRef | None = None


class ArtifactExportStarted(Fact, frozen=True, kw_only=True):
    """A version is being exported. `export` names it among the session's; `form` is what is made of it."""

    type: ClassVar[str] = "artifact.export.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    export: str
    version: int
    form: str


class ArtifactExportCompleted(Fact, frozen=True, kw_only=True):
    """The export is there to be downloaded, as a file of that name."""

    type: ClassVar[str] = "artifact.export.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    export: str
    content: BlobRef
    name: str


class ArtifactDeleted(Fact, frozen=True, kw_only=True):
    """An artifact is gone from the workspace; with `file` its file was removed as well. Its versions stay in the log."""

    type: ClassVar[str] = "artifact.deleted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _ARTIFACT
    closes: ClassVar[ScopeKey | None] = "artifact"
    file: bool = False
    reason: str = ""


ArtifactFact = (
    ArtifactCreated
    | ArtifactSaveRequested
    | ArtifactVersionCreated
    | ArtifactUpdated
    | ArtifactFailed
    | ArtifactExportStarted
    | ArtifactExportCompleted
    | ArtifactDeleted
)
