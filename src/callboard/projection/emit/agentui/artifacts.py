"""What facts of artifacts are told as: the ten artifact classes of the Agent UI specification, all from one service."""

from __future__ import annotations

from typing import Any

from callboard.contracts.facts import ArtifactFailed, ArtifactVersionCreated, Fact
from callboard.contracts.vocabulary import Control, EventClass, Phase

from .emission import Emission


def artifact(kind: EventClass, phase: Phase, control: Control | None = None, **adds: Any) -> tuple[Emission, ...]:
    """A step in the life of an artifact; its body is in the store of artifacts, never in the conversation."""
    return (Emission(kind, "artifact", "artifact", phase, "artifact_workspace", "artifact_store", control, adds),)


def version(fact: Fact) -> tuple[Emission, ...]:
    """A version comes with its preview, and with its diff where it was made from another one."""
    told = [
        *artifact("artifact.version.created", "producing", _control(fact)),
        *artifact("artifact.updated", "completed", status="saved"),
        *artifact("artifact.preview.ready", "completed"),
    ]
    if isinstance(fact, ArtifactVersionCreated) and fact.base and (fact.added or fact.removed):
        told += artifact("artifact.diff.ready", "completed", fromVersion=fact.base, toVersion=fact.version)
    return tuple(told)


def failed(fact: Fact) -> tuple[Emission, ...]:
    """A conflict is a failure that names both sides."""
    conflict = isinstance(fact, ArtifactFailed) and fact.code == "artifact_conflict"
    return artifact("artifact.failed", "failed", "retry", status="conflict" if conflict else "failed")


def _control(fact: Fact) -> Control | None:
    if not isinstance(fact, ArtifactVersionCreated):
        return None
    match fact.version_origin:
        case "person":
            return "edit"
        case "rollback":
            return "rollback"
        case _:
            return None
