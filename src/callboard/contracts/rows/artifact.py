"""Rows of artifacts. The body is in the workspace of artifacts, loaded on demand; a row tells its kind, version and state."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ..content import BlobRef
from ..entities.artifact import ArtifactKind, ArtifactStatus, ExportForm, VersionOrigin
from .base import Row


class VersionEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One version. `agent_id`, `turn_id` and `tool_call_id` name the step that made it, where an agent did; `at` is in
    microseconds since the epoch."""

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
    """One version of an artifact, in a panel that is read by key and shown to nobody who did not ask: `artifactId.version`."""

    panel: ClassVar[str] = "versions"
    artifact_id: str
    entry: VersionEntry


class ExportEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One export; `content` is there once it is complete, `code` and `message` where it failed. With `source` it is the
    difference from that version. `artifacts` counts those that were named, or with `everything` it is all that the session
    has; `done` of `total` bytes are read."""

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
    """One artifact. `order` is the sequence of its newest version. `versions` are the newest of them, the last one last, and
    `version` is its number; the rest on demand. `draft` is what a person wrote that is not saved, kept where saving failed or
    met a newer version, also when the artifact is deleted; `code` and `message` say which. `worktree` is the thread of the
    child in whose worktree the file is; `agent_id` and `thread_id` are those of the step that made it."""

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
