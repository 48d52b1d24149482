"""What tools do to files are versions of artifacts; what somebody else did meanwhile is told as found (Agent UI specification,
Artifact)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callboard.contracts.content import BlobRef, blob_of
from callboard.contracts.entities.artifact import VersionOrigin, content_of, kind_of
from callboard.contracts.entities.team import Ref
from callboard.contracts.facts import (
    ArtifactCreated,
    ArtifactDeleted,
    ArtifactFailed,
    ArtifactVersionCreated,
    FileChange,
    RemoteArtifact,
)
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.artifact import OpenArtifact, delivery_place, file_place
from ...state.session import Thread

#: The scope of what nobody's step did.
NOBODY = Scope()
#: Why an artifact is told as deleted whose file nobody was seen to remove.
GONE = "the file was gone when it was made anew"
#: What a failed save is refused with that something else stands in the way of.
CONFLICT = "artifact_conflict"


def record_changes(
    batch: Batch,
    scope: Scope,
    changes: Iterable[FileChange],
    origin: VersionOrigin = "agent",
    *,
    seen: bool = False,
) -> None:
    """The files that a call changed, in the scope of that call, before the fact that ends it. What a change leaves is known
    only where its content was kept; what was there before it only with `seen`, where our own tool looked."""
    told = [change for change in changes if change.after is not None or change.kind == "deleted"]
    if not told:
        return
    worktree = worktree_of(batch.state.threads.get(scope.thread)) if origin == "agent" else ""
    places = {one.place: key for key, one in batch.state.artifacts.open.items() if one.place}
    for change in told:
        place = file_place(change.path, worktree)
        key = places.get(place, "")
        if change.after is None:
            if key:
                _removed(batch, scope, key)
            continue
        if key and seen and _was_gone(batch, scope, change, key):
            _gone(batch, key)
            key = ""
        if not key:
            key = places[place] = _create(batch, scope, change.path, change.after, worktree)
        _told(batch, _of(scope, key), change, change.after, origin)


def _was_gone(batch: Batch, scope: Scope, change: FileChange, artifact: str) -> bool:
    """True where the call saw for sure that the file of the artifact was there no longer. What was told after the call began
    may have been done before it or behind it, and that is not known. An artifact with something of a person's that is not
    saved goes on: what the file is by now is a version beside that, and neither is lost."""
    if change.kind != "created" or change.before is not None:
        return False
    known = batch.state.artifacts
    save = known.saves.get(artifact)
    if artifact in known.drafts if save is None else save.draft is not None:
        return False
    thread = batch.state.threads.get(scope.thread)
    call = thread.run.find_call(scope.tool_call) if thread is not None and thread.run is not None else None
    return call is not None and open_artifact(batch, artifact).last_sequence < call.started_sequence


def _gone(batch: Batch, artifact: str) -> None:
    """The file is there no longer, and nobody's step is known to have removed it: a person's deletion that is under way did."""
    if artifact in batch.state.artifacts.saves:
        finish_save(batch, artifact)
    else:
        batch.add(ArtifactDeleted(file=True, reason=GONE), msgspec.structs.replace(NOBODY, artifact=artifact))


def _removed(batch: Batch, scope: Scope, artifact: str) -> None:
    """The call removed the file. What a person wrote and did not save stands in conflict with that; a save that is under way
    tells itself what it met."""
    known = batch.state.artifacts
    save, kept = known.saves.get(artifact), known.drafts.get(artifact)
    if save is not None and save.draft is not None:
        return
    if kept is None:
        batch.add(ArtifactDeleted(file=True), _of(scope, artifact))
        return
    batch.add(
        ArtifactFailed(
            operation="rollback" if kept.restores else "save",
            code=CONFLICT,
            message="The file is gone.",
            base=kept.base,
            current=open_artifact(batch, artifact).version,
            restores=kept.restores,
            draft=kept.draft,
        ),
        _of(scope, artifact),
    )


def record_delivery(batch: Batch, scope: Scope, fact: RemoteArtifact) -> None:
    """What an agent elsewhere delivered, each part that has a content: the next version of what it delivered under that name,
    where it differs."""
    parts = [part for part in fact.parts if part.content is not None or part.text.text]
    for index, part in enumerate(parts):
        name = fact.remote_artifact_id if len(parts) == 1 else f"{fact.remote_artifact_id}#{part.name or index}"
        content = part.content or part.text.ref
        if content is None:
            blob = blob_of(part.text.text.encode("utf-8", "surrogatepass"))
            batch.add_blobs(blob)
            content = blob.ref
        key = batch.state.artifacts.find_at(delivery_place(scope.agent, name))
        if not key:
            key = batch.inputs.ids.new("artifact")
            title = part.name or fact.name or fact.remote_artifact_id
            kind = kind_of(title, content.media)
            batch.add(ArtifactCreated(artifact_kind=kind, title=title, remote=name), _of(scope, key))
        if not open_artifact(batch, key).has_content(content):
            add_version(batch, _of(scope, key), content, "agent")


def worktree_of(thread: Thread | None) -> str:
    """The thread itself where it works in a worktree of its own; empty for the session's folder."""
    return thread.thread if thread is not None and thread.child is not None and thread.child.worktree else ""


