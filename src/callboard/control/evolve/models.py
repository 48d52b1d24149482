"""Model calls and the parts of their answers."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import MessageText, ModelRequested, RoutingResolved

from ..state import OpenRun, Session
from . import progress
from .place import Place, change_run, past


def routed(state: Session, fact: RoutingResolved, place: Place) -> Session:
    return change_run(
        state,
        place,
        lambda run: msgspec.structs.replace(run, provider=fact.chosen.provider, model=fact.chosen.model),
    )


def requested(state: Session, fact: ModelRequested, place: Place) -> Session:
    step = place.scope.step
    return change_run(
        state,
        place,
        lambda run: msgspec.structs.replace(
            run,
            model_step=step,
            asked=step,
            came=(),
            streak=progress.streak(run) if run.asked else run.streak,
            iteration=fact.iteration,
            next_step=past(run, step),
        ),
    )


def ended(state: Session, place: Place) -> Session:
    return change_run(state, place, lambda run: msgspec.structs.replace(run, model_step=0))


def text(state: Session, fact: MessageText, place: Place) -> Session:
    step = place.scope.step

    def say(run: OpenRun) -> OpenRun:
        changed = msgspec.structs.replace(run, answer_parts=(*run.answer_parts, step), next_step=past(run, step))
        return progress.said(changed, fact.content)

    return change_run(state, place, say)


def step_taken(state: Session, place: Place) -> Session:
    return change_run(state, place, lambda run: msgspec.structs.replace(run, next_step=past(run, place.scope.step)))
