"""Versions of artifacts in the turn whose step made them: a compact card, whose body is in the workspace of artifacts."""

from __future__ import annotations

from callboard.contracts.entities.artifact import title_of
from callboard.contracts.facts import ArtifactVersionCreated
from callboard.contracts.record import Record
from callboard.contracts.rows import ArtifactPart, Op

from ..reducer import upsert
from .run import OpenRun, aside_key


def made(run: OpenRun, record: Record, fact: ArtifactVersionCreated) -> list[Op]:
    """A step of the run made a version: it stands behind the call that did."""
    return upsert(
        ArtifactPart(
            key=aside_key(run.place.run, record.sequence),
            order=run.place.order(record.scope.step or run.step),
            sequence=record.sequence,
            turn_id=run.place.turn,
            thread_id=run.place.thread,
            at=record.header.at,
            artifact_id=record.scope.artifact,
            title=title_of(fact.title, fact.path),
            version=fact.version,
            path=fact.path,
            added=fact.added,
            removed=fact.removed,
        )
    )
