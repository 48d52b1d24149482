"""Versions of artifacts from file changes of tools; other changes are recorded as found (Agent UI
specification, Artifact)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callboard.contracts.content import BlobRef, make_blob
from callboard.contracts.entities.artifact import VersionOrigin, add_media_type, classify_artifact
from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.agent import RemoteArtifact
from callboard.contracts.facts.artifact import ArtifactCreated, ArtifactDeleted, ArtifactFailed, ArtifactVersionCreated
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.artifact import OpenArtifact, build_delivery_location, build_file_location
from ...state.session import Thread

#: The scope of a change without a step.
NO_STEP = Scope()
#: Reason of a deletion without a known cause.
GONE = "the file was gone when it was recreated"
#: Code of a save that conflicts with another change.
CONFLICT = "artifact_conflict"


def record_changes(
    batch: Batch,
    scope: Scope,
    changes: Iterable[FileChange],
    origin: VersionOrigin = "agent",
    *,
    has_read_former: bool = False,
) -> None:
    """Record the files that a call changed, in its scope, before its terminal fact. A change
    without stored content is ignored. `has_read_former`: our own tool read the former content."""
    recorded = [change for change in changes if change.after is not None or change.kind == "deleted"]
    if not recorded:
        return
    worktree = find_worktree(batch.state.threads.get(scope.thread)) if origin == "agent" else ""
    artifact_ids = {artifact.location: key for key, artifact in batch.state.artifacts.open.items() if artifact.location}
    for change in recorded:
        location = build_file_location(change.path, worktree)
        key = artifact_ids.get(location, "")
        if change.after is None:
            if key:
                _record_removal(batch, scope, key)
            continue
        if key and has_read_former and _was_gone(batch, scope, change, key):
            _end_missing_artifact(batch, key)
            key = ""
        if not key:
            key = artifact_ids[location] = _create_file_artifact(batch, scope, change.path, change.after, worktree)
        _record_change(batch, _build_artifact_scope(scope, key), change, change.after, origin)


def _was_gone(batch: Batch, scope: Scope, change: FileChange, artifact: str) -> bool:
    """Return True if the call saw for certain that the artifact's file was gone.

    An artifact that changed after the call began may be older or newer than what the call saw. An
    artifact with an unsaved draft continues: the file becomes a version beside the draft.
    """
    if change.kind != "created" or change.before is not None:
        return False
    artifacts = batch.state.artifacts
    save = artifacts.saves.get(artifact)
    if artifact in artifacts.drafts if save is None else save.draft is not None:
        return False
    thread = batch.state.threads.get(scope.thread)
    call = thread.run.find_call(scope.tool_call) if thread is not None and thread.run is not None else None
    return call is not None and open_artifact(batch, artifact).last_sequence < call.started_sequence


def _end_missing_artifact(batch: Batch, artifact: str) -> None:
    """End an artifact whose file is gone without a known cause. A person's deletion in progress is
    the cause if there is one."""
    if artifact in batch.state.artifacts.saves:
        finish_save(batch, artifact)
    else:
        batch.add(ArtifactDeleted(file=True, reason=GONE), msgspec.structs.replace(NO_STEP, artifact=artifact))


def _record_removal(batch: Batch, scope: Scope, artifact: str) -> None:
    """Record that the call removed the file. An unsaved draft becomes a conflict; a save in
    progress reports its own result."""
    artifacts = batch.state.artifacts
    save, draft = artifacts.saves.get(artifact), artifacts.drafts.get(artifact)
    if save is not None and save.draft is not None:
        return
    if draft is None:
        batch.add(ArtifactDeleted(file=True), _build_artifact_scope(scope, artifact))
        return
    batch.add(
        ArtifactFailed(
            operation="rollback" if draft.restores else "save",
            code=CONFLICT,
            message="The file is gone.",
            base=draft.base,
            current=open_artifact(batch, artifact).version,
            restores=draft.restores,
            draft=draft.draft,
        ),
        _build_artifact_scope(scope, artifact),
    )


def record_delivery(batch: Batch, scope: Scope, fact: RemoteArtifact) -> None:
    """Record each part with content of a remote agent's artifact, as the next version under its
    name, if it differs."""
    parts = [part for part in fact.parts if part.content is not None or part.text.text]
    for index, part in enumerate(parts):
        name = fact.remote_artifact_id if len(parts) == 1 else f"{fact.remote_artifact_id}#{part.name or index}"
        content = part.content or part.text.ref
        if content is None:
            blob = make_blob(part.text.text.encode("utf-8", "surrogatepass"))
            batch.add_blobs(blob)
            content = blob.ref
        key = batch.state.artifacts.find_at(build_delivery_location(scope.agent, name))
        if not key:
            key = batch.inputs.ids.new("artifact")
            title = part.name or fact.name or fact.remote_artifact_id
            kind = classify_artifact(title, content.media)
            batch.add(ArtifactCreated(artifact_kind=kind, title=title, remote=name), _build_artifact_scope(scope, key))
        if not open_artifact(batch, key).has_content(content):
            add_version(batch, _build_artifact_scope(scope, key), content, "agent")


def find_worktree(thread: Thread | None) -> str:
    """Return the thread itself if it works in a worktree; empty for the session's folder."""
    return thread.thread if thread is not None and thread.child is not None and thread.child.worktree else ""


