"""Exports of artifacts, made in the background."""

from __future__ import annotations

from callboard.contracts.commands.artifacts import ExportBegun, RetryArtifact
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    ArtifactExportCompleted,
    ArtifactExportProgressed,
    ArtifactExportStarted,
    ArtifactFailed,
)
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.artifact import ExportReported, ExportRequested
from .save import require_artifact

#: Code of an export whose process ended.
INTERRUPTED = "export_interrupted"


def begin_export(batch: Batch, what: ExportRequested) -> ExportBegun:
    """Begin an export; the runtime makes it once this fact is durable. A failed export is repeated
    under its id.

    Raises:
        Refusal: `unknown_artifact`, `artifact_deleted`, `unknown_export`.
    """
    require_artifact(batch, what.artifact_id)
    request = what.request
    export = request.export_id if isinstance(request, RetryArtifact) else batch.inputs.ids.new("export")
    former = batch.state.artifacts.exports.get(export or "")
    if export is None or (isinstance(request, RetryArtifact) and (former is None or not former.failed)):
        raise Refusal("unknown_export", f"There is no failed export {export or ''} in this session.", field="exportId")
    batch.add(
        ArtifactExportStarted(
            export=export,
            version=what.version,
            form=what.form,
            source=what.source,
            artifacts=what.artifacts,
            everything=what.everything,
            reason=request.reason,
        ),
        Scope(artifact=what.artifact_id),
    )
    return ExportBegun(
        session_id=batch.state.session,
        artifact_id=what.artifact_id,
        export_id=export,
        sequence=batch.state.sequence,
    )


def record_export_report(batch: Batch, what: ExportReported) -> None:
    """Record the progress or the end of an open export."""
    export = batch.state.artifacts.exports.get(what.export)
    if export is None or export.failed:
        return
    scope = Scope(artifact=export.artifact)
    if what.code:
        batch.add(ArtifactFailed(operation="export", code=what.code, message=what.message, export=what.export), scope)
    elif what.content is not None:
        batch.add_blobs(what.content)
        batch.add(
            ArtifactExportCompleted(
                export=what.export, content=what.content.ref, name=what.name, left_out=what.left_out
            ),
            scope,
        )
    else:
        batch.add(ArtifactExportProgressed(export=what.export, done=what.done, total=what.total), scope)


def fail_interrupted_exports(batch: Batch, message: str) -> None:
    """Fail the exports of ended processes, which left no content."""
    for key, export in list(batch.state.artifacts.exports.items()):
        if not export.failed and export.epoch < batch.inputs.epoch:
            record_export_report(
                batch, ExportReported(export=key, code=INTERRUPTED, message=f"The export failed: {message}.")
            )
