"""Rows of plans."""

from __future__ import annotations

from ..entities.plan import PlanStep
from .part import Part, PartState


class PlanPart(Part, tag="plan", frozen=True, kw_only=True):
    """The present plan of a run, at the position of its first.

    A rejected plan that was proposed again is a new `revision`; `former` and `later` are the keys
    of its neighbours.
    """

    state: PartState
    steps: tuple[PlanStep, ...]
    revision: int = 1
    former: str = ""
    later: str = ""
