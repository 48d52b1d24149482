"""Commands that export evidence."""

from __future__ import annotations

import msgspec

from ..content import BlobRef
from .base import Answer, Command, Id, Reason, command


class EvidencePacked(Answer, frozen=True, kw_only=True):
    """The exported pack, a blob.

    It proves the session's facts 1 to `through`. `facts` is the number of requested facts: all, or
    the task's. `link` is the chain's link at `through` in hex. `sequence` is the fact of the
    export.
    """

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

    With `task_id` the pack also lists the facts of that task, its subtasks and their agents. The chain is complete in both
    cases.
    """

    session_id: Id
    task_id: Id | None = None
    reason: Reason = ""


class ExportList(Answer, frozen=True, kw_only=True):
    """Evidence exports in progress, oldest first."""

    exports: tuple[EvidenceExport, ...]


@command("list_exports", ExportList, authority="anyone", query=True)
class ListExports(Command, frozen=True, kw_only=True):
    """List the evidence exports in progress, with their progress."""

    session_id: Id


class EvidenceExport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An export in progress: `done` of `through` facts are in the pack.

    `done` is 0 while it waits for other exports, or selects the facts of the task. `started_at` is
    in microseconds since the epoch.
    """

    task_id: str | None
    done: int
    through: int
    started_at: int
