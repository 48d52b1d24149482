"""Facts of evidence: packs exported for others to verify."""

from __future__ import annotations

from typing import ClassVar

from ..content import BlobRef
from ..scope import ScopeKey
from .base import Fact


class EvidenceExported(Fact, frozen=True, kw_only=True):
    """A pack of the session's facts 1 to `through` was exported.

    `facts` is the number of those of `task`, or of all. `pack` refers to its bytes. `link` is the
    chain's link at `through` in hex. Both can be checked without this product.
    """

    type: ClassVar[str] = "evidence.exported"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("evidence",)
    through: int
    facts: int
    link: str
    pack: BlobRef
    task: str = ""
    reason: str = ""


EvidenceFact = EvidenceExported
