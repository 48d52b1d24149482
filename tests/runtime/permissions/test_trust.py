"""Permissions that a folder's files request, and trust in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.permission import GetTrust, RevokeTrust, TrustWorkspace
from callboard.contracts.commands.settings import GetSettings, SettingsRead, UpdateSettings
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import PermissionEvaluated, Reason
from callboard.contracts.facts.tool import ToolRefused
from callboard.contracts.facts.turn import TurnStarted
from callboard.contracts.facts.workspace import SettingsChanged, WorkspaceTrusted
from tests.agents.files import write_agents
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, says, use_tool
from tests.runtime.rigs.trusted_folder import open_with_settings, read_trust, trust_folder, write_folder_settings

ALLOWS = "[[rules]]\nmatcher = 'Edit(**)'\nverdict = 'allow'\n"
WRITES = calls(use_tool("Write", file_path="made.txt", content="x\n"), says("Done."))


async def run_turn(rig: RuntimeRig, text: str = "go", **more: str) -> str:
    """Run a turn to its end and return its session."""
    turn = await rig.submit(text, **more)
    await rig.until(turn.session_id, "turn.completed")
    return turn.session_id


async def wait_evaluation(rig: RuntimeRig, session: str) -> PermissionEvaluated:
    fact = (await rig.until(session, "permission.evaluated")).fact
    assert isinstance(fact, PermissionEvaluated)
    return fact


async def test_an_untrusted_folders_rule_allows_nothing(tmp_path: Path) -> None:
    """SAFE-08"""
    async with open_with_settings(tmp_path, WRITES, ALLOWS) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "action.required")
        assert (await read_trust(rig)).state == "untrusted"
        assert not (rig.folder / "made.txt").exists()


async def test_a_trusted_folders_rule_applies_and_the_call_names_it(tmp_path: Path) -> None:
    async with open_with_settings(tmp_path, WRITES, ALLOWS) as rig:
        answer = await trust_folder(rig)
        evaluated = await wait_evaluation(rig, await run_turn(rig))
        assert evaluated.verdict == "allow"
        assert [check.reasons for check in evaluated.checks if check.name == "approval"] == [
            (Reason(code="rule_allows_folder_settings", parameters={"matcher": "Edit(**)"}),)
        ]
        read = await read_trust(rig)
        assert (read.state, read.trusted) == ("trusted", answer.trusted)
        record = (await rig.runtime.dependencies.store.facts.read(rig.workspace))[answer.sequence - 1]
        assert record.fact == WorkspaceTrusted(
            digest=answer.trusted,
            allowed=(".callboard/settings.toml: Edit(**) runs without asking",),
            reason="read it",
        )
        assert rig.runtime.workspaces.get(rig.workspace).rows()[0].trusted == answer.trusted


async def test_an_agents_change_of_folder_settings_grants_nothing_in_the_same_turn(tmp_path: Path) -> None:
    """SAFE-08: the change needs approval, and its permissions need trust."""
    wider = f"{ALLOWS}[[rules]]\nmatcher = 'Bash(touch *)'\nverdict = 'allow'\n"
    scenario = calls(
        use_tool("Write", file_path=".callboard/settings.toml", content=wider),
        use_tool("Write", file_path="made.txt", content="x\n"),
        says("Done."),
    )
    async with open_with_settings(tmp_path, scenario) as rig:
        write_folder_settings(rig.folder, ALLOWS)
        await trust_folder(rig)
        turn = await rig.submit("go")
        action = await rig.until(turn.session_id, "action.required")
        await rig.do(RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="approve"))
        await rig.until(turn.session_id, "action.required", count=2)
        assert (rig.folder / ".callboard" / "settings.toml").read_text() == wider
        assert (await read_trust(rig)).state == "changed"
        assert not (rig.folder / "made.txt").exists()


async def test_an_untrusted_folders_denial_applies(tmp_path: Path) -> None:
    """SAFE-08, CTL-05: a restriction needs no trust."""
    async with open_with_settings(tmp_path, WRITES, "[[rules]]\nmatcher = 'Write'\nverdict = 'deny'\n") as rig:
        session = await run_turn(rig, permission_mode="full")
        refused = await rig.until(session, "tool.refused")
        assert refused.fact == ToolRefused(
            code="rule_denied", message="A rule in the folder settings denies it: Write."
        )
        assert not (rig.folder / "made.txt").exists()


async def test_an_untrusted_folders_agent_runs_in_ask_at_most(tmp_path: Path) -> None:
    """SAFE-08"""
    async with open_with_settings(tmp_path, WRITES) as rig:
        write_agents(rig.folder, lead="tools: ['*']\npolicy: [Patch]\npermission_mode: full")
        turn = await rig.submit("go", permission_mode="full")
        started = await rig.until(turn.session_id, "turn.started")
        await rig.until(turn.session_id, "action.required")
        assert isinstance(started.fact, TurnStarted)
        assert started.fact.permission_mode == "ask"
        await trust_folder(rig)
        evaluated = await wait_evaluation(rig, await run_turn(rig, permission_mode="full"))
        assert evaluated.verdict == "allow"


async def test_revoking_trust_applies_to_a_running_turn(tmp_path: Path) -> None:
    """SAFE-08"""
    scenario = calls(
        use_tool("Write", file_path="a.txt", content="x\n"),
        use_tool("Bash", command="true"),
        use_tool("Write", file_path="b.txt", content="x\n"),
        says("Done."),
    )
    async with open_with_settings(tmp_path, scenario, ALLOWS) as rig:
        await trust_folder(rig)
        turn = await rig.submit("go")
        action = await rig.until(turn.session_id, "action.required")
        await rig.do(RevokeTrust(workspace_id=rig.workspace))
        assert (await read_trust(rig)).state == "untrusted"
        await rig.do(RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="reject"))
        await rig.until(turn.session_id, "action.required", count=2)
        assert (rig.folder / "a.txt").exists()
        assert not (rig.folder / "b.txt").exists()


async def test_trust_needs_the_shown_digest_and_a_request(tmp_path: Path) -> None:
    """SAFE-08"""
    async with open_with_settings(tmp_path, WRITES) as rig:
        with pytest.raises(Refusal) as nothing:
            await rig.do(TrustWorkspace(workspace_id=rig.workspace, digest="0" * 64))
        assert (await read_trust(rig)).state == "nothing"
        write_folder_settings(rig.folder, ALLOWS)
        digest = (await read_trust(rig)).digest
        write_folder_settings(rig.folder, ALLOWS.replace("**", "*"))
        with pytest.raises(Refusal) as changed:
            await rig.do(TrustWorkspace(workspace_id=rig.workspace, digest=digest))
        assert (nothing.value.code, changed.value.code) == ("nothing_to_trust", "trust_changed")
        assert changed.value.problem.field == "digest"
        assert len(await rig.runtime.dependencies.store.facts.read(rig.workspace)) == 1


async def test_trust_survives_a_restart_and_is_recorded_once(tmp_path: Path) -> None:
    async with open_with_settings(tmp_path, WRITES, ALLOWS) as rig:
        first = await trust_folder(rig)
        again = await trust_folder(rig)
        assert (again.trusted, again.sequence) == (first.trusted, first.sequence)
    async with open_with_settings(tmp_path, WRITES, ALLOWS) as rig:
        assert (await read_trust(rig)).state == "trusted"


async def test_a_settings_change_is_a_command_and_its_fact_has_no_values(tmp_path: Path) -> None:
    async with open_with_settings(tmp_path, WRITES) as rig:
        query = GetSettings(place="folder", workspace_id=rig.workspace)
        read: SettingsRead = await rig.do(query)
        changes = {"rules": [{"matcher": "Write", "verdict": "deny"}]}
        updated = await rig.do(
            UpdateSettings(place="folder", workspace_id=rig.workspace, changes=changes, digest=read.digest), key="k"
        )
        again = await rig.do(
            UpdateSettings(place="folder", workspace_id=rig.workspace, changes=changes, digest=read.digest), key="k"
        )
        assert again == updated
        record = (await rig.runtime.dependencies.store.facts.read(rig.workspace))[-1]
        assert record.fact == SettingsChanged(place="folder", keys=("rules",), digest=updated.digest)
        assert (await rig.do(query)).digest == updated.digest
        await rig.until(await run_turn(rig), "tool.refused")


async def test_an_invalid_setting_leaves_no_fact_and_no_file(tmp_path: Path) -> None:
    """SAFE-05"""
    async with open_with_settings(tmp_path, WRITES) as rig:
        with pytest.raises(Refusal) as caught:
            await rig.do(UpdateSettings(place="folder", workspace_id=rig.workspace, changes={"port": 1}, digest=""))
        assert (caught.value.code, caught.value.problem.field) == ("bad_settings", "changes.port")
        assert len(await rig.runtime.dependencies.store.facts.read(rig.workspace)) == 1
        assert not (rig.folder / ".callboard").exists()


async def test_an_unreadable_settings_file_is_reported_with_its_place(tmp_path: Path) -> None:
    """SAFE-05, UI-26"""
    async with open_with_settings(tmp_path, WRITES, "[[rules]]\nmatcher = 'Write'\n") as rig:
        read = await rig.do(GetTrust(workspace_id=rig.workspace))
        assert [(problem.file, problem.field) for problem in read.problems] == [
            (".callboard/settings.toml", "rules.0.verdict")
        ]
