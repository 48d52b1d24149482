"""Facts of actions: calls that wait for a decision."""

from __future__ import annotations

from typing import assert_never

import msgspec

from callboard.contracts.facts.action import ActionExpired, ActionFact, ActionRequired, ActionResolved, ActionWithdrawn

from ..state.session import Session
from ..state.turn import OpenRun
from .fact_context import FactContext, change_run, past
from .tool import change_call


def apply(state: Session, fact: ActionFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case ActionRequired():
            return required(state, fact, place)
        case ActionResolved() | ActionExpired() | ActionWithdrawn():
            return settled(state, fact, place)
        case _:
            assert_never(fact)


def required(state: Session, fact: ActionRequired, place: FactContext) -> Session:
    changed = change_call(
        state,
        place,
        lambda call: msgspec.structs.replace(
            call,
            # What is asked in the middle of a call lets it run; one that asks whether it may go on waits.
            phase="running" if call.phase == "running" and "answer" in fact.decisions else "waiting",
            action=place.scope.action,
            action_step=place.scope.step,
            expires_at=fact.expires_at,
            decisions=fact.decisions,
            scopes=fact.scopes,
            matchers=fact.matchers,
            binding=fact.binding,
        ),
    )
    return change_run(changed, place, lambda run: msgspec.structs.replace(run, next_step=past(run, place.scope.step)))


def settled(state: Session, fact: ActionResolved | ActionExpired | ActionWithdrawn, place: FactContext) -> Session:
    plan_accepted = isinstance(fact, ActionResolved) and fact.permission_mode is not None

    def answer(run: OpenRun) -> OpenRun:
        return msgspec.structs.replace(
            run,
            plan_accepted=run.plan_accepted or plan_accepted,
            calls=tuple(
                msgspec.structs.replace(
                    call,
                    phase="running" if call.phase == "running" else "requested",
                    action="",
                    action_step=0,
                    expires_at=0,
                )
                if call.action == place.scope.action
                else call
                for call in run.calls
            ),
        )

    return change_run(state, place, answer)
