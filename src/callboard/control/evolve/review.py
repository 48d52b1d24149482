"""Facts of reviews."""

from __future__ import annotations

from typing import assert_never

import msgspec

from callboard.contracts.facts.task import ReviewApplied, ReviewFact, ReviewRequested, ReviewVerdict

from ..state.session import Session
from ..state.team import OpenReview
from .fact_context import FactContext
from .handoff import review_asked


def apply(state: Session, fact: ReviewFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case ReviewRequested():
            return review_asked(requested(state, fact, place), fact, place)
        case ReviewVerdict():
            return judged(state, fact, place)
        case ReviewApplied():
            return applied(state, place)
        case _:
            assert_never(fact)


def requested(state: Session, fact: ReviewRequested, place: FactContext) -> Session:
    review = OpenReview(
        review=place.scope.review,
        task=place.scope.task,
        reviewer=fact.reviewer,
        target=fact.target,
        asker=place.scope.thread if fact.item else "",
    )
    return msgspec.structs.replace(state, reviews={**state.reviews, review.review: review})


def judged(state: Session, fact: ReviewVerdict, place: FactContext) -> Session:
    review = state.reviews.get(place.scope.review)
    if review is None:
        return state
    if fact.verdict == "changes_requested":
        changed = msgspec.structs.replace(review, judged=True, fixes=fact.fixes, summary=fact.summary)
        return msgspec.structs.replace(state, reviews={**state.reviews, review.review: changed})
    return _without_review(state, review.review)


def applied(state: Session, place: FactContext) -> Session:
    return _without_review(state, place.scope.review)


def _without_review(state: Session, review: str) -> Session:
    return msgspec.structs.replace(state, reviews={key: one for key, one in state.reviews.items() if key != review})
