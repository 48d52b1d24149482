"""Limits on the work of other agents and on endless exchanges."""

from __future__ import annotations

from callboard.contracts.commands.exchange.handoff import SendHandoff
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.subagent import SubagentSpawned
from callboard.control.decide.turn.idle import MAX_HOPS
from callboard.control.outcomes import WakeTimeReached
from tests.control.rigs.examples import SESSION
from tests.control.rigs.team import CRITIC, LEAD, WORKER, Team, agent_definition, only_fact, team

OWNER = agent_definition("owner", edges=(Edge(to="maker", confirm=True, ownership=True),))
MAKER = agent_definition("maker")


def started_exchange() -> Team:
    """Return a session whose lead started another main agent with a message."""
    session = team(LEAD, OWNER, MAKER, CRITIC, WORKER)
    session.uses("lead", "send_message", to=["owner"], text="begin")
    return session


def test_an_endless_exchange_of_rejected_handoffs_is_stopped_with_the_reason() -> None:
    """MAR-09: a rejection continues the chain of its handoff."""
    session = started_exchange()
    rounds = 0
    while session.thread_of("owner").run is not None:
        handoff = session.tool_result("owner", "send_handoff", to="maker", message="Make it.")["handoff_id"]
        session.responds("owner")
        if session.thread_of("maker").run is None:
            break
        session.uses("maker", "respond_handoff", handoff_id=handoff, decision="reject", reason="Not me.")
        session.responds("maker")
        rounds += 1
    assert rounds == MAX_HOPS // 2
    assert "no_progress" in (session.thread_of("owner").paused, session.thread_of("maker").paused)


def test_an_endless_exchange_of_returned_ownership_is_stopped() -> None:
    """MAR-09"""
    session = started_exchange()
    rounds = 0
    while session.thread_of("owner").run is not None:
        handoff = session.tool_result("owner", "send_handoff", to="maker", message="Yours.", ownership=True)[
            "handoff_id"
        ]
        session.responds("owner")
        if session.thread_of("maker").run is None:
            break
        session.uses("maker", "respond_handoff", handoff_id=handoff, decision="accept")
        session.uses("maker", "respond_handoff", handoff_id=handoff, decision="complete", reason="Yours again.")
        session.responds("maker")
        rounds += 1
    assert rounds == MAX_HOPS // 2
    assert "no_progress" in (session.thread_of("owner").paused, session.thread_of("maker").paused)


def test_an_endless_ring_of_review_requests_is_stopped() -> None:
    """MAR-09"""
    session = started_exchange()
    names = ("owner", "maker")
    turns = 0
    while session.thread_of(names[turns % 2]).run is not None:
        session.uses(names[turns % 2], "request_review", reviewer=names[(turns + 1) % 2], instructions="And this?")
        session.responds(names[turns % 2])
        turns += 1
    assert turns == MAX_HOPS
    assert session.thread_of(names[turns % 2]).paused == "no_progress"


def test_missing_replies_wake_their_sender_at_most_max_hops_times() -> None:
    """MAR-09, COM-16"""
    session = team(LEAD, agent_definition("owner", edges=(Edge(to="maker"),)), MAKER)
    session.uses("lead", "send_message", to=["owner"], text="begin")
    rounds = 0
    while session.thread_of("owner").run is not None and rounds <= MAX_HOPS:
        response = {"expectation": "required", "within_s": 1}
        session.uses("owner", "send_handoff", to="maker", message="Well?", response=response)
        session.responds("owner")
        if session.thread_of("maker").run is not None:
            session.responds("maker", "I say nothing.")
        session.now += 1_000_000
        result = session.when(WakeTimeReached(at=session.now))
        rounds += 1
    assert rounds <= MAX_HOPS
    assert only_fact(result, ThreadPaused).cause == "no_progress"


def test_ownership_never_returns_to_a_subagent() -> None:
    """MAR-08: a child exchanges messages only with its parent."""
    session = team(LEAD, CRITIC, WORKER)
    session.spawns()
    handoff = {"to": "critic", "message": "Yours.", "ownership": True}
    assert session.refusal_code("lead", "send_handoff", **handoff, resume_target="worker-1") == "ownership_not_allowed"
    problem = session.refuses(
        SendHandoff(session_id=SESSION, to="critic", message="Yours.", ownership=True, resume_target="worker-1")
    )
    assert (problem.code, problem.field) == ("ownership_not_allowed", "resumeTarget")
    assert session.state.handoffs == {}


def test_a_subagent_cannot_end_tasks_of_its_parent_or_its_siblings() -> None:
    """MAR-08: neither the parent task nor a sibling's task that waits for a slot."""
    session = team(LEAD, CRITIC, WORKER, budget=1)
    session.spawns(2)
    before = dict(session.state.tasks)
    parent_task = next(task.task for task in before.values() if task.implied)
    sibling = next(task.task for task in before.values() if task.thread == session.thread_of("worker-2").thread)
    for task in (parent_task, sibling):
        for status in ("done", "cancelled"):
            assert session.refusal_code("worker-1", "update_task", task_id=task, status=status) == "not_your_child"
    assert session.state.tasks == before
    assert (session.child_status("worker-1"), session.child_status("worker-2")) == ("running", "queued")


def test_a_child_cannot_complete_its_own_task_under_review() -> None:
    """Subagents specification, Review: it completes after the verdict."""
    session = team(LEAD, CRITIC, WORKER)
    session.spawns(review=True)
    child = session.thread_of("worker-1").child
    assert child is not None
    assert session.refusal_code("worker-1", "update_task", task_id=child.task, status="done") == "not_yours"
    session.responds("worker-1", "A draft.")
    assert session.child_status("worker-1") == "waiting"


def test_a_parent_can_cancel_the_task_of_its_child() -> None:
    session = team(LEAD, CRITIC, WORKER)
    session.spawns()
    child = session.thread_of("worker-1").child
    assert child is not None
    assert session.tool_result("lead", "update_task", task_id=child.task, status="cancelled")["task_id"] == child.task
    assert session.run_of("worker-1").stopping


def test_only_the_parent_can_assign_the_review_of_its_child() -> None:
    """Multi-agent runtime specification, Hard invariants: a child answers only to its parent."""
    session = team(LEAD, CRITIC, MAKER, WORKER)
    session.spawns(review=True)
    session.uses("lead", "send_message", to=["maker"], text="go")
    session.responds("worker-1", "A draft.")
    assert session.refusal_code("maker", "request_review", reviewer="critic", target="worker-1") == "not_your_child"
    review = session.tool_result("lead", "request_review", reviewer="critic", target="worker-1")
    session.uses("critic", "submit_verdict", review_id=review["review_id"], verdict="passed")
    assert session.child_status("worker-1") == "completed"


def test_a_read_only_definition_is_always_spawned_read_only() -> None:
    """Multi-agent runtime specification, Hard invariants: no request widens a definition."""
    session = team(LEAD, agent_definition("reader", kind="subagent", isolation="read_only"))
    for requested in ("shared", "worktree", "read_only"):
        result = session.uses("lead", "spawn_subagent", agent="reader", objective="Read it.", isolation=requested)
        assert only_fact(result, SubagentSpawned).isolation == "read_only"
