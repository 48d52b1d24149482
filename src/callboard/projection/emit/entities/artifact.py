"""Translations of facts about artifacts and evidence."""

from __future__ import annotations

from typing import Any

from callboard.contracts.facts.artifact import (
    ArtifactCreated,
    ArtifactDeleted,
    ArtifactExportCompleted,
    ArtifactExportProgressed,
    ArtifactExportStarted,
    ArtifactFailed,
    ArtifactSaveRequested,
    ArtifactUpdated,
    ArtifactVersionCreated,
)
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.vocabulary import Control, EventClass, Phase

from ..agentui_emission import Emission, Emissions
from ..run_emission import Translation, update_state


def _emit_artifact(kind: EventClass, phase: Phase, control: Control | None = None, **adds: Any) -> Emissions:
    return (Emission(kind, "artifact", "artifact", phase, "artifact_workspace", "artifact_store", control, adds),)


def _emit_version(fact: Fact) -> Emissions:
    """Emit a version with its preview, and its diff if it changes an older version."""
    control: Control | None = None
    if isinstance(fact, ArtifactVersionCreated):
        controls: dict[str, Control] = {"person": "edit", "rollback": "rollback"}
        control = controls.get(fact.version_origin)
    emissions = (
        *_emit_artifact("artifact.version.created", "producing", control),
        *_emit_artifact("artifact.updated", "completed", status="saved"),
        *_emit_artifact("artifact.preview.ready", "completed"),
    )
    if isinstance(fact, ArtifactVersionCreated) and fact.base and (fact.added or fact.removed):
        diff = _emit_artifact("artifact.diff.ready", "completed", fromVersion=fact.base, toVersion=fact.version)
        return (*emissions, *diff)
    return emissions


def _emit_failed(fact: Fact) -> Emissions:
    conflict = isinstance(fact, ArtifactFailed) and fact.code == "artifact_conflict"
    return _emit_artifact("artifact.failed", "failed", "retry", status="conflict" if conflict else "failed")


TRANSLATIONS: dict[type[Fact], Translation] = {
    ArtifactCreated: Translation(_emit_artifact("artifact.created", "producing")),
    ArtifactSaveRequested: Translation(_emit_artifact("artifact.changed", "producing", "edit", status="saving")),
    ArtifactVersionCreated: Translation(_emit_version),
    ArtifactUpdated: Translation(_emit_artifact("artifact.updated", "completed")),
    ArtifactFailed: Translation(_emit_failed),
    ArtifactExportStarted: Translation(_emit_artifact("artifact.export.started", "producing", "export")),
    ArtifactExportProgressed: Translation(
        _emit_artifact("artifact.changed", "producing", "export", status="exporting")
    ),
    ArtifactExportCompleted: Translation(_emit_artifact("artifact.export.completed", "completed", "export")),
    ArtifactDeleted: Translation(_emit_artifact("artifact.deleted", "archived", status="deleted")),
    EvidenceExported: Translation(
        (
            Emission(
                "evidence.changed", "evidence", "evidence", "completed", "timeline_evidence", "evidence_pack", "export"
            ),
        ),
        update_state("evidence_exported"),
    ),
}
