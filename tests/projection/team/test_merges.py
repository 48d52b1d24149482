"""Work of a child in its own worktree, which counts as unmerged until its merge."""

from __future__ import annotations

import pytest

from callboard.contracts.content import Text
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.facts.subagent import (
    MergeStatus,
    SubagentClosed,
    SubagentCompleted,
    SubagentIsolated,
    SubagentMerged,
    SubagentStarted,
)
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed, ToolRequested
from callboard.contracts.rows.agent import AgentRow
from tests.projection.runs import with_ids
from tests.projection.session_builder import RUN, THREAD, SessionBuilder
from tests.projection.team.scenarios import rows_over_time
from tests.projection.team.worker_team import ScopedFacts, add_facts, child_scope, team_session

AT = child_scope(1)
APART: ScopedFacts = (
    (SubagentIsolated(path="/srv/.site-1", branch="worker-1", base="c"), AT),
    (SubagentStarted(role="writer", group="local"), AT),
    (SubagentCompleted(result=Text(text="Done.")), AT),
)
CALL = with_ids(RUN, step=4, tool_call="cal_m")
MERGE_CALL = ToolRequested(tool="merge_subagent", arguments=Text(text='{"agent": "writer-1"}'), provider_call_id="c1")


def unmerged(session: SessionBuilder) -> bool:
    return rows_over_time(session, AgentRow, "writer-1")[-1].unmerged


def test_a_completed_child_is_unmerged_until_its_merge():
    """UI-18"""
    assert not unmerged(team_session())
    assert unmerged(add_facts(team_session(), *APART))


@pytest.mark.parametrize(
    ("status", "left"),
    [("merged", False), ("nothing_to_merge", False), ("conflict", True), ("failed", True), ("unknown", True)],
)
def test_only_a_successful_merge_leaves_nothing_unmerged(status: MergeStatus, left: bool):
    """UI-18"""
    assert unmerged(add_facts(team_session(), *APART, (SubagentMerged(status=status), AT))) is left


def test_a_parents_call_merges_a_child_unless_it_fails():
    """UI-18"""
    requested = add_facts(team_session(), *APART, (MERGE_CALL, CALL))
    assert unmerged(requested)
    assert unmerged(
        add_facts(requested, (ToolFailed(code="merge_failed", message="These files are in conflict."), CALL))
    )
    again = add_facts(requested, (MERGE_CALL, CALL), (ToolCompleted(output=Text(text="Merged.")), CALL))
    assert not unmerged(again)


def test_an_agent_that_continues_in_its_worktree_after_the_merge_is_unmerged():
    """UI-18"""
    merged = add_facts(team_session(), *APART, (SubagentMerged(status="merged"), AT))
    assert unmerged(add_facts(merged, (SubagentStarted(role="writer", group="local"), AT)))


def test_a_closed_child_whose_worktree_stays_is_not_merged():
    """UI-18: a removed worktree had nothing to merge."""
    closed = add_facts(
        team_session(), *APART, (SubagentClosed(worktree="/srv/.site-1", branch="worker-1", base="c"), AT)
    )
    assert not unmerged(closed)
    warning = WarningRaised(code="worktree_kept", message="The worktree of writer-1 stays.")
    assert unmerged(add_facts(closed, (warning, with_ids(THREAD, agent="writer-1"))))
