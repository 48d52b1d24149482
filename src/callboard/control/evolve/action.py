"""Facts of actions: calls that wait for a decision."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.facts.action import ActionExpired, ActionFact, ActionRequired, ActionResolved, ActionWithdrawn

from ..state.session import Session
from ..state.turn import OpenRun
from .fact_context import FactContext, change_run, record_step
from .tool import change_call


def apply(state: Session, fact: ActionFact, context: FactContext) -> Session:
    match fact:
        case ActionRequired():
            return _open_action(state, fact, context)
        case ActionResolved() | ActionExpired() | ActionWithdrawn():
            return _close_action(state, fact, context)
        case _:
            assert_never(fact)


def _open_action(state: Session, fact: ActionRequired, context: FactContext) -> Session:
    changed = change_call(
        state,
        context,
        lambda call: replace(
            call,
            # A question of a running call does not stop the call. An approval does.
            phase="running" if call.phase == "running" and "answer" in fact.decisions else "waiting",
            action=context.scope.action,
            action_step=context.scope.step,
            expires_at=fact.expires_at,
            decisions=fact.decisions,
            scopes=fact.scopes,
            matchers=fact.matchers,
            binding=fact.binding,
        ),
    )
    return record_step(changed, context)


def _close_action(
    state: Session, fact: ActionResolved | ActionExpired | ActionWithdrawn, context: FactContext
) -> Session:
    plan_accepted = isinstance(fact, ActionResolved) and fact.permission_mode is not None

    def close(run: OpenRun) -> OpenRun:
        calls = tuple(
            replace(
                call,
                phase="running" if call.phase == "running" else "requested",
                action="",
                action_step=0,
                expires_at=0,
            )
            if call.action == context.scope.action
            else call
            for call in run.calls
        )
        return replace(run, plan_accepted=run.plan_accepted or plan_accepted, calls=calls)

    return change_run(state, context, close)
