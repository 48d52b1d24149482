"""Notices and errors within a run, or after the newest run of their thread."""

from __future__ import annotations

from callboard.contracts.facts.base import UnknownFact
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.facts.session import ErrorRaised, ThreadPaused, WarningRaised
from callboard.contracts.facts.subagent import SubagentMerged
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.part import ErrorPart, NoticePart

from ..reducer import on, upsert
from .run import Runs

#: Maximum number of conflicting files in a notice.
_MAX_NAMED = 5


@on
def raise_error(runs: Runs, record: Record, fact: ErrorRaised) -> list[Op]:
    fields = runs.build_notice_fields(record, record.scope.thread)
    return upsert(ErrorPart(**fields, code=fact.code, message=fact.message, hint=fact.hint))


@on
def warn(runs: Runs, record: Record, fact: WarningRaised) -> list[Op]:
    fields = runs.build_notice_fields(record, record.scope.thread)
    return upsert(NoticePart(**fields, code=fact.code, message=fact.message, hint=fact.hint))


@on
def pause(runs: Runs, record: Record, fact: ThreadPaused) -> list[Op]:
    fields = runs.build_notice_fields(record, record.scope.thread)
    return upsert(NoticePart(**fields, code=f"paused_{fact.cause}", message=fact.reason))


@on
def merge(runs: Runs, record: Record, fact: SubagentMerged) -> list[Op]:
    """Add the result of a merge to the parent's conversation."""
    fields = runs.build_notice_fields(record, record.scope.parent_thread)
    agent = record.scope.agent
    return upsert(NoticePart(**fields, code=f"merge_{fact.status}", message=_format_merge(fact), agent_id=agent))


@on
def export_evidence(runs: Runs, record: Record, fact: EvidenceExported) -> list[Op]:
    """Add the export. Evidence of the whole session has no thread: it follows the newest run of the first agent."""
    fields = runs.build_notice_fields(record, record.scope.thread or next(iter(runs.newest), ""))
    message = f"Evidence of the facts 1 to {fact.through} was exported."
    return upsert(NoticePart(**fields, code="evidence_exported", message=message))


@on
def report_unknown(runs: Runs, record: Record, fact: UnknownFact) -> list[Op]:
    fields = runs.build_notice_fields(record, record.scope.thread)
    return upsert(NoticePart(**fields, code="unknown_fact", message=record.header.type))


def _format_merge(fact: SubagentMerged) -> str:
    """Return the text of a merge's result."""
    match fact.status:
        case "merged":
            return f"{fact.files[0] if len(fact.files) == 1 else f'{len(fact.files)} files'} merged."
        case "nothing_to_merge":
            return "There was nothing to merge."
        case "conflict":
            return f"Nothing was merged, because of conflicts in {', '.join(fact.conflict[:_MAX_NAMED])}."
        case _:
            return fact.message or "The result of the merge is unknown."
