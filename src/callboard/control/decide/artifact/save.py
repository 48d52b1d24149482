"""Changes of artifacts by a person: create, edit, roll back, retry, delete.

A save names the version that it was made from. If that is not the newest, or the file differs from
the newest, the save is a conflict: the file becomes a version and the person's draft is stored, so
neither is lost. The runtime changes the file after the fact of the intent, and reports the result.
"""

from __future__ import annotations

from callboard.contracts.commands.artifact import (
    ArtifactChanged,
    CreateArtifact,
    DeleteArtifact,
    EditArtifact,
    RetryArtifact,
    RollbackArtifact,
)
from callboard.contracts.entities.artifact import ArtifactOperation, ArtifactStatus
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.artifact import ArtifactDeleted, ArtifactFailed, ArtifactSaveRequested, ArtifactUpdated
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

#: Code of a save whose process ended before it changed the file.
INTERRUPTED = "save_interrupted"


def change_artifact(batch: Batch, requested: ArtifactRequested) -> ArtifactChanged:
    """Decide a person's request. The status is `saving` if the file is about to change, `conflict`
    if it must not.

    Raises:
        Refusal: `unknown_artifact`, `artifact_deleted`, `invalid_input`; `artifact_conflict` for an
            existing file or an artifact with a save in progress.
    """
    request = requested.request
    if isinstance(request, CreateArtifact):
        return _create(batch, requested, request)
    artifact = requested.artifact_id
    require_artifact(batch, artifact)
    if artifact in batch.state.artifacts.saves:
        raise Refusal(CONFLICT, "Another change of this artifact is in progress.", hint="Try again in a moment.")
    match request:
        case EditArtifact():
            return _edit(batch, requested, request)
        case RollbackArtifact():
            return _save(batch, requested, request.base_version, request.version, request.reason)
        case RetryArtifact():
            draft = _require_draft(batch, artifact)
            base = request.base_version if request.base_version is not None else draft.base
            return _save(
                batch,
                requested,
                base,
                draft.restores,
                request.reason,
                accepts_conflicts=request.base_version is not None,
            )
        case DeleteArtifact():
            return _delete(batch, requested, request)


def finish_change(batch: Batch, report: ArtifactChangeReported) -> ArtifactChanged:
    """Record the result of a file change, unless it is recorded."""
    if report.artifact_id in batch.state.artifacts.saves:
        if report.code:
            _record_failure(batch, report.artifact_id, report.code, report.message, report.file)
        else:
            finish_save(batch, report.artifact_id, added=report.added, removed=report.removed)
    return _build_answer(batch, report.artifact_id)


def settle_interrupted_save(batch: Batch, report: InterruptedSaveReported) -> None:
    """Derive the result of a save whose process ended from the present file."""
    save = batch.state.artifacts.saves.get(report.artifact)
    if save is None or save.epoch >= batch.inputs.epoch:
        return
    if report.file is None:
        _record_failure(batch, report.artifact, INTERRUPTED, report.message, None)
    elif _is_saved(save, report.file):
        finish_save(batch, report.artifact)
    else:
        message = "The process ended before it changed the file."
        _record_failure(batch, report.artifact, INTERRUPTED, message, report.file)


def require_artifact(batch: Batch, artifact: str) -> OpenArtifact:
    """Return the open artifact.

    Raises:
        Refusal: `unknown_artifact`, `artifact_deleted`.
    """
    artifact_state = batch.state.artifacts.open.get(artifact)
    if artifact_state is not None:
        return artifact_state
    if artifact in batch.inputs.closed_ids:
        raise Refusal(
            "artifact_deleted",
            f"The artifact {artifact} was deleted.",
            field="artifactId",
            hint="Find artifacts with list_artifacts, or create a new one.",
        )
    raise build_unknown_artifact(artifact)


def build_unknown_artifact(artifact: str) -> Refusal:
    """Return the refusal of an artifact that the session does not have."""
    return Refusal(
        "unknown_artifact",
        f"The session has no artifact {artifact}.",
        field="artifactId",
        hint="Find artifacts with list_artifacts.",
    )


