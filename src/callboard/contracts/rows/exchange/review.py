"""Rows of reviews."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...content import Text
from ...entities.team import (
    Ref,
)
from ...facts.exchange.review import ReviewFix
from ..base import Row

ReviewState = Literal["requested", "reviewing", "passed", "changes_requested", "failed", "applied", "unknown"]


class ReviewRow(Row, tag="review", frozen=True, kw_only=True):
    """An entry of the review lane; the key is the review's id."""

    panel: ClassVar[str] = "reviews"
    reviewer: str
    target: str
    task_id: str
    state: ReviewState
    instructions: Text = Text()
    summary: str = ""
    refs: tuple[Ref, ...] = ()
    fixes: tuple[ReviewFix, ...] = ()
    assigned_to: str = ""
    requested: int = 0
    judged: int = 0
