"""The artifacts of a session: what each is, its newest versions, and what became of saving and exporting it. A version has a
row of its own as well, which is read when it is asked for."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.artifact import ArtifactKind, content_of, kind_of, title_of
from callboard.contracts.facts import (
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
from callboard.contracts.rows import ArtifactRow, ArtifactVersionRow, ExportEntry, Op, VersionEntry

from .reducer import upsert

#: How many versions and exports a row tells; the rest is had on demand.
MOST_VERSIONS = 3
MOST_EXPORTS = 5
#: How many of the newest rows the panel keeps whole. Of the others it keeps what a row is begun with.
MOST_ROWS = 300


class Rest(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of an artifact that was not changed for long."""

    title: str
    kind: ArtifactKind
    path: str
    worktree: str
    version: int
    order: int
    created_at: int


class ArtifactsPanel(msgspec.Struct):
    """`rows` are those that changed last, the newest last; `rest` is what is kept of all others."""

    rows: dict[str, ArtifactRow] = msgspec.field(default_factory=dict[str, ArtifactRow])
    rest: dict[str, Rest] = msgspec.field(default_factory=dict[str, Rest])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
        match record.fact:
            case ArtifactCreated() as fact:
                return self._keep(_begun(record, fact))
            case ArtifactVersionCreated() as fact:
                return self._version(record, fact)
            case ArtifactDeleted():
                return self._deleted(record)
            case _:
                return self._changed(record)

    def _version(self, record: Record, fact: ArtifactVersionCreated) -> list[Op]:
        row = self._row(record) or _unbegun(record, fact)
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
        return [*self._keep(_now(row, record)), *upsert(version)]

    def _changed(self, record: Record) -> list[Op]:
        row = self._row(record) if record.scope.artifact else None
        changes = _changes(row, record) if row is not None else {}
        if row is None or not changes:
            return []
        return self._keep(_now(msgspec.structs.replace(row, **changes), record))

    def _deleted(self, record: Record) -> list[Op]:
        """What a person wrote and did not save is not deleted with it."""
        row = self._row(record)
        if row is None:
            return []
        gone = msgspec.structs.replace(row, status="deleted", code="", message="")
        return self._keep(_now(gone, record))

    def _row(self, record: Record) -> ArtifactRow | None:
        """The artifact's row as it was; one that was not changed for long tells its newest versions no more."""
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

    def _keep(self, row: ArtifactRow) -> list[Op]:
        self.rest.pop(row.key, None)
        self.rows.pop(row.key, None)
        if row.status == "deleted" and not _exporting(row):
            # Nothing is told of it any more.
            return upsert(row)
        self.rows[row.key] = row
        if len(self.rows) > MOST_ROWS:
            # What a person has in hand is kept whole.
            key = next((key for key, one in self.rows.items() if _rests(one)), next(iter(self.rows)))
            self.rest[key] = _rest(self.rows.pop(key))
        return upsert(row)


#: What a row tells of a save once it is settled.
_SETTLED: dict[str, Any] = {"status": "saved", "draft": None, "draft_base": 0, "code": "", "message": ""}


def _begun(record: Record, fact: ArtifactCreated) -> ArtifactRow:
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


def _unbegun(record: Record, fact: ArtifactVersionCreated) -> ArtifactRow:
    """Of an artifact whose beginning is not known."""
    begun = ArtifactCreated(artifact_kind="binary", title=fact.title, path=fact.path, worktree=fact.worktree)
    return msgspec.structs.replace(_begun(record, begun), created_at=0, agent_id="", thread_id="")


def _entry(record: Record, fact: ArtifactVersionCreated, row: ArtifactRow) -> VersionEntry:
    """A version that was erased still counts."""
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
    """The fields that the fact changes."""
    match record.fact:
        case ArtifactUpdated() as fact:
            named = {"title": title_of(fact.title, fact.path or row.path), "path": fact.path or row.path}
            return {**named, **(_SETTLED if fact.dropped else {})}
        case ArtifactSaveRequested():
            return {"status": "saving", "code": "", "message": ""}
        case ArtifactFailed(operation="export") as fact:
            return _export(row, fact.export, code=fact.code, message=fact.message)
        case ArtifactFailed() as fact:
            kept = {"draft": fact.draft, "draft_base": fact.base} if fact.draft is not None else {}
            status = "conflict" if fact.code == "artifact_conflict" else "failed"
            return {"status": status, "code": fact.code, "message": fact.message, **kept}
        case ArtifactExportStarted() as fact:
            new = ExportEntry(
                export=fact.export,
                version=fact.version,
                form=fact.form,
                source=fact.source,
                artifacts=len(fact.artifacts) + 1,
                everything=fact.everything,
            )
            others = tuple(one for one in row.exports if one.export != fact.export)
            return {"exports": (*others, new)[-MOST_EXPORTS:]}
        case ArtifactExportProgressed() as fact:
            return _export(row, fact.export, done=fact.done, total=fact.total)
        case ArtifactExportCompleted() as fact:
            return _export(row, fact.export, content=fact.content, name=fact.name, left_out=fact.left_out)
        case _:
            return {}


def _export(row: ArtifactRow, export: str, **changes: Any) -> dict[str, Any]:
    if not any(one.export == export for one in row.exports):
        return {}
    told = (msgspec.structs.replace(one, **changes) if one.export == export else one for one in row.exports)
    return {"exports": tuple(told)}


def _now(row: ArtifactRow, record: Record) -> ArtifactRow:
    return msgspec.structs.replace(row, sequence=record.sequence, updated_at=record.header.at)


def _rests(row: ArtifactRow) -> bool:
    return row.status == "saved" and not _exporting(row)


def _exporting(row: ArtifactRow) -> bool:
    return any(one.content is None and not one.code for one in row.exports)


def _rest(row: ArtifactRow) -> Rest:
    return Rest(row.title, row.artifact_kind, row.path, row.worktree, row.version, row.order, row.created_at)
