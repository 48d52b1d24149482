"""Children: spawn, budgets, ends and more input."""

from __future__ import annotations

import pytest

from callboard.contracts.commands.subagent import CloseSubagent
from callboard.contracts.commands.turn import SubmitTurn
from callboard.contracts.content import Text
from callboard.contracts.entities.team import WorkUsage
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.subagent import (
    SubagentCompleted,
    SubagentFailed,
    SubagentQueued,
    SubagentSpawned,
    TeamChanged,
    WorkerNotification,
)
from callboard.contracts.facts.task import TaskCreated
from callboard.contracts.facts.tool import ToolStarted
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.scope import Scope
from callboard.control.effects import MakeWorktree, RemoveWorktree
from callboard.control.outcomes import WorktreeMade
from tests.control.rigs.examples import ASK, SESSION, THREAD, approve, model_response, requested_call
from tests.control.rigs.team import LEAD, WORKER, agent_definition, fact_types, facts_of, only_fact, spawn, team


def test_a_child_starts_with_parent_links_limits_and_its_own_task() -> None:
    """SUB-03: the spawn names the child's isolation."""
    result = team().uses(
        "lead",
        "spawn_subagent",
        agent="Worker",
        objective="Read the docs.\nAll.",
        role="researcher",
        work_globs=["docs/**"],
    )

    assert fact_types(result)[4:] == [
        "tool.started",
        "task.created",
        "task.created",
        "thread.opened",
        "subagent.spawned",
        "turn.submitted",
        "queue.added",
        "subagent.started",
        "turn.started",
        "routing.resolved",
        "model.requested",
        "channel.opened",
        "tool.completed",
        "model.requested",
        "team.changed",
    ]
    assert only_fact(result, SubagentSpawned) == SubagentSpawned(
        role="researcher", objective=Text(text="Read the docs.\nAll."), isolation="shared", work_globs=("docs/**",)
    )
    parent, subtask = facts_of(result, TaskCreated)
    assert (parent.title, subtask.title, subtask.assignee, subtask.parent_task) == (
        "the objective",
        "Read the docs.",
        "worker-1",
        "tsk_1",
    )
    (scope,) = [new.scope for new in result.decision.facts if isinstance(new.fact, SubagentSpawned)]
    assert scope == Scope(agent="worker-1", thread="thr_2", task="tsk_2", parent_thread="thr_1", parent_run="run_1")


def test_a_child_never_works_under_a_wider_permission_than_its_parent() -> None:
    """Multi-agent runtime spec, Hard invariants 8 and 9: definition and parent only narrow the mode."""
    session = team(permission_mode="edits")
    widened = only_fact(
        session.uses("lead", "spawn_subagent", agent="worker", objective="x", permission_mode="full"), TurnSubmitted
    )
    narrowed = only_fact(session.uses("lead", "spawn_subagent", agent="editor", objective="x"), TurnSubmitted)
    read_only = only_fact(
        session.uses("lead", "spawn_subagent", agent="worker", objective="x", isolation="read_only"), TurnSubmitted
    )

    assert [widened.permission_mode, narrowed.permission_mode, read_only.permission_mode] == [
        "edits",
        "planning",
        "ask",
    ]


def test_children_beyond_the_budget_wait_in_order_with_the_reason_recorded() -> None:
    """CTL-13"""
    session = team(budget=2)
    session.spawns(3)
    fourth = session.uses("lead", "spawn_subagent", agent="worker", objective="x")

    assert only_fact(fourth, SubagentQueued) == SubagentQueued(
        queue_reason="parallel_budget", position=2, group="local"
    )
    assert only_fact(fourth, TeamChanged) == TeamChanged(
        phase="active",
        parallel_budget=2,
        active_count=2,
        queued_count=2,
        group="local",
        group_budget=16,
        queue_reason="parallel_budget",
    )
    session.responds("worker-2")
    assert session.running_agents() == ["lead", "worker-1", "worker-3"]
    session.responds("worker-1")
    assert session.running_agents() == ["lead", "worker-3", "worker-4"]


def test_a_provider_budget_applies_across_all_parents() -> None:
    """CTL-13"""
    session = team(group=1)
    session.spawns(2)
    other = session.tool_result("lead", "spawn_subagent", agent="editor", objective="x")
    queued = session.tool_result("lead", "spawn_subagent", agent="worker", objective="x")

    assert (other["status"], queued["status"], queued["queue_reason"]) == ("running", "queued", "provider_budget")
    assert session.running_agents() == ["lead", "worker-1", "editor-1"]


def test_a_crashed_child_frees_its_slot_and_waits_to_be_resumed() -> None:
    """CTL-13"""
    session = team(budget=1)
    session.spawns(2)
    result = session.stops("worker-1", "crash")

    assert only_fact(result, WorkerNotification).status == "interrupted"
    assert (session.child_status("worker-1"), session.child_status("worker-2")) == ("waiting", "running")


