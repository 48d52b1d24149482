"""Artifacts: one row each, with its newest versions, saves and exports. Each version also has a row, read on demand."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.artifact import ArtifactKind, add_media_type, choose_title, classify_artifact
from callboard.contracts.facts.artifact import (
    ArtifactCreated,
    ArtifactDeleted,
    ArtifactExportCompleted,
    ArtifactExportProgressed,
    ArtifactExportStarted,
    ArtifactFailed,
    ArtifactSaveRequested,
    ArtifactUpdated,
    ArtifactVersionCreated,
)
from callboard.contracts.record import Record
from callboard.contracts.rows.artifact import ArtifactRow, ArtifactVersionRow, ExportEntry, VersionEntry
from callboard.contracts.rows.base import Op

from .reducer import Panel, on, upsert

#: Maximum number of versions and exports in an artifact's row.
MAX_VERSIONS = 3
MAX_EXPORTS = 5
#: Maximum number of complete rows. The panel keeps a summary of older ones.
MAX_ROWS = 300


class ArtifactSummary(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The summary of an artifact that has not changed recently."""

    title: str
    kind: ArtifactKind
    path: str
    worktree: str
    version: int
    order: int
    created_at: int


class ArtifactsPanel(Panel):
    """Artifacts. `rows` has the artifacts that changed last, newest last; `rest` has the summaries
    of the others."""

    rows: dict[str, ArtifactRow] = msgspec.field(default={})
    rest: dict[str, ArtifactSummary] = msgspec.field(default={})

    @on
    def create(self, record: Record, fact: ArtifactCreated) -> list[Op]:
        return self._store(_build_row(record, fact))

    @on
    def add_version(self, record: Record, fact: ArtifactVersionCreated) -> list[Op]:
        row = self._find_row(record) or _build_row_without_creation(record, fact)
        entry = _build_entry(record, fact, row)
        saves = fact.version_origin in ("person", "rollback")
        settled: dict[str, Any] = dict(_SETTLED) if saves else {}
        row = msgspec.structs.replace(
            row,
            order=record.sequence,
            artifact_kind=classify_artifact(row.path or row.title, entry.content.media)
            if entry.content.hash
            else "binary",
            version=entry.version,
            versions=(*row.versions, entry)[-MAX_VERSIONS:],
            **settled,
        )
        key = f"{row.artifact_id}.{entry.version}"
        version = ArtifactVersionRow(
            key=key, order=record.sequence, sequence=record.sequence, artifact_id=row.artifact_id, entry=entry
        )
        return [*self._store(_stamp(row, record)), *upsert(version)]

    @on
    def update(self, record: Record, fact: ArtifactUpdated) -> list[Op]:
        row = self._find_row(record)
        if row is None:
            return []
        names = {"title": choose_title(fact.title, fact.path or row.path), "path": fact.path or row.path}
        return self._change(record, **names, **(_SETTLED if fact.dropped else {}))

    @on
    def request_save(self, record: Record, fact: ArtifactSaveRequested) -> list[Op]:
        return self._change(record, status="saving", code="", message="")

    @on
    def fail(self, record: Record, fact: ArtifactFailed) -> list[Op]:
        if fact.operation == "export":
            return self._change_export(record, fact.export, code=fact.code, message=fact.message)
        draft: dict[str, Any] = {"draft": fact.draft, "draft_base": fact.base} if fact.draft is not None else {}
        status = "conflict" if fact.code == "artifact_conflict" else "failed"
        return self._change(record, status=status, code=fact.code, message=fact.message, **draft)

    @on
    def start_export(self, record: Record, fact: ArtifactExportStarted) -> list[Op]:
        row = self._find_row(record)
        if row is None:
            return []
        new = ExportEntry(
            export=fact.export,
            version=fact.version,
            form=fact.form,
            source=fact.source,
            artifacts=len(fact.artifacts) + 1,
            everything=fact.everything,
        )
        others = tuple(entry for entry in row.exports if entry.export != fact.export)
        return self._change(record, exports=(*others, new)[-MAX_EXPORTS:])

    @on
    def continue_export(self, record: Record, fact: ArtifactExportProgressed) -> list[Op]:
        return self._change_export(record, fact.export, done=fact.done, total=fact.total)

    @on
    def complete_export(self, record: Record, fact: ArtifactExportCompleted) -> list[Op]:
        return self._change_export(record, fact.export, content=fact.content, name=fact.name, left_out=fact.left_out)

    @on
    def delete(self, record: Record, fact: ArtifactDeleted) -> list[Op]:
        """Mark the artifact as deleted. An unsaved draft remains."""
        return self._change(record, status="deleted", code="", message="")

    def _change(self, record: Record, **changes: Any) -> list[Op]:
        row = self._find_row(record)
        return [] if row is None else self._store(_stamp(msgspec.structs.replace(row, **changes), record))

    def _change_export(self, record: Record, export: str, **changes: Any) -> list[Op]:
        row, replace = self._find_row(record), msgspec.structs.replace
        if row is None or not any(entry.export == export for entry in row.exports):
            return []
        exports = tuple(replace(entry, **changes) if entry.export == export else entry for entry in row.exports)
        return self._change(record, exports=exports)

    def _find_row(self, record: Record) -> ArtifactRow | None:
        """Return the artifact's row. A row from a summary lacks its versions."""
        key = record.scope.artifact
        rest = self.rest.get(key)
        if rest is None:
            return self.rows.get(key)
        return ArtifactRow(
            key=key,
            order=rest.order,
            sequence=record.sequence,
            artifact_id=key,
            title=rest.title,
            artifact_kind=rest.kind,
            status="saved",
            path=rest.path,
            worktree=rest.worktree,
            version=rest.version,
            created_at=rest.created_at,
        )

    def _store(self, row: ArtifactRow) -> list[Op]:
        self.rest.pop(row.key, None)
        self.rows.pop(row.key, None)
        if row.status == "deleted" and not _is_exporting(row):
            return upsert(row)
        self.rows[row.key] = row
        if len(self.rows) > MAX_ROWS:
            # Summarise a saved artifact first: a draft or a running export needs its complete row.
            key = next((key for key, row in self.rows.items() if _is_settled(row)), next(iter(self.rows)))
            self.rest[key] = _to_rest(self.rows.pop(key))
        return upsert(row)


