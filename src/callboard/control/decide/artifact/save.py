"""What a person does with an artifact: makes, saves, takes up again, tries again, deletes.

A save is against the version that it was made from. Where that is not the newest by now, or the file is not what the newest
says, it is a conflict: what the file was found to be is a version, what the person wrote is kept, and neither side is lost.
A file is changed outside of the log, so the intent is a fact first and what came of it one behind it.
"""

from __future__ import annotations

from callboard.contracts.commands.artifacts import (
    ArtifactChanged,
    CreateArtifact,
    DeleteArtifact,
    EditArtifact,
    RetryArtifact,
    RollbackArtifact,
)
from callboard.contracts.entities.artifact import ArtifactOperation, ArtifactStatus
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ArtifactDeleted, ArtifactFailed, ArtifactSaveRequested, ArtifactUpdated
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.artifact import (
    ArtifactChangeReported,
    ArtifactRequested,
    FileState,
    InterruptedSaveReported,
    OpenArtifact,
    OpenSave,
    UnsavedDraft,
)
from .versions import CONFLICT, GONE, add_found_version, add_version, create_artifact, finish_save, open_artifact

#: A process that was saving ended before anybody saw what came of it, and the file shows that nothing did.
INTERRUPTED = "save_interrupted"


def change_artifact(batch: Batch, what: ArtifactRequested) -> ArtifactChanged:
    """Decides what a person asked. Raises `unknown_artifact`, `artifact_deleted`, `invalid_input`, and `artifact_conflict` of a
    file that is there already or an artifact that is just being saved.

    The answer is `saving` where the file is to be changed now, `conflict` where nothing may be.
    """
    request = what.request
    if isinstance(request, CreateArtifact):
        return _create(batch, what, request)
    artifact = what.artifact_id
    require_artifact(batch, artifact)
    if artifact in batch.state.artifacts.saves:
        raise Refusal(CONFLICT, "Another change of this artifact is just being made.", hint="Ask again in a moment.")
    match request:
        case EditArtifact():
            return _edit(batch, what, request)
        case RollbackArtifact():
            return _save(batch, what, request.base_version, request.version, request.reason)
        case RetryArtifact():
            kept = _kept(batch, artifact)
            base = request.base_version if request.base_version is not None else kept.base
            return _save(batch, what, base, kept.restores, request.reason, again=request.base_version is not None)
        case DeleteArtifact():
            return _delete(batch, what, request)


def finish_change(batch: Batch, what: ArtifactChangeReported) -> ArtifactChanged:
    """Says what came of a change of a file. Where somebody saw it made before, it is said already."""
    if what.artifact_id in batch.state.artifacts.saves:
        if what.code:
            _failed(batch, what.artifact_id, what.code, what.message, what.file)
        else:
            finish_save(batch, what.artifact_id, added=what.added, removed=what.removed)
    return _answer(batch, what.artifact_id)


def settle_interrupted_save(batch: Batch, what: InterruptedSaveReported) -> None:
    """The process that changed a file has ended: the file shows what came of it."""
    save = batch.state.artifacts.saves.get(what.artifact)
    if save is None or save.epoch >= batch.inputs.epoch:
        return
    if what.file is None:
        _failed(batch, what.artifact, INTERRUPTED, what.message, None)
    elif _was_made(save, what.file):
        finish_save(batch, what.artifact)
    else:
        message = "The process that changed the file ended before it was changed."
        _failed(batch, what.artifact, INTERRUPTED, message, what.file)


def require_artifact(batch: Batch, artifact: str) -> OpenArtifact:
    """The artifact of that id. Raises `unknown_artifact`, `artifact_deleted`."""
    known = batch.state.artifacts.open.get(artifact)
    if known is not None:
        return known
    if artifact in batch.inputs.closed_ids:
        raise Refusal("artifact_deleted", f"The artifact {artifact} was deleted.", field="artifactId")
    raise Refusal(
        "unknown_artifact",
        f"The session has no artifact {artifact}.",
        field="artifactId",
        hint="list_artifacts names them.",
    )


