"""Reviews, verdicts and the board."""

from __future__ import annotations

from callboard.contracts.commands.exchange.review import ApplyReview, SubmitVerdict
from callboard.contracts.commands.subagent import CloseSubagent
from callboard.contracts.commands.task import CreateTask, UpdateTask
from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.facts.exchange.review import ReviewApplied, ReviewFix, ReviewRequested, ReviewVerdict
from callboard.contracts.facts.subagent import SubagentCompleted, WorkerNotification
from callboard.contracts.facts.task import TaskCompleted
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.control.decide.turn.idle import MAX_HOPS
from tests.control.rigs.examples import SESSION
from tests.control.rigs.team import CLERK, CRITIC, LEAD, WORKER, Team, fact_types, facts_of, only_fact, team


def session_under_review() -> Team:
    """Return a session whose child waits for a verdict on its work."""
    session = team()
    session.spawns(review=True)
    session.responds("worker-1", "First draft.")
    return session


def test_a_child_under_review_waits_and_completes_after_the_verdict() -> None:
    """Subagents specification, Review: work under review is ready, not done."""
    session = team()
    session.spawns(review=True)
    result = session.responds("worker-1", "First draft.")
    assert fact_types(result)[-3:] == ["review.requested", "worker.notification", "team.changed"]
    assert only_fact(result, WorkerNotification).status == "ready_for_review"
    assert session.child_status("worker-1") == "waiting"

    judged = session.uses("lead", "submit_verdict", agent="worker-1", verdict="passed", summary="Good.")
    assert only_fact(judged, ReviewVerdict).reviewer == "lead"
    assert only_fact(judged, SubagentCompleted).result.text == "First draft."
    assert only_fact(judged, TaskCompleted).summary == "Good."
    assert session.state.reviews == {}


def test_a_parent_gets_no_notification_of_its_own_verdict() -> None:
    """UI-16: its inbox stays empty, and its answer ends the task of its turn."""
    session = session_under_review()
    session.uses("lead", "wait_subagents")
    judged = session.uses("lead", "submit_verdict", agent="worker-1", verdict="passed")
    assert only_fact(judged, WorkerNotification).item == ""

    answered = session.responds("lead", "It passed.")

    assert session.thread_of("lead").inbox == ()
    assert only_fact(answered, TaskCompleted).summary == "It passed."


def test_a_parent_is_notified_of_a_persons_verdict() -> None:
    """UI-16"""
    session = session_under_review()
    judged = session.when(SubmitVerdict(session_id=SESSION, agent="worker-1", verdict="passed"))
    assert only_fact(judged, WorkerNotification).item != ""


def test_requested_changes_are_the_childs_next_input() -> None:
    """Subagents specification, Review: fixes can be assigned back."""
    session = session_under_review()
    result = session.uses(
        "lead",
        "submit_verdict",
        agent="worker-1",
        verdict="changes_requested",
        summary="Nearly.",
        fixes=[{"text": "Name the source.", "ref": "a.md:3"}],
    )
    assert only_fact(result, ReviewApplied).target == "worker-1"
    assert (
        only_fact(result, TurnSubmitted).input.text
        == "Changes were requested by lead.\nNearly.\n- Name the source. (a.md:3)"
    )
    second_draft = session.responds("worker-1", "Second draft.")
    assert len(facts_of(second_draft, ReviewRequested)) == 1
    session.when(SubmitVerdict(session_id=SESSION, agent="worker-1", verdict="passed"))
    assert session.child_status("worker-1") == "completed"


def test_a_failed_verdict_fails_the_child() -> None:
    session = session_under_review()
    session.uses("lead", "submit_verdict", agent="worker-1", verdict="failed", summary="No.")
    assert session.child_status("worker-1") == "failed"
    assert session.refusal_code("lead", "submit_verdict", agent="worker-1", verdict="passed") == "unknown_review"


def test_closing_a_child_drops_its_review() -> None:
    session = session_under_review()
    session.when(CloseSubagent(session_id=SESSION, agent="worker-1"))
    assert session.state.reviews == {}


