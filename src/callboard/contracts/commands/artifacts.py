"""The commands of artifacts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..entities.artifact import ArtifactStatus, ExportForm
from ..rows.artifact import ArtifactRow, ExportEntry, VersionEntry
from .base import LARGEST, Answer, Command, Declaration, Sequence
from .turns import Id, Reason

#: The text of an artifact as a person writes it.
Draft = Annotated[str, Meta(max_length=600_000)]
Title = Annotated[str, Meta(min_length=1, max_length=200)]
#: A file, relative to the session's folder.
Path = Annotated[str, Meta(min_length=1, max_length=1000)]
Version = Annotated[int, Meta(ge=1, le=LARGEST)]


class ListArtifacts(Command, frozen=True, kw_only=True):
    """The artifacts of a session, the newest last: those whose newest version is before the sequence `before`. `wait_for` is a
    sequence that the answer must show."""

    session_id: Id
    before: Sequence | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200
    wait_for: Sequence = 0


class ArtifactList(Answer, frozen=True, kw_only=True):
    """`exports` are those that this process has under way, with how far each is; `head` is the newest sequence of the log."""

    artifacts: tuple[ArtifactRow, ...]
    exports: tuple[ExportEntry, ...]
    head: int


class GetArtifact(Command, frozen=True, kw_only=True):
    """One artifact with its versions: all of them, or the newest before the version `before`."""

    session_id: Id
    artifact_id: Id
    before: Version | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 1000
    wait_for: Sequence = 0


class ArtifactRead(Answer, frozen=True, kw_only=True):
    """`versions` are in their order. The content of each is a blob; `head` is the newest sequence of the log."""

    artifact: ArtifactRow
    versions: tuple[VersionEntry, ...]
    head: int


class GetArtifactDiff(Command, frozen=True, kw_only=True):
    """What differs between two named versions of an artifact. `from_version` may be the later one, and 0 is nothing at all."""

    session_id: Id
    artifact_id: Id
    from_version: Sequence
    to_version: Version


class ArtifactDiff(Answer, frozen=True, kw_only=True):
    """`diff` is unified. With `binary` one of the versions is no text, and there are no lines to compare. With `cut` it is only
    the head of the diff: an export in the form `diff` holds all of it."""

    session_id: str
    artifact_id: str
    from_version: int
    to_version: int
    diff: str = ""
    added: int = 0
    removed: int = 0
    binary: bool = False
    cut: bool = False


class CreateArtifact(Command, frozen=True, kw_only=True):
    """Make an artifact. With `path` it is a file of the folder: a new one with that content, or without `content` the one that
    is there. Without `path` it is kept by Callboard alone."""

    session_id: Id
    title: Title | None = None
    path: Path | None = None
    content: Draft | None = None
    reason: Reason = ""


class EditArtifact(Command, frozen=True, kw_only=True):
    """Save a text as the next version, made from the version `base_version`. Where another one is the newest by now, or the
    file is not what that version says, this is refused with `artifact_conflict`, and what was written is kept beside it.
    `title` names the artifact anew."""

    session_id: Id
    artifact_id: Id
    base_version: Version
    content: Draft | None = None
    title: Title | None = None
    reason: Reason = ""


class RollbackArtifact(Command, frozen=True, kw_only=True):
    """Take up a former version again, as a new one behind `base_version`, the newest that the asker saw."""

    session_id: Id
    artifact_id: Id
    version: Version
    base_version: Version
    reason: Reason = ""


class RetryArtifact(Command, frozen=True, kw_only=True):
    """Try again what failed: to save the draft that was kept, over `base_version` where that is named and is the newest by now;
    or the export of that id."""

    session_id: Id
    artifact_id: Id
    base_version: Version | None = None
    export_id: Id | None = None
    reason: Reason = ""


class DeleteArtifact(Command, frozen=True, kw_only=True):
    """Take an artifact away; its versions stay in the log. `confirm` repeats its id. With `file` its file is removed as well,
    where that is what the newest version says."""

    session_id: Id
    artifact_id: Id
    confirm: Id
    file: bool = False
    reason: Reason = ""


class ArtifactChanged(Answer, frozen=True, kw_only=True):
    """What became of an artifact. `version` is its newest."""

    session_id: str
    artifact_id: str
    version: int
    status: ArtifactStatus
    sequence: int


class ExportArtifact(Command, frozen=True, kw_only=True):
    """Make something of artifacts to take away, in the background. `form` is `file` (one version as it is), `diff` (between
    two versions of one), `html` (a Markdown text as a page) or `zip` (the newest versions of several, or of all where none is
    named). `version` is the newest where it is left out, `from_version` the one before."""

    session_id: Id
    artifact_ids: Annotated[tuple[Id, ...], Meta(max_length=200)] = ()
    form: ExportForm = "file"
    version: Version | None = None
    from_version: Sequence | None = None
    reason: Reason = ""


class ExportBegun(Answer, frozen=True, kw_only=True):
    """The export is being made; `list_artifacts` and the row of `artifact_id` tell how far it is, and what it came to."""

    session_id: str
    artifact_id: str
    export_id: str
    sequence: int


ArtifactCommand = CreateArtifact | EditArtifact | RollbackArtifact | RetryArtifact | DeleteArtifact | ExportArtifact
ArtifactQuery = ListArtifacts | GetArtifact | GetArtifactDiff

ARTIFACT_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="list_artifacts",
        command=ListArtifacts,
        answer=ArtifactList,
        serial="session",
        authority="anyone",
        query=True,
        summary="The artifacts of a session with their state, and the exports that are under way.",
    ),
    Declaration(
        name="get_artifact",
        command=GetArtifact,
        answer=ArtifactRead,
        serial="session",
        authority="anyone",
        query=True,
        summary="One artifact with all its versions and the step that made each.",
    ),
    Declaration(
        name="get_artifact_diff",
        command=GetArtifactDiff,
        answer=ArtifactDiff,
        serial="session",
        authority="anyone",
        query=True,
        summary="What differs between two named versions of an artifact.",
    ),
    Declaration(
        name="create_artifact",
        command=CreateArtifact,
        answer=ArtifactChanged,
        serial="session",
        summary="Make an artifact: a file of the folder, or one that is kept by Callboard alone.",
    ),
    Declaration(
        name="edit_artifact",
        command=EditArtifact,
        answer=ArtifactChanged,
        serial="session",
        summary="Save a text as the next version of an artifact, against the version that it was made from.",
    ),
    Declaration(
        name="rollback_artifact",
        command=RollbackArtifact,
        answer=ArtifactChanged,
        serial="session",
        summary="Take up a former version of an artifact again, as a new one.",
    ),
    Declaration(
        name="retry_artifact",
        command=RetryArtifact,
        answer=ArtifactChanged,
        serial="session",
        summary="Try again to save what is kept of a failed save, or to make an export that failed.",
    ),
    Declaration(
        name="export_artifact",
        command=ExportArtifact,
        answer=ExportBegun,
        serial="session",
        summary="Make a file, a diff, a page or an archive of artifacts in the background.",
    ),
    Declaration(
        name="delete_artifact",
        command=DeleteArtifact,
        answer=ArtifactChanged,
        serial="session",
        summary="Take an artifact away, and its file where that is asked for; its versions stay in the log.",
    ),
)