def _create(batch: Batch, what: ArtifactRequested, request: CreateArtifact) -> ArtifactChanged:
    path, draft = request.path or "", what.draft
    there = what.file.content if what.file is not None else None
    if path and (taken := batch.state.artifacts.find_at(path)):
        _end_gone(batch, what, path, taken)
    content = draft or there
    if content is None:
        wanted = f"There is no file {path}." if path else "An artifact that is no file needs a content."
        raise Refusal("invalid_input", wanted, field="content", hint="Give its content.")
    if draft is not None and there is not None:
        raise Refusal(
            CONFLICT,
            f"There is a file {path} already.",
            field="path",
            hint="Leave the content out to take it as it is, then edit it.",
        )
    if not path and not request.title:
        raise Refusal("invalid_input", "An artifact that is no file needs a title.", field="title")
    artifact = create_artifact(batch, Scope(), path, request.title or "", content.ref)
    scope = Scope(artifact=artifact)
    batch.add_blobs(content)
    if draft is None:
        add_found_version(batch, artifact, content.ref)
    elif path:
        batch.add(ArtifactSaveRequested(base=0, draft=content.ref, reason=request.reason), scope)
    else:
        add_version(batch, scope, content.ref, "person", added=what.added)
    return _answer(batch, artifact)


def _end_gone(batch: Batch, what: ArtifactRequested, path: str, taken: str) -> None:
    """The artifact that has the path ends where its file is gone and a person makes it anew, as it does for a call. Raises
    `artifact_conflict` where the file is there, or may have come since somebody looked; and while something of a person's is
    not saved, with which it goes on."""
    known, now = batch.state.artifacts, open_artifact(batch, taken)
    why, hint = "", "Edit that one."
    if taken in known.saves:
        why, hint = ", and another change of it is just being made", "Ask again in a moment."
    elif _is_there(what.file) or now.last_sequence > what.file_sequence:
        pass
    elif taken in known.drafts:
        why = ", and what was written of it is not saved"
        hint = f"Save that with retry_artifact over version {now.version}, which makes the file anew, or delete the artifact."
    elif what.draft is None:
        why, hint = ", and its file is gone", "Give a content to make it anew."
    else:
        batch.add(ArtifactDeleted(file=True, reason=GONE), Scope(artifact=taken))
        return
    raise Refusal(CONFLICT, f"{path} is the artifact {taken} already{why}.", field="path", hint=hint)


def _edit(batch: Batch, what: ArtifactRequested, request: EditArtifact) -> ArtifactChanged:
    artifact = what.artifact_id
    if request.content is None and request.title is None:
        raise Refusal("invalid_input", "An edit needs a content or a title.", field="content")
    if request.title is not None and request.title != open_artifact(batch, artifact).title:
        batch.add(ArtifactUpdated(title=request.title), Scope(artifact=artifact))
    if request.content is None:
        return _answer(batch, artifact)
    return _save(batch, what, request.base_version, 0, request.reason)


def _save(
    batch: Batch, what: ArtifactRequested, base: int, restores: int, reason: str, *, again: bool = False
) -> ArtifactChanged:
    """Saves the draft over version `base`. `again` says that the person knows what stands in its way: a file that is gone is
    then made anew."""
    artifact, draft = what.artifact_id, what.draft
    if draft is None:
        raise Refusal("invalid_input", "There is nothing to save.", field="content")
    scope = Scope(artifact=artifact)
    batch.add_blobs(draft)
    operation: ArtifactOperation = "rollback" if restores else "save"
    gone = _drift(batch, artifact, what.file) and not again
    now = open_artifact(batch, artifact)
    if base != now.version or (gone and now.version):
        why = "The file is gone." if gone else f"The newest version is {now.version}, and this was made from {base}."
        batch.add(
            ArtifactFailed(
                operation=operation,
                code=CONFLICT,
                message=why,
                base=base,
                current=now.version,
                restores=restores,
                draft=draft.ref,
            ),
            scope,
        )
    elif now.has_content(draft.ref) and _is_there(what.file):
        if artifact in batch.state.artifacts.drafts:
            batch.add(ArtifactUpdated(title=now.title, dropped=True), scope)
    elif what.file is None:
        origin = "rollback" if restores else "person"
        add_version(batch, scope, draft.ref, origin, restores=restores, added=what.added, removed=what.removed)
    else:
        batch.add(ArtifactSaveRequested(base=now.version, draft=draft.ref, restores=restores, reason=reason), scope)
    return _answer(batch, artifact)


