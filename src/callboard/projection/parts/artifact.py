"""Artifact parts: a card of each version in the run that created it."""

from __future__ import annotations

from callboard.contracts.entities.artifact import title_of
from callboard.contracts.facts.artifact import ArtifactVersionCreated
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.context import ArtifactPart

from ..reducer import on, upsert
from .run import OpenRun


@on
def add_version(run: OpenRun, record: Record, fact: ArtifactVersionCreated) -> list[Op]:
    """Add the version after the tool call that created it."""
    part = ArtifactPart(
        **run.place.aside_fields(record, record.scope.step or run.step),
        artifact_id=record.scope.artifact,
        title=title_of(fact.title, fact.path),
        version=fact.version,
        path=fact.path,
        added=fact.added,
        removed=fact.removed,
    )
    return upsert(part)
