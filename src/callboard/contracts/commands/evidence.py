"""Commands that export evidence."""

from __future__ import annotations

import msgspec

from ..content import BlobRef
from .base import Answer, Command, Id, Reason, command


class EvidencePacked(Answer, frozen=True, kw_only=True):
    """The pack is the blob `pack`; it shows the session's facts 1 to `through`, and `facts` counts those that were asked for:
    all, or the task's. `link` is the chain's link at `through`, in hex; `sequence` is the fact that tells of the export."""

    session_id: str
    evidence_id: str
    pack: BlobRef
    through: int
    facts: int
    link: str
    sequence: int


@command("export_evidence", EvidencePacked)
class ExportEvidence(Command, frozen=True, kw_only=True):
    """Export a pack of a session's facts that others can verify without this product.

    With `task_id` the pack also lists the facts of that task, its parts and their agents. The chain is complete in both
    cases.
    """

    session_id: Id
    task_id: Id | None = None
    reason: Reason = ""


class ExportList(Answer, frozen=True, kw_only=True):
    """The exports that were asked for and not yet answered, the oldest first."""

    exports: tuple[EvidenceExport, ...]


@command("list_exports", ExportList, authority="anyone", query=True)
class ListExports(Command, frozen=True, kw_only=True):
    """List the evidence exports in progress, with their progress."""

    session_id: Id


class EvidenceExport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`done` of the facts 1 to `through` are in the pack; before that it waits for other exports, or reads which facts are the
    task's. `started_at` is in microseconds since the epoch."""

    task_id: str | None
    done: int
    through: int
    started_at: int