def _delete(batch: Batch, what: ArtifactRequested, request: DeleteArtifact) -> ArtifactChanged:
    artifact = what.artifact_id
    known = open_artifact(batch, artifact)
    if request.confirm != artifact:
        raise Refusal("invalid_input", "confirm must repeat the artifact's id.", field="confirm")
    if request.file and not known.path:
        raise Refusal("invalid_input", "This artifact is no file.", field="file", hint="Leave `file` out.")
    scope = Scope(artifact=artifact)
    if not request.file:
        batch.add(ArtifactDeleted(reason=request.reason), scope)
        return _answer(batch, artifact)
    gone = _drift(batch, artifact, what.file)
    now = open_artifact(batch, artifact)
    if now.version != known.version:
        message = "The file is not what the newest version said, so it stays."
        batch.add(
            ArtifactFailed(operation="delete", code=CONFLICT, message=message, base=known.version, current=now.version),
            scope,
        )
    elif gone:
        batch.add(ArtifactDeleted(reason=request.reason), scope)
    else:
        batch.add(ArtifactSaveRequested(base=now.version, reason=request.reason), scope)
    return _answer(batch, artifact)


def _drift(batch: Batch, artifact: str, look: FileState | None) -> bool:
    """Says what the file was found to be, where that is not the newest version. True where there is no file."""
    if look is None:
        return False
    if look.content is None:
        return True
    if not open_artifact(batch, artifact).has_content(look.content.ref):
        batch.add_blobs(look.content)
        add_found_version(batch, artifact, look.content.ref)
    return False


def _failed(batch: Batch, artifact: str, code: str, message: str, look: FileState | None) -> None:
    """A change of a file came to nothing. Where the file is another by now it is a conflict, and what it is a version."""
    save = batch.state.artifacts.saves[artifact]
    before = open_artifact(batch, artifact).version
    _drift(batch, artifact, look)
    now = open_artifact(batch, artifact)
    conflict = now.version != before or code == "file_changed"
    batch.add(
        ArtifactFailed(
            operation="delete" if save.draft is None else "rollback" if save.restores else "save",
            code=CONFLICT if conflict else code,
            message="The file was changed by somebody else meanwhile." if conflict else message,
            base=save.base,
            current=now.version,
            restores=save.restores,
            draft=save.draft,
        ),
        Scope(artifact=artifact),
    )


def _was_made(save: OpenSave, look: FileState) -> bool:
    there = look.content
    return there is None if save.draft is None else there is not None and there.ref.hash == save.draft.hash


def _is_there(look: FileState | None) -> bool:
    return look is None or look.content is not None


def _kept(batch: Batch, artifact: str) -> UnsavedDraft:
    kept = batch.state.artifacts.drafts.get(artifact)
    if kept is None:
        raise Refusal("invalid_input", "Nothing of this artifact failed to be saved.", field="artifactId")
    return kept


def _answer(batch: Batch, artifact: str) -> ArtifactChanged:
    known = batch.state.artifacts.open.get(artifact)
    return ArtifactChanged(
        session_id=batch.state.session,
        artifact_id=artifact,
        version=known.version if known is not None else 0,
        status=_status(batch, artifact),
        sequence=batch.state.sequence,
    )


def _status(batch: Batch, artifact: str) -> ArtifactStatus:
    known = batch.state.artifacts
    if artifact not in known.open:
        return "deleted"
    if artifact in known.saves:
        return "saving"
    fact = batch.last_fact
    if isinstance(fact, ArtifactFailed):
        return "conflict" if fact.code == CONFLICT else "failed"
    return "saved"
