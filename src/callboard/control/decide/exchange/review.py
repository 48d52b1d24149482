"""Reviews of work. An applied review returns its requested changes to the author of the work."""

from __future__ import annotations

from callboard.contracts.commands.exchange.review import (
    RequestReviewArguments,
    ReviewChanged,
    ReviewOpened,
    VerdictArguments,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.exchange.review import ReviewApplied, ReviewFix, ReviewRequested, ReviewVerdict
from callboard.contracts.facts.subagent import SubagentCompleted
from callboard.contracts.facts.task import TaskCompleted, TaskCreated, TaskFailed
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.review import OpenReview
from ...state.session import Thread
from ...state.subagent import Child
from ..agent.addressing import find_agent, find_or_join_agent, require_agent, require_child
from ..subagent import ending
from ..subagent.child_scope import build_child_scope
from ..subagent.children import resume_child
from .messages import check_receiver, notify_agent


def request_review(batch: Batch, sender: Thread, request: RequestReviewArguments) -> ReviewOpened:
    """Request a verdict from an agent, which receives it in its next turn.

    Raises:
        Refusal: `unknown_agent`, `agent_to_itself`, `subagents_do_not_talk`, `nothing_running`;
            `not_your_child` for the work of another agent's child.
    """
    reviewer = find_or_join_agent(batch, request.reviewer, sender, "reviewer")
    if reviewer.thread != sender.thread:
        check_receiver(sender, reviewer, "reviewer")
    target = require_agent(batch.state, request.target, "target") if request.target is not None else sender
    if reviewer.thread == target.thread:
        raise Refusal(
            "agent_to_itself",
            "An agent cannot review its own work.",
            field="reviewer",
            hint="Set reviewer to another agent.",
        )
    if target.child is not None and sender.thread not in (target.thread, target.child.parent):
        raise Refusal(
            "not_your_child",
            f"{target.agent} works for another agent.",
            field="target",
            hint="Leave target out to have your own work reviewed, or name one of your subagents.",
        )
    task = target.child.task if target.child is not None else ""
    if not task:
        task = batch.inputs.ids.new("task")
        batch.add(
            TaskCreated(title=f"Review of {target.agent}", assignee=reviewer.agent),
            Scope(agent=sender.agent, thread=sender.thread, task=task),
        )
    review = _find_delegated_review(batch, sender, target) or batch.inputs.ids.new("review")
    run = sender.run
    batch.add(
        ReviewRequested(
            reviewer=reviewer.agent,
            target=target.agent,
            item=batch.inputs.ids.new("item"),
            to_thread=reviewer.thread,
            instructions=batch.store_text(request.instructions),
            refs=request.refs,
        ),
        Scope(
            agent=sender.agent,
            thread=sender.thread,
            turn=run.turn if run is not None else "",
            run=run.run if run is not None else "",
            task=task,
            review=review,
        ),
    )
    return ReviewOpened(session_id=batch.state.session, review_id=review, task_id=task, sequence=batch.state.sequence)


def _find_delegated_review(batch: Batch, sender: Thread, target: Thread) -> str:
    """Return the pending review of a child by its parent, which the parent now passes to another
    reviewer."""
    if target.child is None or target.child.parent != sender.thread:
        return ""
    pending_reviews = (
        review for review in batch.state.reviews.values() if review.target == target.agent and not review.judged
    )
    return next((review.review for review in pending_reviews if not review.asker), "")


def open_child_review(batch: Batch, thread: Thread, child: Child) -> None:
    """Open the parent's review of a child's finished work, unless one is pending."""
    if any(review.target == thread.agent and not review.judged for review in batch.state.reviews.values()):
        return
    parent = batch.state.threads.get(child.parent)
    batch.add(
        ReviewRequested(reviewer=parent.agent if parent is not None else "", target=thread.agent),
        _build_child_review_scope(batch, thread, child, batch.inputs.ids.new("review")),
    )


def record_verdict(batch: Batch, reviewer: Thread | None, verdict: VerdictArguments) -> ReviewChanged:
    """Record a verdict. `reviewer` is an agent, None for a person.

    Raises:
        Refusal: `unknown_review`, `not_yours`, `review_judged`, and the codes of `require_child`.
    """
    review = _require_review(batch, reviewer, verdict)
    judged_by = reviewer.agent if reviewer is not None else "person"
    target = find_agent(batch.state, review.target)
    child = target.child if target is not None else None
    scope = Scope(
        agent=judged_by,
        thread=reviewer.thread if reviewer is not None else "",
        task=review.task,
        review=review.review,
    )
    batch.add(
        ReviewVerdict(
            reviewer=judged_by,
            target=review.target,
            verdict=verdict.verdict,
            summary=verdict.summary,
            refs=verdict.refs,
            fixes=verdict.fixes,
        ),
        scope,
    )
    if target is not None and child is not None and child.status == "waiting" and child.review:
        by_parent = reviewer is not None and reviewer.thread == child.parent
        _apply_verdict(batch, target, child, verdict, review, by_parent=by_parent)
    else:
        if target is None or child is None:
            _close_task(batch, review, verdict)
        _send_verdict(batch, reviewer, review, verdict)
    return ReviewChanged(
        session_id=batch.state.session,
        review_id=review.review,
        verdict=verdict.verdict,
        sequence=batch.state.sequence,
    )


def apply_review(batch: Batch, review_id: str, assignee: str | None, by: str) -> OpenReview:
    """Send the requested changes to the author of the reviewed work.

    Raises:
        Refusal: `unknown_review`, `review_not_judged`, `unknown_agent`.
    """
    review = batch.state.reviews.get(review_id)
    if review is None:
        raise _build_unknown_review(f"There is no review {review_id} to apply.")
    if not review.judged:
        raise Refusal(
            "review_not_judged",
            "The review has no verdict yet.",
            field="reviewId",
            hint=f"Wait for the verdict of {review.reviewer}.",
        )
    author = require_agent(batch.state, assignee or review.target, "assignee")
    batch.add(
        ReviewApplied(reviewer=review.reviewer, target=author.agent, by=by),
        Scope(agent=author.agent, thread=author.thread, task=review.task, review=review.review),
    )
    if author.child is not None:
        resume_child(batch, author, author.child, format_changes(review))
    else:
        notify_agent(batch, None, author, format_changes(review))
    return review


def format_changes(review: OpenReview) -> str:
    """Return the requested changes as input of a turn."""
    return f"Changes were requested by {review.reviewer}.\n{review.summary}\n{_format_fixes(review.fixes)}".strip()


def _format_fixes(fixes: tuple[ReviewFix, ...]) -> str:
    return "\n".join(f"- {fix.text}{f' ({fix.ref})' if fix.ref else ''}" for fix in fixes)


def _send_verdict(batch: Batch, reviewer: Thread | None, review: OpenReview, verdict: VerdictArguments) -> None:
    """Send the verdict to the agent that requested it. A parent is notified of its child's end
    instead."""
    asker = batch.state.threads.get(review.asker)
    if asker is None or (reviewer is not None and reviewer.thread == asker.thread):
        return
    head = f"The review {review.review} of {review.target}: {verdict.verdict}."
    message = f"{head}\n{verdict.summary}\n{_format_fixes(verdict.fixes)}"
    notify_agent(batch, reviewer, asker, message.strip())


def _build_unknown_review(message: str) -> Refusal:
    hint = "Use the review_id from the request, or request a review with request_review."
    return Refusal("unknown_review", message, field="reviewId", hint=hint)


def _require_review(batch: Batch, reviewer: Thread | None, verdict: VerdictArguments) -> OpenReview:
    if verdict.review_id is not None:
        review = batch.state.reviews.get(verdict.review_id)
    elif verdict.agent is not None:
        thread, _ = require_child(batch.state, verdict.agent, reviewer)
        reviews = (
            pending for pending in batch.state.reviews.values() if pending.target == thread.agent and not pending.judged
        )
        review = next(reviews, None)
    else:
        raise Refusal(
            "invalid_input",
            "The verdict names no review.",
            field="reviewId",
            hint="Set reviewId, or agent for the review of a subagent.",
        )
    if review is None:
        subject = f"review {verdict.review_id}" if verdict.review_id is not None else f"review of {verdict.agent}"
        raise _build_unknown_review(f"There is no {subject} without a verdict.")
    if reviewer is not None and review.reviewer != reviewer.agent:
        raise Refusal(
            "not_yours",
            f"The verdict of review {review.review} is not yours.",
            field="reviewId",
            hint=f"Only {review.reviewer} can give it.",
        )
    if review.judged:
        raise Refusal(
            "review_judged",
            "The review already has a verdict.",
            field="reviewId",
            hint="Request another review with request_review.",
        )
    return review


def _apply_verdict(
    batch: Batch, thread: Thread, child: Child, verdict: VerdictArguments, review: OpenReview, *, by_parent: bool
) -> None:
    scope = build_child_scope(thread, child)
    match verdict.verdict:
        case "passed":
            batch.add(SubagentCompleted(result=child.result, usage=thread.usage, plain_text=child.plain_text), scope)
            batch.add(TaskCompleted(summary=verdict.summary, refs=verdict.refs), scope)
            ending.notify_parent(batch, thread, child, "completed", child.result, verdict.summary, by_parent=by_parent)
        case "failed":
            ending.fail_child(batch, thread, child, "review_failed", verdict.summary, child.result, by_parent=by_parent)
        case "changes_requested":
            apply_review(batch, review.review, None, review.reviewer)


def _close_task(batch: Batch, review: OpenReview, verdict: VerdictArguments) -> None:
    scope = Scope(task=review.task)
    if review.task not in batch.state.tasks:
        return
    if verdict.verdict == "passed":
        batch.add(TaskCompleted(summary=verdict.summary, refs=verdict.refs), scope)
    elif verdict.verdict == "failed":
        batch.add(TaskFailed(code="review_failed", message=verdict.summary), scope)


def _build_child_review_scope(batch: Batch, thread: Thread, child: Child, review: str) -> Scope:
    parent = batch.state.threads.get(child.parent)
    return Scope(
        agent=parent.agent if parent is not None else thread.agent,
        thread=child.parent,
        task=child.task,
        review=review,
    )