def test_the_parent_of_an_ended_child_is_notified_with_its_usage() -> None:
    """Subagents specification, Worker notification."""
    session = team()
    session.spawns()
    session.uses("worker-1", "list_subagents")
    result = session.responds("worker-1", "All read.")

    usage = WorkUsage(input_tokens=20, output_tokens=4, model_calls=2, tool_calls=1)
    assert only_fact(result, SubagentCompleted) == SubagentCompleted(result=Text(text="All read."), usage=usage)
    assert only_fact(result, WorkerNotification) == WorkerNotification(
        item="itm_1",
        to_thread=THREAD,
        status="completed",
        summary="All read.",
        result=Text(text="All read."),
        transcript="thr_2",
        usage=usage,
    )


def test_a_failure_of_one_child_leaves_the_others_running() -> None:
    """COM-12"""
    session = team()
    session.spawns(2)
    result = session.fails("worker-1")

    assert only_fact(result, SubagentFailed).code == "model_unavailable"
    assert fact_types(result)[-4:] == ["subagent.failed", "task.failed", "worker.notification", "team.changed"]
    assert (session.child_status("worker-1"), session.running_agents()) == ("failed", ["lead", "worker-2"])


def test_a_failed_child_drops_its_queued_input() -> None:
    session = team()
    session.spawns()
    session.uses("lead", "send_subagent_input", agent="worker-1", text="and this")
    result = session.fails("worker-1")

    assert [fact for fact in fact_types(result) if fact.startswith(("queue", "subagent"))] == [
        "queue.removed",
        "subagent.failed",
    ]
    assert session.thread_of("worker-1").queue == ()


def test_more_input_for_an_ended_child_is_another_task_that_needs_a_slot() -> None:
    """Control plane spec, send_subagent_input."""
    session = team(budget=1)
    session.spawns(2)
    session.responds("worker-1")
    queued = session.tool_result("lead", "send_subagent_input", agent="worker-1", text="once more")

    assert queued["status"] == "queued"
    assert session.child_status("worker-1") == "queued"
    result = session.responds("worker-2")
    assert "subagent.started" in fact_types(result)
    assert session.running_agents() == ["lead", "worker-1"]
    child = session.thread_of("worker-1").child
    assert child is not None
    assert child.task == "tsk_4"


def test_a_continued_child_belongs_to_the_run_that_sent_the_input() -> None:
    """The run of the child's work shows the turn that it belongs to."""
    session = team()
    session.spawns()
    first = session.run_of("lead").run
    session.responds("worker-1")
    session.responds("lead")
    session.when(SubmitTurn(session_id=SESSION, text="Again."))
    second = session.run_of("lead").run
    session.tool_result("lead", "send_subagent_input", agent="worker-1", text="once more")

    child = session.thread_of("worker-1").child
    assert child is not None
    assert (child.parent_run, first == second) == (second, False)
    session.responds("worker-1")
    session.when(SubmitTurn(session_id=SESSION, thread_id="thr_2", text="What did you find?"))
    spoken = session.thread_of("worker-1").child
    assert spoken is not None
    assert spoken.parent_run == second


def test_input_for_a_running_child_waits_behind_its_turn() -> None:
    session = team()
    session.spawns()
    assert session.tool_result("lead", "send_subagent_input", agent="worker-1", text="and this")["status"] == "queued"
    session.responds("worker-1")
    assert session.child_status("worker-1") == "running"
    assert only_fact(session.responds("worker-1"), SubagentCompleted).result == Text(text="Done.")


def test_a_person_may_send_input_to_a_child() -> None:
    session = team()
    session.spawns()
    session.responds("worker-1")
    result = session.when(SubmitTurn(session_id=SESSION, thread_id="thr_2", text="What did you find?"))

    assert fact_types(result)[:5] == [
        "task.created",
        "subagent.continued",
        "turn.submitted",
        "queue.added",
        "subagent.started",
    ]


def test_an_agent_controls_only_its_own_children() -> None:
    session = team(agent_definition("lead", edges=()), agent_definition("other"), WORKER)
    session.spawns()
    session.uses("lead", "send_message", to=["other"], text="hi")
    assert session.refusal_code("other", "send_subagent_input", agent="worker-1", text="x") == "not_your_child"
    assert session.refusal_code("other", "close_subagent", agent="lead") == "not_your_child"
    assert session.refusal_code("other", "wait_subagents") == "nothing_running"


def test_each_parent_has_its_own_budget() -> None:
    """CTL-13"""
    session = team(agent_definition("lead"), agent_definition("other"), WORKER, budget=1)
    session.uses("lead", "send_message", to=["other"], text="hi")
    session.spawns()
    assert session.tool_result("other", "spawn_subagent", agent="worker", objective="x")["status"] == "running"
    assert session.tool_result("other", "spawn_subagent", agent="worker", objective="x")["status"] == "queued"
    session.responds("worker-1")
    assert session.running_agents() == ["lead", "other", "worker-2"]


@pytest.mark.parametrize("named", ["worker", "WORKER", "Helper"])
def test_a_delegate_target_is_reached_in_any_case_and_by_its_alias(named: str) -> None:
    """MAR-06"""
    session = team(
        agent_definition("lead", delegate_targets=("worker",)),
        agent_definition("worker", kind="subagent", aliases=("helper",)),
        WORKER,
    )
    assert session.tool_result("lead", "spawn_subagent", agent=named, objective="x")["agent_id"] == "worker-1"