#: The fields of a settled save.
_SETTLED: dict[str, Any] = {"status": "saved", "draft": None, "draft_base": 0, "code": "", "message": ""}


def _build_row(record: Record, fact: ArtifactCreated) -> ArtifactRow:
    return ArtifactRow(
        key=record.scope.artifact,
        order=record.sequence,
        sequence=record.sequence,
        artifact_id=record.scope.artifact,
        title=choose_title(fact.title, fact.path),
        artifact_kind=fact.artifact_kind,
        status="saved",
        path=fact.path,
        worktree=fact.worktree,
        agent_id=record.scope.agent,
        thread_id=record.scope.thread,
        created_at=record.header.at,
        updated_at=record.header.at,
    )


def _build_row_without_creation(record: Record, fact: ArtifactVersionCreated) -> ArtifactRow:
    """Return the row of an artifact without a creation fact."""
    created = ArtifactCreated(artifact_kind="binary", title=fact.title, path=fact.path, worktree=fact.worktree)
    return msgspec.structs.replace(_build_row(record, created), created_at=0, agent_id="", thread_id="")


def _build_entry(record: Record, fact: ArtifactVersionCreated, row: ArtifactRow) -> VersionEntry:
    """Return the entry of a version. An erased version still counts."""
    return VersionEntry(
        version=fact.version or row.version + 1,
        content=add_media_type(row.path or row.title, fact.content),
        version_origin=fact.version_origin,
        at=record.header.at,
        base=fact.base,
        restores=fact.restores,
        added=fact.added,
        removed=fact.removed,
        agent_id=record.scope.agent,
        turn_id=record.scope.turn,
        tool_call_id=record.scope.tool_call,
    )


def _stamp(row: ArtifactRow, record: Record) -> ArtifactRow:
    return msgspec.structs.replace(row, sequence=record.sequence, updated_at=record.header.at)


def _is_settled(row: ArtifactRow) -> bool:
    return row.status == "saved" and not _is_exporting(row)


def _is_exporting(row: ArtifactRow) -> bool:
    return any(entry.content is None and not entry.code for entry in row.exports)


def _to_rest(row: ArtifactRow) -> ArtifactSummary:
    return ArtifactSummary(row.title, row.artifact_kind, row.path, row.worktree, row.version, row.order, row.created_at)
