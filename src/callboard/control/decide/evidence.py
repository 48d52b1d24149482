"""Exports of evidence."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.evidence import EvidencePacked, ExportEvidence
from callboard.contracts.content import Blob
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.scope import Scope

from ..batch import Batch


class EvidencePackReported(msgspec.Struct, frozen=True, kw_only=True):
    """A pack that the runtime made from the facts 1 to `through`, of which `facts` were requested.
    `link` is the chain's hash at `through`, in hex. `scope` is the task's, if the request
    names one."""

    request: ExportEvidence
    pack: Blob
    through: int
    facts: int
    link: str
    scope: Scope = Scope()


def record_export(batch: Batch, report: EvidencePackReported) -> EvidencePacked:
    """Record the export in the scope of the task, like every fact of a child."""
    evidence, of = batch.inputs.ids.new("evidence"), report.scope
    scope = Scope(
        evidence=evidence,
        task=of.task,
        agent=of.agent,
        thread=of.thread,
        parent_thread=of.parent_thread,
        parent_run=of.parent_run,
    )
    fact = EvidenceExported(
        through=report.through,
        facts=report.facts,
        link=report.link,
        pack=report.pack.ref,
        task=report.request.task_id or "",
        reason=report.request.reason,
    )
    batch.add_blobs(report.pack)
    batch.add(fact, scope)
    return EvidencePacked(
        session_id=batch.state.session,
        evidence_id=evidence,
        pack=fact.pack,
        through=fact.through,
        facts=fact.facts,
        link=fact.link,
        sequence=batch.state.sequence,
    )