def _create(batch: Batch, requested: ArtifactRequested, request: CreateArtifact) -> ArtifactChanged:
    path, draft = request.path or "", requested.draft
    existing = requested.file.content if requested.file is not None else None
    if path and (owner := batch.state.artifacts.find_at(path)):
        _end_missing_artifact(batch, requested, path, owner)
    content = draft or existing
    if content is None:
        problem = f"There is no file {path}." if path else "An artifact without a path needs content."
        raise Refusal("invalid_input", problem, field="content", hint="Set content.")
    if draft is not None and existing is not None:
        raise Refusal(
            CONFLICT,
            f"The file {path} already exists.",
            field="path",
            hint="Leave content out to add the file as it is, then edit it.",
        )
    if not path and not request.title:
        raise Refusal(
            "invalid_input", "An artifact without a path needs a title.", field="title", hint="Set title or path."
        )
    artifact = create_artifact(batch, Scope(), path, request.title or "", content.ref)
    scope = Scope(artifact=artifact)
    batch.add_blobs(content)
    if draft is None:
        add_found_version(batch, artifact, content.ref)
    elif path:
        batch.add(ArtifactSaveRequested(base=0, draft=content.ref, reason=request.reason), scope)
    else:
        add_version(batch, scope, content.ref, "person", added=requested.added)
    return _build_answer(batch, artifact)


def _end_missing_artifact(batch: Batch, requested: ArtifactRequested, path: str, owner: str) -> None:
    """End the artifact at the path if its file is gone and a person recreates it. An artifact with
    an unsaved draft continues.

    Raises:
        Refusal: `artifact_conflict` if the file exists, or may exist since it was read.
    """
    artifacts, current = batch.state.artifacts, open_artifact(batch, owner)
    problem, hint = "", "Edit that artifact."
    if owner in artifacts.saves:
        problem, hint = ", and another change of it is in progress", "Try again in a moment."
    elif _file_exists(requested.file) or current.last_sequence > requested.file_sequence:
        pass
    elif owner in artifacts.drafts:
        problem = ", and it has an unsaved draft"
        hint = f"Save the draft with retry_artifact over version {current.version}, or delete the artifact."
    elif requested.draft is None:
        problem, hint = ", and its file is gone", "Set content to recreate the file."
    else:
        batch.add(ArtifactDeleted(file=True, reason=GONE), Scope(artifact=owner))
        return
    raise Refusal(CONFLICT, f"{path} is already the artifact {owner}{problem}.", field="path", hint=hint)


def _edit(batch: Batch, requested: ArtifactRequested, request: EditArtifact) -> ArtifactChanged:
    artifact = requested.artifact_id
    if request.content is None and request.title is None:
        raise Refusal("invalid_input", "The edit changes nothing.", field="content", hint="Set content, title or both.")
    if request.title is not None and request.title != open_artifact(batch, artifact).title:
        batch.add(ArtifactUpdated(title=request.title), Scope(artifact=artifact))
    if request.content is None:
        return _build_answer(batch, artifact)
    return _save(batch, requested, request.base_version, 0, request.reason)


def _save(
    batch: Batch,
    requested: ArtifactRequested,
    base: int,
    restores: int,
    reason: str,
    *,
    accepts_conflicts: bool = False,
) -> ArtifactChanged:
    """Save the draft over version `base`. With `accepts_conflicts` a missing file is
    recreated."""
    artifact, draft = requested.artifact_id, requested.draft
    if draft is None:
        raise Refusal("invalid_input", "The request has no content to save.", field="content", hint="Set content.")
    scope = Scope(artifact=artifact)
    batch.add_blobs(draft)
    operation: ArtifactOperation = "rollback" if restores else "save"
    is_gone = _record_drift(batch, artifact, requested.file) and not accepts_conflicts
    current = open_artifact(batch, artifact)
    if base != current.version or (is_gone and current.version):
        problem = (
            "The file is gone."
            if is_gone
            else f"The newest version is {current.version}, but the change was made from {base}."
        )
        batch.add(
            ArtifactFailed(
                operation=operation,
                code=CONFLICT,
                message=problem,
                base=base,
                current=current.version,
                restores=restores,
                draft=draft.ref,
            ),
            scope,
        )
    elif current.has_content(draft.ref) and _file_exists(requested.file):
        if artifact in batch.state.artifacts.drafts:
            batch.add(ArtifactUpdated(title=current.title, dropped=True), scope)
    elif requested.file is None:
        origin = "rollback" if restores else "person"
        add_version(
            batch, scope, draft.ref, origin, restores=restores, added=requested.added, removed=requested.removed
        )
    else:
        batch.add(ArtifactSaveRequested(base=current.version, draft=draft.ref, restores=restores, reason=reason), scope)
    return _build_answer(batch, artifact)


