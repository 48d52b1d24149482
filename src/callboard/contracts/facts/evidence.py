"""Facts of evidence: what was exported for others to verify."""

from __future__ import annotations

from typing import ClassVar

from ..content import BlobRef
from ..scope import ScopeKey
from .base import Fact


class EvidenceExported(Fact, frozen=True, kw_only=True):
    """A pack of the session's facts 1 to `through` was made; with `task` it says which `facts` of them are that task's. `pack`
    names its bytes, `link` the chain's link at `through`, in hex; both can be checked without this product. `reason` is the
    person's."""

    type: ClassVar[str] = "evidence.exported"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("evidence",)
    through: int
    facts: int
    link: str
    pack: BlobRef
    task: str = ""
    reason: str = ""


EvidenceFact = EvidenceExported
