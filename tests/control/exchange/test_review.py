"""Judgements of work, and the board."""

from __future__ import annotations

from callboard.contracts.commands.subagent import CloseSubagent
from callboard.contracts.commands.task import ApplyReview, CreateTask, SubmitVerdict, UpdateTask
from callboard.contracts.facts.handoff import ChannelMessage
from callboard.contracts.facts.subagent import SubagentCompleted, WorkerNotification
from callboard.contracts.facts.task import Fix, ReviewApplied, ReviewRequested, ReviewVerdict, TaskCompleted
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.control.decide.turn.idle import MAX_HOPS
from tests.control.rigs.examples import SESSION
from tests.control.rigs.team import CLERK, CRITIC, LEAD, WORKER, Team, all_of, one, team, types


def reviewed() -> Team:
    """A child whose work waits for a verdict."""
    given = team()
    given.spawns(review=True)
    given.says("worker-1", "First draft.")
    return given


def test_a_child_under_review_waits_and_completes_after_the_verdict() -> None:
    """Subagents specification, Review: its work is ready, not done."""
    given = team()
    given.spawns(review=True)
    then = given.says("worker-1", "First draft.")
    assert types(then)[-3:] == ["review.requested", "worker.notification", "team.changed"]
    assert one(then, WorkerNotification).status == "ready_for_review"
    assert given.status("worker-1") == "waiting"

    judged = given.uses("lead", "submit_verdict", agent="worker-1", verdict="passed", summary="Good.")
    assert one(judged, ReviewVerdict).reviewer == "lead"
    assert one(judged, SubagentCompleted).result.text == "First draft."
    assert one(judged, TaskCompleted).summary == "Good."
    assert given.state.reviews == {}


def test_a_parent_is_not_told_what_it_judged_itself() -> None:
    """UI-16: the person's next words bring it nothing that it said, and the task of its turn is over with its answer."""
    given = reviewed()
    given.uses("lead", "wait_subagents")
    judged = given.uses("lead", "submit_verdict", agent="worker-1", verdict="passed")
    assert one(judged, WorkerNotification).item == ""

    answered = given.says("lead", "It passed.")

    assert given.of("lead").inbox == ()
    assert one(answered, TaskCompleted).summary == "It passed."


def test_a_parent_is_told_what_a_person_judged() -> None:
    """UI-16"""
    given = reviewed()
    judged = given.when(SubmitVerdict(session_id=SESSION, agent="worker-1", verdict="passed"))
    assert one(judged, WorkerNotification).item != ""


def test_requested_changes_are_the_childs_next_input() -> None:
    """Subagents specification, Review: fixes can be assigned back."""
    given = reviewed()
    then = given.uses(
        "lead",
        "submit_verdict",
        agent="worker-1",
        verdict="changes_requested",
        summary="Nearly.",
        fixes=[{"text": "Name the source.", "ref": "a.md:3"}],
    )
    assert one(then, ReviewApplied).target == "worker-1"
    assert (
        one(then, TurnSubmitted).input.text == "Changes were requested by lead.\nNearly.\n- Name the source. (a.md:3)"
    )
    again = given.says("worker-1", "Second draft.")
    assert len(all_of(again, ReviewRequested)) == 1
    given.when(SubmitVerdict(session_id=SESSION, agent="worker-1", verdict="passed"))
    assert given.status("worker-1") == "completed"


def test_work_that_does_not_pass_has_failed() -> None:
    given = reviewed()
    given.uses("lead", "submit_verdict", agent="worker-1", verdict="failed", summary="No.")
    assert given.status("worker-1") == "failed"
    assert given.denied("lead", "submit_verdict", agent="worker-1", verdict="passed") == "unknown_review"


def test_a_review_of_a_child_that_is_closed_is_forgotten() -> None:
    given = reviewed()
    given.when(CloseSubagent(session_id=SESSION, agent="worker-1"))
    assert given.state.reviews == {}