def close_worktree(batch: Batch, thread: str, scope: Scope) -> None:
    """Delete the artifacts in a closed child's worktree."""
    for key, artifact in list(batch.state.artifacts.open.items()):
        if artifact.worktree == thread:
            batch.add(ArtifactDeleted(reason="its worktree was closed"), _build_artifact_scope(scope, key))


#: Prefixes of a ref to an artifact.
_REF, _ID = "artifact://", "art_"


def resolve_refs(batch: Batch, refs: Iterable[Ref], worktree: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the artifacts of refs by ref, and the refs of artifacts without one. A ref names an id
    or a path; the worktree is searched first."""
    artifacts, missing = dict[str, str](), list[str]()
    for ref in refs:
        if not ref.ref.startswith((_REF, _ID)):
            continue
        artifact = find_artifact(batch, ref.ref.removeprefix(_REF), worktree)
        if artifact:
            artifacts[ref.ref] = artifact
        else:
            missing.append(ref.ref)
    return artifacts, tuple(dict.fromkeys(missing))


def find_artifact(batch: Batch, name: str, worktree: str) -> str:
    """Return the artifact with that id or path; empty for none. The worktree is searched first."""
    artifacts = batch.state.artifacts
    return (
        name
        if name in artifacts.open
        else artifacts.find_at(build_file_location(name, worktree)) or artifacts.find_at(name)
    )


def open_artifact(batch: Batch, artifact: str) -> OpenArtifact:
    """Return the artifact with the changes of this batch."""
    return batch.state.artifacts.open[artifact]


def add_version(
    batch: Batch,
    scope: Scope,
    content: BlobRef,
    origin: VersionOrigin,
    *,
    restores: int = 0,
    added: int = 0,
    removed: int = 0,
) -> None:
    """Record the content as the next version of the artifact in the scope."""
    before = open_artifact(batch, scope.artifact)
    batch.add(
        ArtifactVersionCreated(
            version=before.version + 1,
            content=add_media_type(before.path or before.title, content),
            version_origin=origin,
            title=before.title,
            path=before.path,
            worktree=before.worktree,
            base=before.version,
            restores=restores,
            added=added,
            removed=removed,
        ),
        scope,
    )


def add_found_version(batch: Batch, artifact: str, content: BlobRef) -> None:
    """Record content that another program wrote to the file."""
    add_version(batch, msgspec.structs.replace(NO_STEP, artifact=artifact), content, "found")


def create_artifact(batch: Batch, scope: Scope, path: str, title: str, content: BlobRef, worktree: str = "") -> str:
    """Create an artifact without versions, of the kind of the content."""
    key = batch.inputs.ids.new("artifact")
    fact = ArtifactCreated(
        artifact_kind=classify_artifact(path or title, content.media), title=title, path=path, worktree=worktree
    )
    batch.add(fact, _build_artifact_scope(scope, key))
    return key


def _create_file_artifact(batch: Batch, scope: Scope, path: str, content: BlobRef, worktree: str) -> str:
    return create_artifact(batch, scope, path, "", content, worktree)


def _record_change(batch: Batch, scope: Scope, change: FileChange, after: BlobRef, origin: VersionOrigin) -> None:
    """Record one change of one artifact. Record a differing former content as found, or as the
    person's save in progress if it is that."""
    key = scope.artifact
    save = batch.state.artifacts.saves.get(key)
    before = change.before
    if save is not None and save.draft is not None and before is not None and before.hash == save.draft.hash:
        finish_save(batch, key)
    current = open_artifact(batch, key)
    if before is not None and not current.has_content(before) and not current.has_content(after):
        add_found_version(batch, key, before)
    add_version(batch, scope, after, origin, added=change.added, removed=change.removed)


def finish_save(batch: Batch, artifact: str, *, added: int = 0, removed: int = 0) -> None:
    """Record that a person's change of the file was made."""
    save = batch.state.artifacts.saves[artifact]
    scope = msgspec.structs.replace(NO_STEP, artifact=artifact)
    if save.draft is None:
        batch.add(ArtifactDeleted(file=True, reason=save.reason), scope)
        return
    origin: VersionOrigin = "rollback" if save.restores else "person"
    add_version(batch, scope, save.draft, origin, restores=save.restores, added=added, removed=removed)


def _build_artifact_scope(scope: Scope, artifact: str) -> Scope:
    return msgspec.structs.replace(scope, artifact=artifact)
