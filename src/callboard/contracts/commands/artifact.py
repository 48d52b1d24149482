"""Commands that manage artifacts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..entities.artifact import ArtifactStatus, ExportForm
from ..rows.artifact import ArtifactRow, ExportEntry, VersionEntry
from .base import MAX_INTEGER, Answer, Command, Id, Reason, Sequence, command

#: Text of an artifact that a person writes.
Draft = Annotated[str, Meta(max_length=600_000)]


Title = Annotated[str, Meta(min_length=1, max_length=200)]


#: Path of a file relative to the session's folder.
Path = Annotated[str, Meta(min_length=1, max_length=1000)]


Version = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]


class ArtifactList(Answer, frozen=True, kw_only=True):
    """The artifacts.

    `exports` are in progress in this process. `head` is the newest sequence of the log.
    """

    artifacts: tuple[ArtifactRow, ...]
    exports: tuple[ExportEntry, ...]
    head: int


@command("list_artifacts", ArtifactList, authority="anyone", query=True)
class ListArtifacts(Command, frozen=True, kw_only=True):
    """List the artifacts of a session with their state, and the exports in progress.

    The newest is last. `before` limits the list to artifacts whose newest version has a smaller sequence. `wait_for` is
    a sequence that the answer must include.
    """

    session_id: Id
    before: Sequence | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200
    wait_for: Sequence = 0


class ArtifactRead(Answer, frozen=True, kw_only=True):
    """The artifact with its versions in order, each with its content as a blob.

    `head` is the newest sequence of the log.
    """

    artifact: ArtifactRow
    versions: tuple[VersionEntry, ...]
    head: int


@command("get_artifact", ArtifactRead, authority="anyone", query=True)
class GetArtifact(Command, frozen=True, kw_only=True):
    """Read an artifact with its versions and the step that created each.

    `before` limits the versions to those before it.
    """

    session_id: Id
    artifact_id: Id
    before: Version | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 1000
    wait_for: Sequence = 0


class ArtifactDiff(Answer, frozen=True, kw_only=True):
    """A unified diff.

    With `binary` a version is not text, and there is no diff. With `cut` the diff is truncated; an
    export in the form `diff` has all of it.
    """

    session_id: str
    artifact_id: str
    from_version: int
    to_version: int
    diff: str = ""
    added: int = 0
    removed: int = 0
    binary: bool = False
    cut: bool = False


@command("get_artifact_diff", ArtifactDiff, authority="anyone", query=True)
class GetArtifactDiff(Command, frozen=True, kw_only=True):
    """Read the differences between two versions of an artifact.

    `from_version` may be the later one. Version 0 is empty.
    """

    session_id: Id
    artifact_id: Id
    from_version: Sequence
    to_version: Version


class ArtifactChanged(Answer, frozen=True, kw_only=True):
    """The state of an artifact. `version` is its newest version."""

    session_id: str
    artifact_id: str
    version: int
    status: ArtifactStatus
    sequence: int


@command("create_artifact", ArtifactChanged)
class CreateArtifact(Command, frozen=True, kw_only=True):
    """Create an artifact, either a file of the folder or stored by Callboard alone.

    With `path` and `content` the file is created. With `path` alone the artifact is the existing file. Without `path`
    Callboard stores the content.
    """

    session_id: Id
    title: Title | None = None
    path: Path | None = None
    content: Draft | None = None
    reason: Reason = ""


@command("edit_artifact", ArtifactChanged)
class EditArtifact(Command, frozen=True, kw_only=True):
    """Save text as the next version of an artifact.

    `base_version` is the version that the text was made from. If another version is newer, or the file differs from that
    version, the command is refused with `artifact_conflict` and the text is kept as a draft. `title` renames the
    artifact.
    """

    session_id: Id
    artifact_id: Id
    base_version: Version
    content: Draft | None = None
    title: Title | None = None
    reason: Reason = ""


@command("rollback_artifact", ArtifactChanged)
class RollbackArtifact(Command, frozen=True, kw_only=True):
    """Restore an earlier version of an artifact as a new version.

    `base_version` is the newest version that the caller read.
    """

    session_id: Id
    artifact_id: Id
    version: Version
    base_version: Version
    reason: Reason = ""


class ArtifactRetried(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """The retried work. A save has `version` and `status`, an export has `export_id` and runs in the background."""

    session_id: str
    artifact_id: str
    sequence: int
    version: int | None = None
    status: ArtifactStatus | None = None
    export_id: str | None = None


@command("retry_artifact", ArtifactRetried)
class RetryArtifact(Command, frozen=True, kw_only=True):
    """Retry a failed save or a failed export.

    A save uses the stored draft, on top of `base_version` if that is given; it must be the newest version.
    """

    session_id: Id
    artifact_id: Id
    base_version: Version | None = None
    export_id: Id | None = None
    reason: Reason = ""


@command("delete_artifact", ArtifactChanged)
class DeleteArtifact(Command, frozen=True, kw_only=True):
    """Delete an artifact; its versions stay in the log.

    `confirm` repeats the artifact's id. With `file` its file is deleted as well, if the file equals the newest version.
    """

    session_id: Id
    artifact_id: Id
    confirm: Id
    file: bool = False
    reason: Reason = ""


class ExportStarted(Answer, frozen=True, kw_only=True):
    """The export is in progress.

    `list_artifacts` and the row of the artifact report its progress and result.
    """

    session_id: str
    artifact_id: str
    export_id: str
    sequence: int


@command("export_artifact", ExportStarted)
class ExportArtifact(Command, frozen=True, kw_only=True):
    """Export artifacts in the background as a file, a diff, a page or an archive.

    `form` is `file` (one version), `diff` (two versions of one artifact), `html` (a Markdown text as a page) or `zip`
    (the newest versions of the named artifacts, or of all). `version` defaults to the newest, `from_version` to the one
    before it.
    """

    session_id: Id
    artifact_ids: Annotated[tuple[Id, ...], Meta(max_length=200)] = ()
    form: ExportForm = "file"
    version: Version | None = None
    from_version: Sequence | None = None
    reason: Reason = ""