def test_a_delegate_target_outside_the_list_is_refused() -> None:
    """MAR-06, MAR-05"""
    session = team(
        agent_definition("lead", delegate_targets=("worker",)),
        agent_definition("editor", kind="subagent"),
        agent_definition("other"),
    )
    assert session.refusal_code("lead", "spawn_subagent", agent="editor", objective="x") == "delegate_target_denied"
    assert session.refusal_code("lead", "spawn_subagent", agent="other", objective="x") == "delegate_target_denied"
    assert session.refusal_code("lead", "spawn_subagent", agent="ghost", objective="x") == "unknown_agent"


def test_without_the_policy_delegate_an_agent_spawns_no_child() -> None:
    """MAR-05"""
    session = team(agent_definition("lead", policy=("Patch",)), WORKER)
    assert session.refusal_code("lead", "spawn_subagent", agent="worker", objective="x") == "policy_denied"
    assert session.refuses(spawn()).code == "policy_denied"


def test_a_spawn_by_a_subagent_is_refused_and_starts_no_run() -> None:
    """MAR-07: Hard invariants 5 and 6."""
    session = team(LEAD, agent_definition("worker", kind="subagent", policy=("Delegate",)))
    session.spawns()
    before = set(session.state.threads)
    assert session.refusal_code("worker-1", "spawn_subagent", agent="worker", objective="x") == "subagent_spawns"
    assert session.refuses(spawn(thread_id="thr_2")).code == "subagent_spawns"
    assert set(session.state.threads) == before
    assert session.running_agents() == ["lead", "worker-1"]


def test_a_child_never_gets_the_name_of_another_agent() -> None:
    session = team(LEAD, WORKER, agent_definition("worker-1"))
    assert session.spawns() == ["worker-2"]


def test_a_child_with_a_worktree_starts_once_the_worktree_exists() -> None:
    """Control plane spec, spawn_subagent: isolation rules."""
    session = team()
    result = session.uses("lead", "spawn_subagent", agent="worker", objective="x", isolation="worktree")
    assert only_fact(result, SubagentQueued).queue_reason == "worktree"
    assert [effect.scope.agent for effect in result.effects if isinstance(effect, MakeWorktree)] == ["worker-1"]
    started = session.when(WorktreeMade(thread="thr_2", path="/srv/.site-1", branch="b", base="c"))
    assert fact_types(started)[:3] == ["subagent.isolated", "subagent.started", "turn.started"]
    assert session.refusal_code("lead", "merge_subagent", agent="worker-1") == "thread_busy"
    session.responds("worker-1")
    closed = session.when(CloseSubagent(session_id=SESSION, agent="worker-1"))
    assert [effect for effect in closed.effects if isinstance(effect, RemoveWorktree)] == [
        RemoveWorktree(
            Scope(agent="worker-1", thread="thr_2", task="tsk_2", parent_thread="thr_1", parent_run="run_1"),
            "/srv/.site-1",
            "b",
            "c",
        )
    ]


def test_a_failed_worktree_fails_the_child_and_its_parent_is_notified() -> None:
    session = team()
    session.spawns(isolation="worktree")
    result = session.when(WorktreeMade(thread="thr_2", code="worktree_failed", message="no repository"))

    assert fact_types(result) == [
        "queue.removed",
        "subagent.failed",
        "task.failed",
        "worker.notification",
        "team.changed",
    ]
    assert (only_fact(result, WorkerNotification).status, only_fact(result, WorkerNotification).summary) == (
        "failed",
        "no repository",
    )


def test_a_delegated_approval_names_its_child_and_in_a_worktree_applies_once() -> None:
    """UI-10: the answer goes to that child. A rule would also apply in the parent's folder."""
    session = team()
    session.spawns()
    result = session.when(model_response(requested_call(8, 2, ASK), run=2, thread="thr_2"))
    assert [new.scope.agent for new in result.decision.facts if isinstance(new.fact, ActionRequired)] == ["worker-1"]
    action = only_fact(result, ActionRequired)
    assert (action.action_type, action.scopes) == ("delegated_permission", ("once", "session", "workspace"))
    answer = session.when(approve())
    assert [new.scope.agent for new in answer.decision.facts if isinstance(new.fact, ToolStarted)] == ["worker-1"]

    session.spawns(isolation="worktree")
    session.when(WorktreeMade(thread="thr_3", path="/srv/.site-1", branch="b", base="c"))
    isolated_action = only_fact(
        session.when(model_response(requested_call(9, 2, ASK), run=3, thread="thr_3")), ActionRequired
    )
    assert (isolated_action.scopes, isolated_action.matchers) == (("once",), {})


def test_a_child_without_a_worktree_cannot_be_merged() -> None:
    session = team()
    session.spawns()
    assert session.refusal_code("lead", "merge_subagent", agent="worker-1") == "merge_failed"
