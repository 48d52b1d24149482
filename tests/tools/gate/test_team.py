"""Restrictions of a team's agents, and the rows of their calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.facts.permission import Check
from callboard.tools.gate import stations
from callboard.tools.gate.call_context import GateEnvironment
from callboard.tools.sandbox.ability import SandboxAbility
from tests.tools.rigs.calls import Agent, call, read_tree, to_english_checks

BARE = GateEnvironment(SandboxAbility("", problem="bubblewrap (bwrap) is not installed"))


@pytest.mark.parametrize("limit", [{"work_globs": ("docs/**", "*.md")}, {"parent_globs": ("docs/**", "*.md")}])
async def test_a_change_outside_the_globs_is_denied_with_them(agent: Agent, limit: dict[str, Any]):
    """Subagents specification, Isolation."""
    restricted = agent.with_context(**limit)
    before = read_tree(agent.folder)

    outside = await restricted.evaluate("Write", file_path="src/new.py", content="x")

    assert (outside.verdict, outside.code) == ("deny", "path_denied")
    assert outside.message == "src/new.py is outside of where this agent may write: docs/**, *.md."
    assert to_english_checks(outside.checks)[-1] == Check(name="paths", verdict="deny", detail=outside.message)
    assert read_tree(agent.folder) == before
    edit = await restricted.evaluate("Edit", file_path="src/app.py", old_string="one", new_string="1")
    assert edit.code == "path_denied"
    assert (await restricted.evaluate("Write", file_path="docs/a/b.md", content="x")).verdict == "allow"
    assert (
        await restricted.evaluate("Edit", file_path="README.md", old_string="Tide", new_string="Tides")
    ).verdict == "allow"
    assert (await restricted.evaluate("Read", file_path="src/app.py")).verdict == "allow"


async def test_the_parents_globs_restrict_the_definitions_globs(agent: Agent):
    restricted = agent.with_context(work_globs=("docs/**",), parent_globs=("**/*.md",))

    assert (await restricted.evaluate("Write", file_path="docs/a.md", content="x")).verdict == "allow"
    assert (await restricted.evaluate("Write", file_path="docs/a.py", content="x")).code == "path_denied"
    assert (await restricted.evaluate("Write", file_path="a.md", content="x")).code == "path_denied"


async def test_a_read_only_agent_changes_nothing(agent: Agent):
    """MAR-05"""
    reader = agent.with_context(read_only=True)

    for tool, arguments in (
        ("Write", {"file_path": "a.md", "content": "x"}),
        ("Edit", {"file_path": "README.md", "old_string": "Tide", "new_string": "T"}),
        ("merge_subagent", {"agent": "worker-1"}),
    ):
        assert (await reader.evaluate(tool, **arguments)).code == "policy_denied"
    assert (await reader.evaluate("Read", file_path="README.md")).verdict == "allow"


@pytest.mark.parametrize("limit", [{"read_only": True}, {"work_globs": ("docs/**",)}, {"parent_globs": ("docs/**",)}])
async def test_a_restricted_agents_command_has_a_read_only_folder(agent: Agent, limit: dict[str, Any]):
    """MAR-05"""
    restricted = agent.with_context(**limit)
    evaluation = await restricted.evaluate("Bash", command="touch docs-new src/new")

    assert evaluation.sandbox is not None
    assert (evaluation.sandbox.level, evaluation.sandbox.writable) == ("bubblewrap", ())
    outcome = await restricted.call("Bash", command="mkdir -p docs; touch docs/new src/new; ls src")
    assert outcome.output.splitlines()[-1] == "app.py"
    assert not (agent.folder / "docs").exists()


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"read_only": True}, "The agent only reads, and no sandbox here can stop a command from writing"),
        (
            {"work_globs": ("docs/**",)},
            "The agent may write only in docs/**, and no sandbox here can confine a command to that",
        ),
    ],
)
def test_a_restricted_agents_command_is_denied_without_a_sandbox(agent: Agent, limit: dict[str, Any], reason: str):
    """MAR-05"""
    evaluation = stations.evaluate(call("Bash", command="ls"), agent.with_context(**limit).context, BARE)

    assert evaluation.code == "policy_denied"
    assert evaluation.message == (f"{reason} (bubblewrap (bwrap) is not installed).")


@pytest.mark.parametrize(
    ("mode", "verdict"), [("ask", "ask"), ("edits", "allow"), ("full", "allow"), ("planning", "deny")]
)
async def test_a_merge_counts_as_a_change(agent: Agent, mode: str, verdict: str):
    evaluation = await agent.with_context(permission_mode=mode).evaluate("merge_subagent", agent="worker-1")

    assert (evaluation.verdict, evaluation.read_only) == (verdict, False)
    if verdict == "ask":
        assert (evaluation.prompt, evaluation.risk, evaluation.scopes) == (
            "merge_subagent worker-1?",
            "medium",
            ("once",),
        )


async def test_an_agent_with_globs_cannot_merge(agent: Agent):
    assert (
        await agent.with_context(work_globs=("docs/**",)).evaluate("merge_subagent", agent="worker-1")
    ).code == "policy_denied"


async def test_a_merge_requires_patch(agent: Agent):
    """MAR-05"""
    assert (
        await agent.with_context(policy=("Delegate",)).evaluate("merge_subagent", agent="worker-1")
    ).code == "policy_denied"


@pytest.mark.parametrize(
    ("tool", "arguments", "summary"),
    [
        ("spawn_subagent", {"agent": "worker", "objective": "Read\nall."}, "spawn_subagent worker: Read all."),
        ("spawn_subagent", {"agent": "worker", "objective": "x", "title": "Docs"}, "spawn_subagent worker: Docs"),
        ("send_subagent_input", {"agent": "worker-1", "text": "more"}, "send_subagent_input worker-1: more"),
        ("wait_subagents", {}, "wait_subagents all children"),
        (
            "wait_subagents",
            {"agents": ["a", "b"], "mode": "any", "timeoutS": 5},
            "wait_subagents any of a, b, at most 5 s",
        ),
        ("cancel_subagent", {"agent": "worker-1", "reason": "late"}, "cancel_subagent worker-1: late"),
        ("close_subagent", {"agent": "worker-1"}, "close_subagent worker-1"),
        ("list_subagents", {}, "list_subagents"),
        ("send_handoff", {"to": "reviewer", "message": "Done."}, "send_handoff → reviewer: Done."),
        (
            "respond_handoff",
            {"handoffId": "hnd_1", "decision": "reject", "reason": "no"},
            "respond_handoff reject hnd_1: no",
        ),
        ("send_message", {"to": ["a", "b"], "text": "hi"}, "send_message → a, b: hi"),
        (
            "request_review",
            {"reviewer": "critic", "target": "worker-1"},
            "request_review → critic: the work of worker-1",
        ),
        ("submit_verdict", {"agent": "worker-1", "verdict": "passed"}, "submit_verdict worker-1: passed"),
        ("create_task", {"title": "Docs"}, "create_task Docs"),
        ("update_task", {"taskId": "tsk_1", "status": "done"}, "update_task tsk_1: done"),
    ],
)
async def test_the_row_describes_a_team_call(folder: Path, tool: str, arguments: dict[str, Any], summary: str):
    agent = Agent(folder, policy=("Delegate", "Patch"))
    assert (await agent.evaluate(tool, **arguments)).summary == summary
