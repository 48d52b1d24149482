"""Rows of artifacts: kind, version and state. The body is loaded on demand."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ..content import BlobRef
from ..entities.artifact import ArtifactKind, ArtifactStatus, ExportForm, VersionOrigin
from .base import Row
from .part import Part


class VersionEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A version.

    `agent_id`, `turn_id` and `tool_call_id` identify an agent's step that made it. `at` is in
    microseconds since the epoch.
    """

    version: int
    content: BlobRef
    version_origin: VersionOrigin
    at: int
    base: int = 0
    restores: int = 0
    added: int = 0
    removed: int = 0
    agent_id: str = ""
    turn_id: str = ""
    tool_call_id: str = ""


class ArtifactVersionRow(Row, tag="artifact_version", frozen=True, kw_only=True):
    """A version of an artifact, in a panel that is read by the key `artifactId.version` only."""

    panel: ClassVar[str] = "versions"
    artifact_id: str
    entry: VersionEntry


class ExportEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """An export.

    `content` is set once it is complete, `code` and `message` if it failed. With `source` it is the
    diff from that version. `artifacts` is the number of named artifacts; with `everything` it has
    all of the session. `done` of `total` bytes are read.
    """

    export: str
    version: int
    form: ExportForm
    source: int = 0
    artifacts: int = 1
    everything: bool = False
    done: int = 0
    total: int = 0
    name: str = ""
    content: BlobRef | None = None
    left_out: int = 0
    code: str = ""
    message: str = ""


class ArtifactRow(Row, tag="artifact", frozen=True, kw_only=True):
    """An artifact.

    `order` is the sequence of its newest `version`. `versions` are the newest ones in order; older
    ones are loaded on demand. `draft` is an unsaved text after a failed or conflicting save, with
    `code` and `message`; it stays after a deletion. `worktree` is the thread of the child whose
    worktree has the file. `agent_id` and `thread_id` are of the step that created it.
    """

    panel: ClassVar[str] = "artifacts"
    artifact_id: str
    title: str
    artifact_kind: ArtifactKind
    status: ArtifactStatus
    path: str = ""
    worktree: str = ""
    version: int = 0
    versions: tuple[VersionEntry, ...] = ()
    exports: tuple[ExportEntry, ...] = ()
    draft: BlobRef | None = None
    draft_base: int = 0
    code: str = ""
    message: str = ""
    agent_id: str = ""
    thread_id: str = ""
    created_at: int = 0
    updated_at: int = 0


class ArtifactPart(Part, tag="artifact_ref", frozen=True, kw_only=True):
    """A version of an artifact that the turn made."""

    artifact_id: str
    title: str
    version: int
    path: str = ""
    added: int = 0
    removed: int = 0
