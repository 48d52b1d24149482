"""What is asked of artifacts and what came of it, each to whoever decides it."""

from __future__ import annotations

from callboard.contracts.commands.artifacts import ArtifactChanged, ExportBegun

from ...batch import Batch
from ...state.artifact import (
    ArtifactChangeReported,
    ArtifactRequested,
    ExportReported,
    ExportRequested,
    InterruptedSaveReported,
)
from .exports import begin_export, record_export_report
from .save import change_artifact, finish_change, settle_interrupted_save

#: Commands of artifacts as they are decided: with what the runtime saw of the files.
ArtifactDecided = ArtifactRequested | ArtifactChangeReported | ExportRequested


def decide_artifact(batch: Batch, request: ArtifactDecided) -> ArtifactChanged | ExportBegun:
    """The facts and the answer of a command. Raises what the decision raises."""
    match request:
        case ArtifactRequested():
            return change_artifact(batch, request)
        case ArtifactChangeReported():
            return finish_change(batch, request)
        case ExportRequested():
            return begin_export(batch, request)


def record_artifact(batch: Batch, report: InterruptedSaveReported | ExportReported) -> None:
    """The facts of an outcome."""
    if isinstance(report, InterruptedSaveReported):
        settle_interrupted_save(batch, report)
    else:
        record_export_report(batch, report)
