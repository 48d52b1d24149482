"""Facts of reviews: verdicts on the results of tasks."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ...content import Text
from ...entities.team import Ref, Verdict
from ...scope import ScopeKey
from ..base import ERASED, UNKNOWN, ErasedForm, Fact

_REVIEW: tuple[ScopeKey, ...] = ("review", "task")


class ReviewFix(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A requested change. `assignee` is an agent, empty for the agent that did the work."""

    text: str
    ref: str = ""
    assignee: str = ""


class ReviewRequested(Fact, frozen=True, kw_only=True):
    """`reviewer` was asked to judge the work of `target`; both are agents.

    `refs` are the work. `item` is the request's id in the inbox of `to_thread`.
    """

    type: ClassVar[str] = "review.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _REVIEW
    erased: ClassVar[ErasedForm] = {"reviewer": UNKNOWN, "target": UNKNOWN, "instructions": ERASED}
    reviewer: str
    target: str
    item: str = ""
    to_thread: str = ""
    instructions: Text = Text()
    refs: tuple[Ref, ...] = ()


class ReviewVerdict(Fact, frozen=True, kw_only=True):
    """The reviewer gave a verdict.

    The requested changes become input of their assignees when the review is applied.
    """

    type: ClassVar[str] = "review.verdict"
    needs: ClassVar[tuple[ScopeKey, ...]] = _REVIEW
    erased: ClassVar[ErasedForm] = {"reviewer": UNKNOWN, "target": UNKNOWN, "verdict": UNKNOWN}
    reviewer: str
    target: str
    verdict: Verdict
    summary: str = ""
    refs: tuple[Ref, ...] = ()
    fixes: tuple[ReviewFix, ...] = ()


class ReviewApplied(Fact, frozen=True, kw_only=True):
    """The requested changes were sent to their assignees, or the approved work was accepted."""

    type: ClassVar[str] = "review.applied"
    needs: ClassVar[tuple[ScopeKey, ...]] = _REVIEW
    closes: ClassVar[ScopeKey | None] = "review"
    erased: ClassVar[ErasedForm] = {"reviewer": UNKNOWN, "target": UNKNOWN}
    reviewer: str
    target: str
    by: str = ""


ReviewFact = ReviewRequested | ReviewVerdict | ReviewApplied