def test_a_reviewer_reads_the_request_in_its_next_turn_and_submits_a_verdict() -> None:
    session = team(LEAD, CRITIC, WORKER)
    review = session.tool_result("lead", "request_review", reviewer="critic", instructions="Is it right?")
    assert session.running_agents() == ["lead", "critic"]
    assert (
        session.refusal_code("lead", "submit_verdict", review_id=review["review_id"], verdict="passed") == "not_yours"
    )
    assert session.refusal_code("lead", "request_review", reviewer="lead") == "agent_to_itself"
    result = session.uses(
        "critic",
        "submit_verdict",
        review_id=review["review_id"],
        verdict="changes_requested",
        fixes=[{"text": "Shorter."}],
    )
    assert only_fact(result, ReviewVerdict).fixes == (ReviewFix(text="Shorter."),)
    assert (
        session.refusal_code("critic", "submit_verdict", review_id=review["review_id"], verdict="passed")
        == "review_judged"
    )
    applied = session.when(ApplyReview(session_id=SESSION, review_id=review["review_id"]))
    assert (only_fact(applied, ReviewApplied).target, only_fact(applied, ReviewApplied).by) == ("lead", "person")
    assert session.refuses(ApplyReview(session_id=SESSION, review_id=review["review_id"])).code == "unknown_review"


def test_a_parent_can_assign_the_review_to_another_agent_and_no_review_stays_open() -> None:
    session = session_under_review()
    (opened,) = session.state.reviews
    review = session.tool_result("lead", "request_review", reviewer="critic", target="worker-1")
    assert review["review_id"] == opened
    assert session.refusal_code("lead", "submit_verdict", review_id=opened, verdict="passed") == "not_yours"
    session.uses("critic", "submit_verdict", review_id=opened, verdict="passed")
    assert (session.child_status("worker-1"), session.state.reviews) == ("completed", {})


def test_the_requester_of_a_review_receives_the_verdict_and_the_fixes() -> None:
    """UI-20: also a main agent with an ended turn."""
    session = team(LEAD, CRITIC, CLERK)
    session.uses("lead", "send_message", to=["clerk"], text="begin")
    review = session.tool_result("clerk", "request_review", reviewer="critic", instructions="Is it right?")
    session.responds("clerk", "I wait for the verdict.")
    judged = session.uses(
        "critic",
        "submit_verdict",
        review_id=review["review_id"],
        verdict="changes_requested",
        summary="Nearly.",
        fixes=[{"text": "Shorter.", "ref": "a.md:3"}],
    )
    message = only_fact(judged, ChannelMessage)
    assert (message.source, message.to_threads, message.message.text) == (
        "critic",
        (session.thread_of("clerk").thread,),
        "The review rev_1 of clerk: changes_requested.\nNearly.\n- Shorter. (a.md:3)",
    )
    assert session.run_of("clerk").reserved == (message.item,)
    session.responds("clerk", "I see.")

    applied = session.when(ApplyReview(session_id=SESSION, review_id=review["review_id"]))

    assigned = only_fact(applied, ChannelMessage)
    assert (assigned.source, assigned.message.text) == (
        "person",
        "Changes were requested by critic.\nNearly.\n- Shorter. (a.md:3)",
    )
    assert session.run_of("clerk").reserved == (assigned.item,)


def test_an_endless_exchange_of_reviews_is_stopped() -> None:
    """MAR-09"""
    session = team(LEAD, CRITIC, CLERK)
    session.uses("lead", "send_message", to=["clerk"], text="begin")
    rounds = 0
    while session.thread_of("clerk").run is not None:
        review = session.tool_result("clerk", "request_review", reviewer="critic")
        session.responds("clerk")
        if session.thread_of("critic").run is None:
            break
        session.uses("critic", "submit_verdict", review_id=review["review_id"], verdict="failed")
        session.responds("critic")
        rounds += 1
    assert rounds == MAX_HOPS // 2


def test_agents_and_persons_create_change_and_end_tasks() -> None:
    """Control plane spec, create_task and update_task."""
    session = team()
    session.when(CreateTask(session_id=SESSION, title="Docs", task_id="tsk_a"))
    assert session.refuses(CreateTask(session_id=SESSION, title="Docs", task_id="tsk_a")).code == "task_id_used"
    changed = session.tool_result("lead", "update_task", task_id="tsk_a", status="blocked", blocker="no key")
    assert (changed["task_id"], changed["status"]) == ("tsk_a", "blocked")
    done = session.when(UpdateTask(session_id=SESSION, task_id="tsk_a", status="done", progress="All there."))
    assert fact_types(done) == ["task.updated", "task.completed"]
    assert session.refusal_code("lead", "update_task", task_id="tsk_a", status="open") == "unknown_task"
    assert session.refusal_code("lead", "create_task", title="x", depends_on=["tsk_a"]) == "unknown_task"
