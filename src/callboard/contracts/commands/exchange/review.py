"""Commands and tools of reviews."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ...entities.team import AgentName, Ref, Verdict
from ...facts.exchange.review import ReviewFix
from ..base import Answer, Command, Id, TeamToolArguments, command


class RequestReviewArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Request a review of work."""

    reviewer: AgentName
    target: Annotated[AgentName | None, Meta(description="Agent that did the work. Default: you.")] = None
    instructions: Annotated[str, Meta(max_length=200_000)] = ""
    refs: tuple[Ref, ...] = ()


class ReviewOpened(Answer, frozen=True, kw_only=True):
    """The requested review."""

    session_id: str
    review_id: str
    task_id: str
    sequence: int


@command("request_review", ReviewOpened)
class RequestReview(RequestReviewArguments, Command, frozen=True, kw_only=True):
    """Ask an agent for a verdict on work.

    `thread_id` is the thread that asks; it defaults to the lead's.
    """

    session_id: Id
    thread_id: Id | None = None


class VerdictArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Submit a verdict: on a review that you were asked for, or on the work of a child that waits for one."""

    review_id: Id | None = None
    agent: Annotated[AgentName | None, Meta(description="Child to judge, without a review_id.")] = None
    verdict: Verdict
    summary: Annotated[str, Meta(max_length=20_000)] = ""
    refs: tuple[Ref, ...] = ()
    fixes: tuple[ReviewFix, ...] = ()


class ReviewChanged(Answer, frozen=True, kw_only=True):
    """The review with its verdict."""

    session_id: str
    review_id: str
    verdict: Verdict
    sequence: int


@command("submit_verdict", ReviewChanged)
class SubmitVerdict(VerdictArguments, Command, frozen=True, kw_only=True):
    """Record a verdict on a review, or on a child whose work waits for one.

    Requested changes become input of an assignee when the review is applied.
    """

    session_id: Id


@command("apply_review", ReviewChanged)
class ApplyReview(Command, frozen=True, kw_only=True):
    """Send the requested changes of a review to their assignees.

    `assignee` overrides the assignees.
    """

    session_id: Id
    review_id: Id
    assignee: AgentName | None = None
