"""Rules that are added, listed, tried and revoked; permission previews; answers of policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.action import ActionAnswered, RespondAction
from callboard.contracts.commands.permission import (
    AddRule,
    DryRunCall,
    DryRunResult,
    DryRunRule,
    DryRunRules,
    EvaluatePermission,
    ListRules,
    PermissionEvaluation,
    ResolvePermission,
    RevokeRule,
    RuleChanged,
    RuleList,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import PermissionRuleAdded
from callboard.contracts.facts.tool import ToolRefused
from callboard.contracts.scope import Actor
from callboard.contracts.settings import RuleEntry
from tests.agents.files import write_agents
from tests.runtime.rigs.runtime_rig import MovableClock, RuntimeRig, calls, open_runtime, says, use_tool
from tests.runtime.rigs.trusted_folder import open_with_settings

WRITE = use_tool("Write", file_path="a.txt", content="x\n")
TWICE = calls(WRITE, use_tool("Write", file_path="b.txt", content="x\n"), says("Done."))
HOUR = 3600


async def list_rules(rig: RuntimeRig, session: str | None = None) -> list[tuple[str, str, str]]:
    """Return the listed rules: matcher, scope, and why a rule is not in force."""
    workspace = None if session else rig.workspace
    rules_read: RuleList = await rig.do(ListRules(workspace_id=workspace, session_id=session))
    return [(rule.matcher, rule.scope, rule.held_back) for rule in rules_read.rules]


async def test_a_persons_rule_applies_in_the_workspace_until_revoked(tmp_path: Path) -> None:
    async with open_runtime(tmp_path, calls(WRITE, WRITE, says("Done."))) as rig:
        added: RuleChanged = await rig.do(
            AddRule(workspace_id=rig.workspace, matcher="Edit(a.txt)", verdict="allow"), key="k"
        )
        assert (
            await rig.do(AddRule(workspace_id=rig.workspace, matcher="Edit(a.txt)", verdict="allow"), key="k") == added
        )
        assert await list_rules(rig) == [("Edit(a.txt)", "workspace", "")]
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "tool.completed", count=2)
        await rig.do(RevokeRule(workspace_id=rig.workspace, rule_id=added.rule_id))
        assert await list_rules(rig) == []


async def test_a_session_rule_applies_only_in_that_session(tmp_path: Path) -> None:
    async with open_runtime(tmp_path, TWICE) as rig:
        turn = await rig.submit("go")
        action = await rig.until(turn.session_id, "action.required")
        added = await rig.do(AddRule(session_id=turn.session_id, matcher="Write(b.txt)", verdict="deny"))
        await rig.do(RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="approve"))
        await rig.until(turn.session_id, "tool.refused")
        assert await list_rules(rig, turn.session_id) == [("Write(b.txt)", "session", "")]
        assert await list_rules(rig) == []
        await rig.until(turn.session_id, "turn.completed")
        await rig.do(RevokeRule(session_id=turn.session_id, rule_id=added.rule_id))
        assert await list_rules(rig, turn.session_id) == []


@pytest.mark.parametrize("where", ["workspace", "session"])
async def test_an_unknown_rule_cannot_be_revoked(tmp_path: Path, where: str) -> None:
    """SAFE-05"""
    async with open_runtime(tmp_path, calls(says("Done."))) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        named = {"session_id": turn.session_id} if where == "session" else {"workspace_id": rig.workspace}
        with pytest.raises(Refusal) as caught:
            await rig.do(RevokeRule(rule_id="rul_1", **named))
        assert (caught.value.code, caught.value.problem.field) == ("unknown_rule", "ruleId")


async def test_an_expired_rule_does_not_apply(tmp_path: Path) -> None:
    """CTL-04"""
    clock = MovableClock()
    async with open_runtime(tmp_path, TWICE, clock=clock) as rig:
        turn = await rig.submit("go")
        action = await rig.until(turn.session_id, "action.required")
        until = clock.now() + HOUR * 1_000_000
        await rig.do(
            RespondAction(
                session_id=turn.session_id,
                action_id=action.scope.action,
                decision="approve",
                scope="session",
                expires_at=until,
            )
        )
        added = await rig.until(turn.session_id, "permission.rule.added")
        assert isinstance(added.fact, PermissionRuleAdded)
        assert added.fact.rule.expires_at == until
        assert await list_rules(rig, turn.session_id) == [("Edit(a.txt)", "session", "")]
        clock.move(HOUR + 1)
        assert await list_rules(rig, turn.session_id) == [("Edit(a.txt)", "session", "expired")]
        preview: PermissionEvaluation = await rig.do(
            EvaluatePermission(
                session_id=turn.session_id, tool="Write", arguments='{"file_path": "a.txt", "content": "y\\n"}'
            )
        )
        assert preview.verdict == "ask"


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"matcher": "Bash(ls"}, "matcher"),
        ({"matcher": "Edit()"}, "matcher"),
        ({"matcher": "(x)"}, "matcher"),
        ({"expires_at": 1}, "expiresAt"),
        ({"workspace_id": None}, "workspaceId"),
    ],
)
async def test_an_invalid_matcher_is_refused_with_its_field(
    tmp_path: Path, more: dict[str, object], field: str
) -> None:
    """SAFE-05"""
    async with open_runtime(tmp_path, calls(says("Done."))) as rig:
        fields: dict[str, Any] = {"workspace_id": rig.workspace, "matcher": "Edit(a)", "verdict": "allow", **more}
        with pytest.raises(Refusal) as caught:
            await rig.do(AddRule(**fields))
        assert (caught.value.code, caught.value.problem.field) == ("invalid_input", field)
        assert await list_rules(rig) == []


async def test_rules_of_files_are_listed_with_why_they_are_not_in_force(tmp_path: Path) -> None:
    """SAFE-08"""
    folder = "[[rules]]\nmatcher = 'Edit(x)'\nverdict = 'allow'\n[[rules]]\nmatcher = 'Read(y)'\nverdict = 'deny'\n"
    user = "[[rules]]\nmatcher = 'Bash(curl *)'\nverdict = 'ask'\n"
    async with open_with_settings(tmp_path, calls(says("Done.")), folder, user) as rig:
        assert await list_rules(rig) == [
            ("Bash(curl *)", "user_settings", ""),
            ("Edit(x)", "folder_settings", "the folder is not trusted for the present requests of its files"),
            ("Read(y)", "folder_settings", ""),
        ]


async def test_a_dry_run_reports_what_rules_would_decide_and_changes_nothing(tmp_path: Path) -> None:
    scenario = calls(
        use_tool("Read", file_path="notes.md"), WRITE, use_tool("Write", file_path=".git/x", content=""), says("Done.")
    )
    async with open_runtime(tmp_path, scenario) as rig:
        (rig.folder / "notes.md").write_text("x")
        turn = await rig.submit("go")
        for number in (1, 2):
            action = await rig.until(turn.session_id, "action.required", count=number)
            await rig.do(RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="reject"))
        await rig.until(turn.session_id, "turn.completed")
        before = await rig.facts(turn.session_id)
        requested = [record.scope.tool_call for record in before if record.header.type == "tool.requested"]
        tried: DryRunResult = await rig.do(
            DryRunRules(
                workspace_id=rig.workspace,
                rules=(
                    RuleEntry(matcher="Edit(**)", verdict="allow"),
                    RuleEntry(matcher="Read(*.md)", verdict="deny"),
                    RuleEntry(matcher="Bash", verdict="deny"),
                ),
            )
        )
        where = {"session_id": turn.session_id, "turn_id": turn.turn_id}
        assert tried == DryRunResult(
            sessions=1,
            calls=3,
            whole=True,
            unspoken=0,
            turned={"allowed": 1, "asked": 0, "denied": 1},
            rules=(
                DryRunRule(matcher="Edit(**)", verdict="allow", calls=2),
                DryRunRule(matcher="Read(*.md)", verdict="deny", calls=1),
                DryRunRule(matcher="Bash", verdict="deny", calls=0),
            ),
            examples=(
                DryRunCall(
                    tool_call_id=requested[1],
                    tool="Write",
                    subject="a.txt",
                    was="ask",
                    would="allow",
                    matcher="Edit(**)",
                    **where,
                ),
                DryRunCall(
                    tool_call_id=requested[0],
                    tool="Read",
                    subject="notes.md",
                    was="allow",
                    would="deny",
                    matcher="Read(*.md)",
                    **where,
                ),
            ),
        )
        assert await rig.facts(turn.session_id) == before


async def test_a_dry_run_refuses_an_invalid_matcher(tmp_path: Path) -> None:
    """SAFE-05"""
    async with open_runtime(tmp_path, calls(says("Done."))) as rig:
        with pytest.raises(Refusal) as caught:
            await rig.do(DryRunRules(workspace_id=rig.workspace, rules=(RuleEntry(matcher="Read(", verdict="deny"),)))
        assert (caught.value.code, caught.value.problem.field) == ("invalid_input", "rules.0.matcher")


async def test_a_permission_preview_lists_every_check_and_does_nothing(tmp_path: Path) -> None:
    """CTL-05"""
    async with open_runtime(tmp_path, calls(says("Done."))) as rig:
        preview: PermissionEvaluation = await rig.do(
            EvaluatePermission(
                workspace_id=rig.workspace, tool="Write", arguments='{"content":"x","file_path":"a.txt"}'
            )
        )
        assert (preview.verdict, preview.code, preview.message) == ("ask", None, "")
        assert [check.name for check in preview.checks] == [
            "hooks",
            "tools",
            "policy",
            "mode",
            "paths",
            "rules",
            "approval",
            "sandbox",
        ]
        assert preview.matchers == {"session": "Edit(a.txt)", "workspace": "Edit(a.txt)"}
        assert not (rig.folder / "a.txt").exists()
        assert await rig.runtime.dependencies.store.facts.list_streams("ses_") == ()
        outside = await rig.do(
            EvaluatePermission(workspace_id=rig.workspace, tool="Read", arguments='{"file_path":"../x"}')
        )
        assert (outside.verdict, outside.code, outside.checks[-1].name) == ("deny", "path_denied", "paths")


async def test_a_permission_preview_uses_the_named_agent(tmp_path: Path) -> None:
    async with open_runtime(tmp_path, calls(says("Done."))) as rig:
        write_agents(rig.folder, lead="tools: ['*']\npolicy: [Patch]", reader="kind: subagent\ntools: [Read]")
        call: dict[str, Any] = {
            "tool": "Write",
            "arguments": '{"content":"x","file_path":"a.txt"}',
            "workspace_id": rig.workspace,
        }
        assert (await rig.do(EvaluatePermission(**call))).agent == "lead"
        preview = await rig.do(EvaluatePermission(agent="reader", **call))
        assert (preview.verdict, preview.code) == ("deny", "tool_not_listed")
        with pytest.raises(Refusal) as caught:
            await rig.do(EvaluatePermission(agent="ghost", **call))
        assert caught.value.code == "unknown_agent"


async def test_a_policy_answers_once_under_its_own_name(tmp_path: Path) -> None:
    """CTL-04, CTL-05"""
    async with open_runtime(tmp_path, TWICE) as rig:
        turn = await rig.submit("go")
        action = await rig.until(turn.session_id, "action.required")
        resolve = ResolvePermission(
            session_id=turn.session_id,
            action_id=action.scope.action,
            decision="reject",
            policy="opa/main",
            reason="not on a Friday",
        )
        answered: ActionAnswered = await rig.do(resolve)
        assert (answered.outcome, answered.first) == ("rejected", True)
        resolved = await rig.until(turn.session_id, "action.resolved")
        assert resolved.header.actor == Actor(kind="policy", id="opa/main")
        refused = await rig.until(turn.session_id, "tool.refused")
        message = "The policy opa/main rejected the call: not on a Friday"
        assert refused.fact == ToolRefused(code="policy_denied", message=message)
        assert not (rig.folder / "a.txt").exists()
        second = await rig.do(
            RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="approve")
        )
        assert (second.outcome, second.first) == ("rejected", False)


async def test_a_policy_can_grant_only_what_the_action_offers(tmp_path: Path) -> None:
    """SAFE-08"""
    scenario = calls(use_tool("Write", file_path="agents/x.md", content="x"), says("Done."))
    async with open_runtime(tmp_path, scenario) as rig:
        turn = await rig.submit("go", permission_mode="full")
        action = await rig.until(turn.session_id, "action.required")
        with pytest.raises(Refusal) as caught:
            await rig.do(
                ResolvePermission(
                    session_id=turn.session_id,
                    action_id=action.scope.action,
                    decision="approve",
                    scope="workspace",
                    policy="opa",
                )
            )
        assert caught.value.code == "scope_not_offered"
        assert not (rig.folder / "agents").exists()
