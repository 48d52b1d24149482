"""Plans: what a run said last that it is going to do."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import PlanUpdated

from ..state.session import OpenPlan, Session
from .fact_context import FactContext, change_run, past


def updated(state: Session, fact: PlanUpdated, place: FactContext) -> Session:
    plan = OpenPlan(step=place.scope.step, steps=fact.steps, revision=fact.revision)
    return change_run(
        state,
        place,
        lambda run: msgspec.structs.replace(run, plan=plan, next_step=past(run, plan.step)),
    )
