"""The command that exports evidence."""

from __future__ import annotations

from ..content import BlobRef
from .base import Answer, Command
from .turns import Id, Reason


class ExportEvidence(Command, frozen=True, kw_only=True):
    """Make a pack of a session's facts that others can verify without this product. With `task_id` it also names the facts that
    are of that task, its parts and their agents; the chain is whole in any case."""

    session_id: Id
    task_id: Id | None = None
    reason: Reason = ""


class EvidencePacked(Answer, frozen=True, kw_only=True):
    """The pack is the blob `pack`; `link` is the chain's link at `through`, in hex."""

    session_id: str
    evidence_id: str
    pack: BlobRef
    through: int
    facts: int
    link: str
    sequence: int