def test_a_reviewer_is_told_in_its_next_turn_and_judges() -> None:
    given = team(LEAD, CRITIC, WORKER)
    asked = given.gets("lead", "request_review", reviewer="critic", instructions="Is it right?")
    assert given.works() == ["lead", "critic"]
    assert given.denied("lead", "submit_verdict", review_id=asked["review_id"], verdict="passed") == "not_yours"
    assert given.denied("lead", "request_review", reviewer="lead") == "agent_to_itself"
    then = given.uses(
        "critic",
        "submit_verdict",
        review_id=asked["review_id"],
        verdict="changes_requested",
        fixes=[{"text": "Shorter."}],
    )
    assert one(then, ReviewVerdict).fixes == (Fix(text="Shorter."),)
    assert given.denied("critic", "submit_verdict", review_id=asked["review_id"], verdict="passed") == "review_judged"
    applied = given.when(ApplyReview(session_id=SESSION, review_id=asked["review_id"]))
    assert (one(applied, ReviewApplied).target, one(applied, ReviewApplied).by) == ("lead", "person")
    assert given.refuses(ApplyReview(session_id=SESSION, review_id=asked["review_id"])).code == "unknown_review"


def test_a_parent_lets_another_one_judge_and_no_review_is_left_open() -> None:
    given = reviewed()
    (opened,) = given.state.reviews
    asked = given.gets("lead", "request_review", reviewer="critic", target="worker-1")
    assert asked["review_id"] == opened
    assert given.denied("lead", "submit_verdict", review_id=opened, verdict="passed") == "not_yours"
    given.uses("critic", "submit_verdict", review_id=opened, verdict="passed")
    assert (given.status("worker-1"), given.state.reviews) == ("completed", {})


def test_whoever_asked_for_a_verdict_is_told_it_and_what_is_to_change() -> None:
    """UI-20: also where the work is a main's, whose turn has ended meanwhile."""
    given = team(LEAD, CRITIC, CLERK)
    given.uses("lead", "send_message", to=["clerk"], text="begin")
    asked = given.gets("clerk", "request_review", reviewer="critic", instructions="Is it right?")
    given.says("clerk", "I wait for the verdict.")
    judged = given.uses(
        "critic",
        "submit_verdict",
        review_id=asked["review_id"],
        verdict="changes_requested",
        summary="Nearly.",
        fixes=[{"text": "Shorter.", "ref": "a.md:3"}],
    )
    told = one(judged, ChannelMessage)
    assert (told.source, told.to_threads, told.message.text) == (
        "critic",
        (given.of("clerk").thread,),
        "The review rev_1 of clerk: changes_requested.\nNearly.\n- Shorter. (a.md:3)",
    )
    assert given.run_of("clerk").reserved == (told.item,)
    given.says("clerk", "I see.")

    applied = given.when(ApplyReview(session_id=SESSION, review_id=asked["review_id"]))

    assigned = one(applied, ChannelMessage)
    assert (assigned.source, assigned.message.text) == (
        "person",
        "Changes were requested by critic.\nNearly.\n- Shorter. (a.md:3)",
    )
    assert given.run_of("clerk").reserved == (assigned.item,)


def test_reviewers_that_judge_for_ever_what_they_are_told_are_stopped() -> None:
    """MAR-09"""
    given = team(LEAD, CRITIC, CLERK)
    given.uses("lead", "send_message", to=["clerk"], text="begin")
    rounds = 0
    while given.of("clerk").run is not None:
        asked = given.gets("clerk", "request_review", reviewer="critic")
        given.says("clerk")
        if given.of("critic").run is None:
            break
        given.uses("critic", "submit_verdict", review_id=asked["review_id"], verdict="failed")
        given.says("critic")
        rounds += 1
    assert rounds == MAX_HOPS // 2


def test_tasks_are_made_changed_and_ended_by_agents_and_persons() -> None:
    """Control plane spec, create_task and update_task."""
    given = team()
    given.when(CreateTask(session_id=SESSION, title="Docs", task_id="tsk_a"))
    assert given.refuses(CreateTask(session_id=SESSION, title="Docs", task_id="tsk_a")).code == "task_id_used"
    changed = given.gets("lead", "update_task", task_id="tsk_a", status="blocked", blocker="no key")
    assert (changed["task_id"], changed["status"]) == ("tsk_a", "blocked")
    done = given.when(UpdateTask(session_id=SESSION, task_id="tsk_a", status="done", progress="All there."))
    assert types(done) == ["task.updated", "task.completed"]
    assert given.denied("lead", "update_task", task_id="tsk_a", status="open") == "unknown_task"
    assert given.denied("lead", "create_task", title="x", depends_on=["tsk_a"]) == "unknown_task"