def _delete(batch: Batch, requested: ArtifactRequested, request: DeleteArtifact) -> ArtifactChanged:
    artifact = requested.artifact_id
    before = open_artifact(batch, artifact)
    if request.confirm != artifact:
        raise Refusal(
            "invalid_input",
            "Deleting an artifact requires its id twice.",
            field="confirm",
            hint=f"Set confirm to {artifact}.",
        )
    if request.file and not before.path:
        raise Refusal("invalid_input", "This artifact has no file.", field="file", hint="Leave `file` out.")
    scope = Scope(artifact=artifact)
    if not request.file:
        batch.add(ArtifactDeleted(reason=request.reason), scope)
        return _build_answer(batch, artifact)
    is_gone = _record_drift(batch, artifact, requested.file)
    current = open_artifact(batch, artifact)
    if current.version != before.version:
        message = "The file differs from the newest version, so it was not deleted."
        batch.add(
            ArtifactFailed(
                operation="delete", code=CONFLICT, message=message, base=before.version, current=current.version
            ),
            scope,
        )
    elif is_gone:
        batch.add(ArtifactDeleted(reason=request.reason), scope)
    else:
        batch.add(ArtifactSaveRequested(base=current.version, reason=request.reason), scope)
    return _build_answer(batch, artifact)


def _record_drift(batch: Batch, artifact: str, look: FileState | None) -> bool:
    """Record the present file as a version if it differs from the newest one. Return True if there
    is no file."""
    if look is None:
        return False
    if look.content is None:
        return True
    if not open_artifact(batch, artifact).has_content(look.content.ref):
        batch.add_blobs(look.content)
        add_found_version(batch, artifact, look.content.ref)
    return False


def _record_failure(batch: Batch, artifact: str, code: str, message: str, look: FileState | None) -> None:
    """Record a failed change. If the file changed in the meantime it is a conflict, and the file a
    version."""
    save = batch.state.artifacts.saves[artifact]
    before = open_artifact(batch, artifact).version
    _record_drift(batch, artifact, look)
    current = open_artifact(batch, artifact)
    conflict = current.version != before or code == "file_changed"
    batch.add(
        ArtifactFailed(
            operation="delete" if save.draft is None else "rollback" if save.restores else "save",
            code=CONFLICT if conflict else code,
            message="The file changed during the operation." if conflict else message,
            base=save.base,
            current=current.version,
            restores=save.restores,
            draft=save.draft,
        ),
        Scope(artifact=artifact),
    )


def _is_saved(save: OpenSave, look: FileState) -> bool:
    content = look.content
    return content is None if save.draft is None else content is not None and content.ref.hash == save.draft.hash


def _file_exists(look: FileState | None) -> bool:
    return look is None or look.content is not None


def _require_draft(batch: Batch, artifact: str) -> UnsavedDraft:
    draft = batch.state.artifacts.drafts.get(artifact)
    if draft is None:
        raise Refusal(
            "invalid_input",
            "This artifact has no unsaved draft.",
            field="artifactId",
            hint="Read its newest version with get_artifact, then edit it.",
        )
    return draft


def _build_answer(batch: Batch, artifact: str) -> ArtifactChanged:
    current = batch.state.artifacts.open.get(artifact)
    return ArtifactChanged(
        session_id=batch.state.session,
        artifact_id=artifact,
        version=current.version if current is not None else 0,
        status=_derive_status(batch, artifact),
        sequence=batch.state.sequence,
    )


def _derive_status(batch: Batch, artifact: str) -> ArtifactStatus:
    artifacts = batch.state.artifacts
    if artifact not in artifacts.open:
        return "deleted"
    if artifact in artifacts.saves:
        return "saving"
    fact = batch.last_fact
    if isinstance(fact, ArtifactFailed):
        return "conflict" if fact.code == CONFLICT else "failed"
    return "saved"
