"""What is asked of artifacts and what came of it, each to whoever decides it."""

from __future__ import annotations

from callboard.contracts.commands.artifacts import ArtifactChanged, ExportBegun

from ...batch import Batch
from ...state.artifact import ArtifactDone, ArtifactLooked, ArtifactRequested, ExportReported, ExportRequested
from .exports import begin, told
from .save import asked, done, looked

#: Commands of artifacts as they are decided: with what the runtime saw of the files.
ArtifactDecided = ArtifactRequested | ArtifactDone | ExportRequested


def answer(batch: Batch, request: ArtifactDecided) -> ArtifactChanged | ExportBegun:
    """The facts and the answer of a command. Raises what the decision raises."""
    match request:
        case ArtifactRequested():
            return asked(batch, request)
        case ArtifactDone():
            return done(batch, request)
        case ExportRequested():
            return begin(batch, request)


def take(batch: Batch, report: ArtifactLooked | ExportReported) -> None:
    """The facts of an outcome."""
    if isinstance(report, ArtifactLooked):
        looked(batch, report)
    else:
        told(batch, report)
