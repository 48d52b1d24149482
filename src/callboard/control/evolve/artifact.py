"""Facts of artifacts: created, changed, saved by a person, exported, deleted."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

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
    build_delivery_location,
    build_file_location,
)
from ..state.session import Session
from .fact_context import FactContext, drop_entry


def apply(state: Session, fact: ArtifactFact, context: FactContext) -> Session:
    artifacts, key = state.artifacts, context.scope.artifact
    match fact:
        case ArtifactCreated():
            path = build_file_location(fact.path, fact.worktree)
            location = build_delivery_location(context.scope.agent, fact.remote) if fact.remote else path
            return _update(state, open={**artifacts.open, key: OpenArtifact(location, title=fact.title)})
        case ArtifactVersionCreated():
            return _add_version(state, fact, context)
        case ArtifactUpdated():
            return _update_artifact(state, fact, key)
        case ArtifactSaveRequested():
            save = OpenSave(
                base=fact.base, epoch=context.epoch, draft=fact.draft, restores=fact.restores, reason=fact.reason
            )
            return _update(state, saves={**artifacts.saves, key: save})
        case ArtifactFailed():
            return _fail_operation(state, fact, key)
        case ArtifactExportStarted():
            export = OpenExport(
                artifact=key,
                form=fact.form,
                version=fact.version,
                epoch=context.epoch,
                source=fact.source,
                artifacts=fact.artifacts,
                everything=fact.everything,
            )
            return _update(state, exports={**drop_entry(artifacts.exports, fact.export), fact.export: export})
        case ArtifactExportCompleted():
            return _update(state, exports=drop_entry(artifacts.exports, fact.export))
        case ArtifactDeleted():
            return _update(
                state,
                open=drop_entry(artifacts.open, key),
                saves=drop_entry(artifacts.saves, key),
                drafts=drop_entry(artifacts.drafts, key),
            )
        case ArtifactExportProgressed():
            return state
        case _:
            assert_never(fact)


def _add_version(state: Session, fact: ArtifactVersionCreated, context: FactContext) -> Session:
    """Add a version; count an erased one too. A version that a person made ends the save and the draft."""
    artifacts, key = state.artifacts, context.scope.artifact
    previous = artifacts.open.get(key, OpenArtifact(""))
    artifact = OpenArtifact(
        previous.location or build_file_location(fact.path, fact.worktree),
        fact.version or previous.version + 1,
        fact.content.hash[:HASH_PREFIX_LENGTH],
        previous.title,
        context.sequence,
    )
    changed = _update(state, open={**artifacts.open, key: artifact})
    if fact.version_origin in ("person", "rollback"):
        return _update(changed, saves=drop_entry(artifacts.saves, key), drafts=drop_entry(artifacts.drafts, key))
    return changed


def _update_artifact(state: Session, fact: ArtifactUpdated, key: str) -> Session:
    artifacts = state.artifacts
    artifact = artifacts.open.get(key)
    if artifact is None:
        return state
    location = build_file_location(fact.path, artifact.worktree) if fact.path else artifact.location
    changed = replace(artifact, location=location, title=fact.title or artifact.title)
    drafts = drop_entry(artifacts.drafts, key) if fact.dropped else artifacts.drafts
    return _update(state, open={**artifacts.open, key: changed}, drafts=drafts)


def _fail_operation(state: Session, fact: ArtifactFailed, key: str) -> Session:
    if fact.operation == "export":
        return _fail_export(state, fact.export)
    drafts = state.artifacts.drafts
    if fact.draft is not None:
        drafts = {**drafts, key: UnsavedDraft(base=fact.base, draft=fact.draft, restores=fact.restores)}
    return _update(state, saves=drop_entry(state.artifacts.saves, key), drafts=drafts)


def _fail_export(state: Session, export: str) -> Session:
    """Mark the export as failed. The newest failed exports can be retried."""
    failed = state.artifacts.exports.get(export)
    if failed is None:
        return state
    others = drop_entry(state.artifacts.exports, export)
    dropped = [key for key, other in others.items() if other.failed][: -(MAX_FAILED_EXPORTS - 1)]
    retained = {key: other for key, other in others.items() if key not in dropped}
    return _update(state, exports={**retained, export: replace(failed, failed=True)})


def _update(state: Session, **changes: object) -> Session:
    artifacts: Artifacts = replace(state.artifacts, **changes)
    return replace(state, artifacts=artifacts)
