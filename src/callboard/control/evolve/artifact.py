"""Artifacts: made, changed, saved by a person, exported, deleted."""

from __future__ import annotations

from typing import TypeVar, assert_never

import msgspec

from callboard.contracts.facts.artifact import (
    ArtifactCreated,
    ArtifactDeleted,
    ArtifactExportCompleted,
    ArtifactExportProgressed,
    ArtifactExportStarted,
    ArtifactFact,
    ArtifactFailed,
    ArtifactSaveRequested,
    ArtifactUpdated,
    ArtifactVersionCreated,
)

from ..state.artifact import (
    HASH_PREFIX_LENGTH,
    MAX_FAILED_EXPORTS,
    Artifacts,
    OpenArtifact,
    OpenExport,
    OpenSave,
    UnsavedDraft,
    delivery_place,
    file_place,
)
from ..state.session import Session
from .fact_context import FactContext

T = TypeVar("T")


def apply(state: Session, fact: ArtifactFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case ArtifactCreated():
            return created(state, fact, place)
        case ArtifactVersionCreated():
            return version(state, fact, place)
        case ArtifactUpdated():
            return updated(state, fact, place)
        case ArtifactSaveRequested():
            return save_requested(state, fact, place)
        case ArtifactFailed():
            return failed(state, fact, place)
        case ArtifactExportStarted():
            return export_started(state, fact, place)
        case ArtifactExportCompleted():
            return export_completed(state, fact)
        case ArtifactDeleted():
            return deleted(state, fact, place)
        case ArtifactExportProgressed():
            return state
        case _:
            assert_never(fact)


def created(state: Session, fact: ArtifactCreated, place: FactContext) -> Session:
    where = delivery_place(place.scope.agent, fact.remote) if fact.remote else file_place(fact.path, fact.worktree)
    made = OpenArtifact(where, title=fact.title)
    return _change(state, open={**state.artifacts.open, place.scope.artifact: made})


def version(state: Session, fact: ArtifactVersionCreated, place: FactContext) -> Session:
    """A version that was erased still counts. What a person wrote is saved with a version of theirs."""
    known, key = state.artifacts, place.scope.artifact
    before = known.open.get(key, OpenArtifact(""))
    new = OpenArtifact(
        before.place or file_place(fact.path, fact.worktree),
        fact.version or before.version + 1,
        fact.content.hash[:HASH_PREFIX_LENGTH],
        before.title,
        place.sequence,
    )
    changed = _change(state, open={**known.open, key: new})
    if fact.version_origin in ("person", "rollback"):
        return _change(changed, saves=_without(known.saves, key), drafts=_without(known.drafts, key))
    return changed


def updated(state: Session, fact: ArtifactUpdated, place: FactContext) -> Session:
    known, key = state.artifacts, place.scope.artifact
    before = known.open.get(key)
    if before is None:
        return state
    where = file_place(fact.path, before.worktree) if fact.path else before.place
    new = OpenArtifact(where, before.version, before.hash_prefix, fact.title or before.title, before.last_sequence)
    drafts = _without(known.drafts, key) if fact.dropped else known.drafts
    return _change(state, open={**known.open, key: new}, drafts=drafts)


def save_requested(state: Session, fact: ArtifactSaveRequested, place: FactContext) -> Session:
    save = OpenSave(base=fact.base, epoch=place.epoch, draft=fact.draft, restores=fact.restores, reason=fact.reason)
    return _change(state, saves={**state.artifacts.saves, place.scope.artifact: save})


def failed(state: Session, fact: ArtifactFailed, place: FactContext) -> Session:
    known, key = state.artifacts, place.scope.artifact
    if fact.operation == "export":
        return _failed_export(state, fact.export)
    drafts = known.drafts
    if fact.draft is not None:
        drafts = {**drafts, key: UnsavedDraft(base=fact.base, draft=fact.draft, restores=fact.restores)}
    return _change(state, saves=_without(known.saves, key), drafts=drafts)


def export_started(state: Session, fact: ArtifactExportStarted, place: FactContext) -> Session:
    new = OpenExport(
        artifact=place.scope.artifact,
        form=fact.form,
        version=fact.version,
        epoch=place.epoch,
        source=fact.source,
        artifacts=fact.artifacts,
        everything=fact.everything,
    )
    return _change(state, exports={**_without(state.artifacts.exports, fact.export), fact.export: new})


def export_completed(state: Session, fact: ArtifactExportCompleted) -> Session:
    return _change(state, exports=_without(state.artifacts.exports, fact.export))


def deleted(state: Session, fact: ArtifactDeleted, place: FactContext) -> Session:
    known, key = state.artifacts, place.scope.artifact
    return _change(
        state,
        open=_without(known.open, key),
        saves=_without(known.saves, key),
        drafts=_without(known.drafts, key),
    )


def _failed_export(state: Session, export: str) -> Session:
    """It can be made again, as long as not many others failed since."""
    found = state.artifacts.exports.get(export)
    if found is None:
        return state
    others = _without(state.artifacts.exports, export)
    gone = [key for key, one in others.items() if one.failed][: -(MAX_FAILED_EXPORTS - 1)]
    kept = {key: one for key, one in others.items() if key not in gone}
    return _change(state, exports={**kept, export: msgspec.structs.replace(found, failed=True)})


def _change(state: Session, **changes: object) -> Session:
    artifacts: Artifacts = msgspec.structs.replace(state.artifacts, **changes)
    return msgspec.structs.replace(state, artifacts=artifacts)


def _without(known: dict[str, T], key: str) -> dict[str, T]:
    return {name: one for name, one in known.items() if name != key} if key in known else known
