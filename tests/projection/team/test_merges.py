"""What a child did in a worktree of its own is told as not merged until it is."""

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
from callboard.contracts.rows.team import AgentRow
from tests.projection.runs import within
from tests.projection.story import RUN, THREAD, Story
from tests.projection.team.tales import shown
from tests.projection.team.troupe import Said, child, team, told

AT = child(1)
APART: Said = (
    (SubagentIsolated(path="/srv/.site-1", branch="worker-1", base="c"), AT),
    (SubagentStarted(role="writer", group="local"), AT),
    (SubagentCompleted(result=Text(text="Done.")), AT),
)
CALL = within(RUN, step=4, tool_call="cal_m")
ASKED = ToolRequested(tool="merge_subagent", arguments=Text(text='{"agent": "writer-1"}'), provider_call_id="c1")


def unmerged(story: Story) -> bool:
    return shown(story, AgentRow, "writer-1")[-1].unmerged


def test_a_child_that_is_done_and_not_merged_says_so():
    """UI-18"""
    assert not unmerged(team())
    assert unmerged(told(team(), *APART))


@pytest.mark.parametrize(
    ("status", "left"),
    [("merged", False), ("nothing_to_merge", False), ("conflict", True), ("failed", True), ("unknown", True)],
)
def test_a_merge_that_a_person_asked_for_leaves_what_it_did_not_merge(status: MergeStatus, left: bool):
    """UI-18"""
    assert unmerged(told(team(), *APART, (SubagentMerged(status=status), AT))) is left


def test_a_merge_of_its_parent_is_one_as_well_unless_it_failed():
    """UI-18"""
    asked = told(team(), *APART, (ASKED, CALL))
    assert unmerged(asked)
    assert unmerged(told(asked, (ToolFailed(code="merge_failed", message="These files are in conflict."), CALL)))
    again = told(asked, (ASKED, CALL), (ToolCompleted(output=Text(text="Merged.")), CALL))
    assert not unmerged(again)


def test_an_agent_that_continues_in_its_worktree_after_the_merge_is_unmerged():
    """UI-18"""
    merged = told(team(), *APART, (SubagentMerged(status="merged"), AT))
    assert unmerged(told(merged, (SubagentStarted(role="writer", group="local"), AT)))


def test_a_closed_child_whose_worktree_stays_is_not_merged():
    """UI-18: what was removed had nothing left to merge."""
    closed = told(team(), *APART, (SubagentClosed(worktree="/srv/.site-1", branch="worker-1", base="c"), AT))
    assert not unmerged(closed)
    kept = WarningRaised(code="worktree_kept", message="The worktree of writer-1 stays.")
    assert unmerged(told(closed, (kept, within(THREAD, agent="writer-1"))))
