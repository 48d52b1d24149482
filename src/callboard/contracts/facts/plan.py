"""Facts of plans."""

from __future__ import annotations

from typing import ClassVar

from ..entities.plan import PlanStep
from ..scope import ScopeKey
from .base import ErasedForm, Fact


class PlanUpdated(Fact, frozen=True, kw_only=True):
    """The agent's complete plan.

    The last one of a run is `final`. A rejected plan that is proposed again is the next `revision`,
    at a new step.
    """

    type: ClassVar[str] = "plan.updated"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("agent", "thread", "turn", "run", "step")
    erased: ClassVar[ErasedForm] = {"steps": ()}
    steps: tuple[PlanStep, ...]
    final: bool = False
    revision: int = 1


PlanFact = PlanUpdated
