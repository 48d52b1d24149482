"""Exports of artifacts, made in the background."""

from __future__ import annotations

from callboard.contracts.commands.artifact import ExportStarted, RetryArtifact
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.artifact import (
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


def build_unknown_export(export: str | None) -> Refusal:
    """Return the refusal of a retry of an export that did not fail."""
    return Refusal(
        "unknown_export",
        f"The session has no failed export {export or ''}.",
        field="exportId",
        hint="Find failed exports with list_exports.",
    )


def begin_export(batch: Batch, request: ExportRequested) -> ExportStarted:
    """Begin an export; the runtime makes it once this fact is durable. A failed export is repeated
    under its id.

    Raises:
        Refusal: `unknown_artifact`, `artifact_deleted`, `unknown_export`.
    """
    require_artifact(batch, request.artifact_id)
    command = request.request
    export = command.export_id if isinstance(command, RetryArtifact) else batch.inputs.ids.new("export")
    former = batch.state.artifacts.exports.get(export or "")
    if export is None or (isinstance(command, RetryArtifact) and (former is None or not former.failed)):
        raise build_unknown_export(export)
    batch.add(
        ArtifactExportStarted(
            export=export,
            version=request.version,
            form=request.form,
            source=request.source,
            artifacts=request.artifacts,
            everything=request.everything,
            reason=command.reason,
        ),
        Scope(artifact=request.artifact_id),
    )
    return ExportStarted(
        session_id=batch.state.session,
        artifact_id=request.artifact_id,
        export_id=export,
        sequence=batch.state.sequence,
    )


def record_export_report(batch: Batch, report: ExportReported) -> None:
    """Record the progress or the end of an open export."""
    export = batch.state.artifacts.exports.get(report.export)
    if export is None or export.failed:
        return
    scope = Scope(artifact=export.artifact)
    if report.code:
        batch.add(
            ArtifactFailed(operation="export", code=report.code, message=report.message, export=report.export), scope
        )
    elif report.content is not None:
        batch.add_blobs(report.content)
        batch.add(
            ArtifactExportCompleted(
                export=report.export, content=report.content.ref, name=report.name, left_out=report.left_out
            ),
            scope,
        )
    else:
        batch.add(ArtifactExportProgressed(export=report.export, done=report.done, total=report.total), scope)


def fail_interrupted_exports(batch: Batch, message: str) -> None:
    """Fail the exports of ended processes, which left no content."""
    for key, export in list(batch.state.artifacts.exports.items()):
        if not export.failed and export.epoch < batch.inputs.epoch:
            record_export_report(
                batch, ExportReported(export=key, code=INTERRUPTED, message=f"The export failed: {message}.")
            )
