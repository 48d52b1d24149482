"""Facts of reviews."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.facts.exchange.review import ReviewApplied, ReviewFact, ReviewRequested, ReviewVerdict

from ...state.review import OpenReview
from ...state.session import Session
from ..fact_context import FactContext, drop_entry
from .inbox import notify_reviewer


def apply(state: Session, fact: ReviewFact, context: FactContext) -> Session:
    review_id = context.scope.review
    match fact:
        case ReviewRequested():
            return notify_reviewer(_request_review(state, fact, context), fact, context)
        case ReviewVerdict():
            review = state.reviews.get(review_id)
            if review is None or fact.verdict != "changes_requested":
                return replace(state, reviews=drop_entry(state.reviews, review_id))
            judged = replace(review, judged=True, fixes=fact.fixes, summary=fact.summary)
            return replace(state, reviews={**state.reviews, review_id: judged})
        case ReviewApplied():
            return replace(state, reviews=drop_entry(state.reviews, review_id))
        case _:
            assert_never(fact)


def _request_review(state: Session, fact: ReviewRequested, context: FactContext) -> Session:
    review = OpenReview(
        review=context.scope.review,
        task=context.scope.task,
        reviewer=fact.reviewer,
        target=fact.target,
        asker=context.scope.thread if fact.item else "",
    )
    return replace(state, reviews={**state.reviews, review.review: review})
