"""Facts of plans: what an agent says that it is going to do, while it is at it."""

from __future__ import annotations

from typing import ClassVar

from ..entities.plan import PlanStep
from ..scope import ScopeKey
from .base import ErasedForm, Fact


class PlanUpdated(Fact, frozen=True, kw_only=True):
    """The agent's plan, whole, as it is now. The last one of a run is `final`. One that was sent back and is proposed anew is
    the next `revision`, at a step of its own; the former stays where it is."""

    type: ClassVar[str] = "plan.updated"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("agent", "thread", "turn", "run", "step")
    erased: ClassVar[ErasedForm] = {"steps": ()}
    steps: tuple[PlanStep, ...]
    final: bool = False
    revision: int = 1


PlanFact = PlanUpdated
