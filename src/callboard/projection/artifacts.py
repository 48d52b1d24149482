"""Artifacts: one row each, with its newest versions, saves and exports. A version has a row of its own, read on demand."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.artifact import ArtifactKind, content_of, kind_of, title_of
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

from .reducer import upsert

#: Maximum number of versions and exports in an artifact's row.
MOST_VERSIONS = 3
MOST_EXPORTS = 5
#: Maximum number of complete rows. The panel keeps a summary of older ones.
MOST_ROWS = 300


class Rest(msgspec.Struct, frozen=True, array_like=True):
    """The summary of an artifact that has not changed recently."""

    title: str
    kind: ArtifactKind
    path: str
    worktree: str
    version: int
    order: int
    created_at: int


class ArtifactsPanel(msgspec.Struct):
    """In `rows` the artifacts that changed last, newest last; in `rest` the summaries of the others."""

    rows: dict[str, ArtifactRow] = msgspec.field(default_factory=dict[str, ArtifactRow])
    rest: dict[str, Rest] = msgspec.field(default_factory=dict[str, Rest])

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact."""
        match record.fact:
            case ArtifactCreated() as fact:
                return self._store(_created(record, fact))
            case ArtifactVersionCreated() as fact:
                return self._version(record, fact)
            case ArtifactDeleted():
                return self._delete(record)
            case _:
                return self._change(record)

    def _version(self, record: Record, fact: ArtifactVersionCreated) -> list[Op]:
        row = self._row(record) or _without_creation(record, fact)
        entry = _entry(record, fact, row)
        saves = fact.version_origin in ("person", "rollback")
        settled: dict[str, Any] = dict(_SETTLED) if saves else {}
        row = msgspec.structs.replace(
            row,
            order=record.sequence,
            artifact_kind=kind_of(row.path or row.title, entry.content.media) if entry.content.hash else "binary",
            version=entry.version,
            versions=(*row.versions, entry)[-MOST_VERSIONS:],
            **settled,
        )
        key = f"{row.artifact_id}.{entry.version}"
        version = ArtifactVersionRow(
            key=key, order=record.sequence, sequence=record.sequence, artifact_id=row.artifact_id, entry=entry
        )
        return [*self._store(_now(row, record)), *upsert(version)]

    def _change(self, record: Record) -> list[Op]:
        row = self._row(record) if record.scope.artifact else None
        changes = _changes(row, record) if row is not None else {}
        if row is None or not changes:
            return []
        return self._store(_now(msgspec.structs.replace(row, **changes), record))

    def _delete(self, record: Record) -> list[Op]:
        """Mark the artifact as deleted. An unsaved draft remains."""
        row = self._row(record)
        if row is None:
            return []
        deleted = msgspec.structs.replace(row, status="deleted", code="", message="")
        return self._store(_now(deleted, record))

    def _row(self, record: Record) -> ArtifactRow | None:
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
        if row.status == "deleted" and not _exporting(row):
            return upsert(row)
        self.rows[row.key] = row
        if len(self.rows) > MOST_ROWS:
            # Summarise a saved artifact first: a draft or a running export needs its complete row.
            key = next((key for key, row in self.rows.items() if _is_settled(row)), next(iter(self.rows)))
            self.rest[key] = _rest(self.rows.pop(key))
        return upsert(row)


#: The fields of a settled save.
_SETTLED: dict[str, Any] = {"status": "saved", "draft": None, "draft_base": 0, "code": "", "message": ""}


def _created(record: Record, fact: ArtifactCreated) -> ArtifactRow:
    return ArtifactRow(
        key=record.scope.artifact,
        order=record.sequence,
        sequence=record.sequence,
        artifact_id=record.scope.artifact,
        title=title_of(fact.title, fact.path),
        artifact_kind=fact.artifact_kind,
        status="saved",
        path=fact.path,
        worktree=fact.worktree,
        agent_id=record.scope.agent,
        thread_id=record.scope.thread,
        created_at=record.header.at,
        updated_at=record.header.at,
    )


def _without_creation(record: Record, fact: ArtifactVersionCreated) -> ArtifactRow:
    """Return the row of an artifact without a creation fact."""
    created = ArtifactCreated(artifact_kind="binary", title=fact.title, path=fact.path, worktree=fact.worktree)
    return msgspec.structs.replace(_created(record, created), created_at=0, agent_id="", thread_id="")


def _entry(record: Record, fact: ArtifactVersionCreated, row: ArtifactRow) -> VersionEntry:
    """Return the entry of a version. An erased version still counts."""
    return VersionEntry(
        version=fact.version or row.version + 1,
        content=content_of(row.path or row.title, fact.content),
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


def _changes(row: ArtifactRow, record: Record) -> dict[str, Any]:
    """Return the fields that the fact changes."""
    match record.fact:
        case ArtifactUpdated() as fact:
            names = {"title": title_of(fact.title, fact.path or row.path), "path": fact.path or row.path}
            return {**names, **(_SETTLED if fact.dropped else {})}
        case ArtifactSaveRequested():
            return {"status": "saving", "code": "", "message": ""}
        case ArtifactFailed(operation="export") as fact:
            return _export(row, fact.export, code=fact.code, message=fact.message)
        case ArtifactFailed() as fact:
            draft = {"draft": fact.draft, "draft_base": fact.base} if fact.draft is not None else {}
            status = "conflict" if fact.code == "artifact_conflict" else "failed"
            return {"status": status, "code": fact.code, "message": fact.message, **draft}
        case ArtifactExportStarted() as fact:
            new = ExportEntry(
                export=fact.export,
                version=fact.version,
                form=fact.form,
                source=fact.source,
                artifacts=len(fact.artifacts) + 1,
                everything=fact.everything,
            )
            others = tuple(entry for entry in row.exports if entry.export != fact.export)
            return {"exports": (*others, new)[-MOST_EXPORTS:]}
        case ArtifactExportProgressed() as fact:
            return _export(row, fact.export, done=fact.done, total=fact.total)
        case ArtifactExportCompleted() as fact:
            return _export(row, fact.export, content=fact.content, name=fact.name, left_out=fact.left_out)
        case _:
            return {}


def _export(row: ArtifactRow, export: str, **changes: Any) -> dict[str, Any]:
    if not any(entry.export == export for entry in row.exports):
        return {}
    replace = msgspec.structs.replace
    return {"exports": tuple(replace(old, **changes) if old.export == export else old for old in row.exports)}


def _now(row: ArtifactRow, record: Record) -> ArtifactRow:
    return msgspec.structs.replace(row, sequence=record.sequence, updated_at=record.header.at)


def _is_settled(row: ArtifactRow) -> bool:
    return row.status == "saved" and not _exporting(row)


def _exporting(row: ArtifactRow) -> bool:
    return any(entry.content is None and not entry.code for entry in row.exports)


def _rest(row: ArtifactRow) -> Rest:
    return Rest(row.title, row.artifact_kind, row.path, row.worktree, row.version, row.order, row.created_at)