def close_worktree(batch: Batch, thread: str, scope: Scope) -> None:
    """A child is closed: what it made in its worktree and nobody merged is there no longer for anybody."""
    for key, one in list(batch.state.artifacts.open.items()):
        if one.worktree == thread:
            batch.add(ArtifactDeleted(reason="the worktree that it was in is closed"), _of(scope, key))


#: How a ref says that it is of an artifact.
_REF, _ID = "artifact://", "art_"


def resolve_refs(batch: Batch, refs: Iterable[Ref], worktree: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """The artifacts that refs lead to, by ref, and the refs of artifacts that lead to none. One is named by its id or by its
    path, first in the worktree of whoever names it."""
    known, missing = dict[str, str](), list[str]()
    for ref in refs:
        if not ref.ref.startswith((_REF, _ID)):
            continue
        found = find_artifact(batch, ref.ref.removeprefix(_REF), worktree)
        if found:
            known[ref.ref] = found
        else:
            missing.append(ref.ref)
    return known, tuple(dict.fromkeys(missing))


def find_artifact(batch: Batch, named: str, worktree: str) -> str:
    """The artifact of that id or path, first in that worktree; empty where there is none."""
    known = batch.state.artifacts
    return named if named in known.open else known.find_at(file_place(named, worktree)) or known.find_at(named)


def open_artifact(batch: Batch, artifact: str) -> OpenArtifact:
    """The artifact as the batch has changed it so far."""
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
    """The content is the next version, made from the one before it. The scope names the artifact."""
    before = open_artifact(batch, scope.artifact)
    batch.add(
        ArtifactVersionCreated(
            version=before.version + 1,
            content=content_of(before.path or before.title, content),
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
    """Somebody else changed the file: what it was found to be is a version of nobody's."""
    add_version(batch, msgspec.structs.replace(NOBODY, artifact=artifact), content, "found")


def create_artifact(batch: Batch, scope: Scope, path: str, title: str, content: BlobRef, worktree: str = "") -> str:
    """A new artifact without a version yet, for a content of that kind."""
    key = batch.inputs.ids.new("artifact")
    fact = ArtifactCreated(
        artifact_kind=kind_of(path or title, content.media), title=title, path=path, worktree=worktree
    )
    batch.add(fact, _of(scope, key))
    return key


def _create(batch: Batch, scope: Scope, path: str, content: BlobRef, worktree: str) -> str:
    return create_artifact(batch, scope, path, "", content, worktree)


def _told(batch: Batch, scope: Scope, change: FileChange, after: BlobRef, origin: VersionOrigin) -> None:
    """One change of one artifact. A file that was not what its newest version says was changed by somebody else; where that is
    the save of a person which is still under way, it was made."""
    key = scope.artifact
    save = batch.state.artifacts.saves.get(key)
    before = change.before
    if save is not None and save.draft is not None and before is not None and before.hash == save.draft.hash:
        finish_save(batch, key)
    known = open_artifact(batch, key)
    if before is not None and not known.has_content(before) and not known.has_content(after):
        add_found_version(batch, key, before)
    add_version(batch, scope, after, origin, added=change.added, removed=change.removed)


def finish_save(batch: Batch, artifact: str, *, added: int = 0, removed: int = 0) -> None:
    """A person's change of the file that was under way is made."""
    save = batch.state.artifacts.saves[artifact]
    scope = msgspec.structs.replace(NOBODY, artifact=artifact)
    if save.draft is None:
        batch.add(ArtifactDeleted(file=True, reason=save.reason), scope)
        return
    origin: VersionOrigin = "rollback" if save.restores else "person"
    add_version(batch, scope, save.draft, origin, restores=save.restores, added=added, removed=removed)


def _of(scope: Scope, artifact: str) -> Scope:
    return msgspec.structs.replace(scope, artifact=artifact)
