"""Tool servers (MCP) in sessions: gated calls, questions as actions, and catalogs as facts."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from callboard.agents.folder import FolderDefinitions
from callboard.app.settings.settings_files import SettingsFiles
from callboard.app.state_folder import StateFolder
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.tool import (
    GetToolInventory,
    ListServers,
    ReconnectServer,
    ServerChanged,
    ServerList,
    ToolInventory,
)
from callboard.contracts.commands.turn import InterruptTurn
from callboard.contracts.entities.tool_inventory import ToolInfo
from callboard.contracts.facts.action import ActionRequired, ActionWithdrawn
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.permission import PermissionEvaluated, PermissionRuleAdded
from callboard.contracts.facts.tool import (
    ToolCatalogResolved,
    ToolCompleted,
    ToolFailed,
    ToolServerConnected,
    ToolServerLost,
)
from callboard.contracts.rows.tool import ToolPart
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says, use_tool
from tests.runtime.rigs.team import list_facts
from tests.tools.mcp.servers import SCRIPTED, read_calls


@asynccontextmanager
async def open_with_server(
    place: Path, scenario: dict[str, Any], *more: str, deferred: bool = False
) -> AsyncIterator[RuntimeRig]:
    """Yield a runtime whose user settings have the server of `scripted_server.py` and these lines."""
    state = place / "home"
    state.mkdir(exist_ok=True)
    command = json.dumps([sys.executable, "-I", "-S", SCRIPTED, str(place / "calls")])
    own = ["[[servers]]", 'name = "scripted"', 'transport = "stdio"', f"command = {command}"]
    own.append(f"deferred = {str(deferred).lower()}")
    (state / "settings.toml").write_text("\n".join([*own, *more]))
    environment = {"CALLBOARD_HOME": str(state)}
    settings = SettingsFiles(
        StateFolder.from_environment(environment), environment, FolderDefinitions(), lambda _: None
    )
    async with open_runtime(place, scenario, settings=settings) as rig:
        yield rig


async def answer_question(rig: RuntimeRig, session: str, decision: Any, **more: Any) -> ActionRequired:
    """Answer the question as a person."""
    action = await rig.until(session, "action.required")
    assert isinstance(action.fact, ActionRequired)
    await rig.do(RespondAction(session_id=session, action_id=action.scope.action, decision=decision, **more))
    return action.fact


async def read_catalogs(rig: RuntimeRig, session: str) -> list[dict[str, ToolInfo]]:
    """Return the catalogs that a session's facts name."""
    tool_catalogs: list[dict[str, ToolInfo]] = []
    for fact in await list_facts(rig, session, ToolCatalogResolved):
        data = await rig.runtime.dependencies.store.blobs.get(fact.catalog.hash)
        assert data is not None
        tool_catalogs.append({entry.name: entry for entry in msgspec.json.decode(data, type=list[ToolInfo])})
    return tool_catalogs


async def test_a_servers_tool_runs_once_after_approval(tmp_path: Path) -> None:
    """CTL-04, X10: the same gate. The server's read-only hint allows nothing and lowers no risk."""
    async with open_with_server(tmp_path, calls(use_tool("mcp__scripted__echo", text="hello"), says("Done."))) as rig:
        session = (await rig.submit("go")).session_id
        action = await answer_question(rig, session, "approve", scope="session")
        await rig.until(session, "turn.completed")
        assert (action.tool, action.risk, action.matchers["session"]) == (
            "mcp__scripted__echo",
            "medium",
            "mcp__scripted__echo",
        )
        (added,) = await list_facts(rig, session, PermissionRuleAdded)
        assert action.binding is not None
        assert (added.rule.declared, len(added.rule.declared)) == (action.binding.declared, 64)
        assert [fact.output.text for fact in await list_facts(rig, session, ToolCompleted)] == ["hello"]
        types = await rig.types(session)
        assert types[types.index("tool.started") - 1] == "sandbox.applied"
        (there,) = await list_facts(rig, session, ToolServerConnected)
        assert (there.server, there.title, there.version, there.protocol) == (
            "scripted",
            "Scripted",
            "1.0",
            "2025-06-18",
        )


async def test_a_changed_catalog_is_a_fact(tmp_path: Path) -> None:
    async with open_with_server(tmp_path, {"calls": [says("One."), says("Two.")]}) as rig:
        session = (await rig.submit("one")).session_id
        await rig.until(session, "turn.completed")
        await rig.submit("two", session)
        await rig.until(session, "turn.completed", 2)
        (catalog,) = await read_catalogs(rig, session)
        assert catalog["mcp__scripted__echo"] == ToolInfo(
            name="mcp__scripted__echo",
            source="mcp:scripted",
            availability="loaded",
            description="Does echo.",
            read_only=True,
            concurrency="parallel",
            interruption="asked",
        )
        assert (catalog["Finalize"].availability, catalog["Finalize"].reason) == (
            "excluded",
            "It is available in auto mode only.",
        )


async def test_deferred_tools_are_sent_after_a_search(tmp_path: Path) -> None:
    scenario = calls(use_tool("FindTools", query="echo"), use_tool("mcp__scripted__echo", text="found"), says("Done."))
    async with open_with_server(tmp_path, scenario, deferred=True) as rig:
        session = (await rig.submit("go", permission_mode="full")).session_id
        await rig.until(session, "turn.completed")
        first, second = await read_catalogs(rig, session)
        assert [entry["mcp__scripted__echo"].availability for entry in (first, second)] == ["deferred", "loaded"]
        assert [fact.added for fact in await list_facts(rig, session, ToolCatalogResolved)] == [
            (),
            ("mcp__scripted__echo",),
        ]
        assert [fact.output.text for fact in await list_facts(rig, session, ToolCompleted)][-1] == "found"


async def test_a_servers_question_during_a_call_is_an_action_of_the_call(tmp_path: Path) -> None:
    """CTL-05, UI-24: it is answered once, and the call continues with the answer."""
    async with open_with_server(tmp_path, calls(use_tool("mcp__scripted__ask"), says("Done."))) as rig:
        session = (await rig.submit("go", permission_mode="full")).session_id
        action = await answer_question(rig, session, "answer", answer="42")
        await rig.until(session, "turn.completed")
        assert (action.action_type, action.decisions, action.tool) == (
            "structured_input",
            ("answer", "reject"),
            "mcp__scripted__ask",
        )
        assert json.loads(action.arguments.text)["schema"]["required"] == ["size"]
        (done,) = await list_facts(rig, session, ToolCompleted)
        assert json.loads(done.output.text) == {"action": "accept", "content": {"size": 42}}
        types = await rig.types(session)
        assert types[types.index("action.required") - 1 :][:3] == ["tool.started", "action.required", "action.resolved"]


async def test_a_server_receives_a_rejection(tmp_path: Path) -> None:
    async with open_with_server(tmp_path, calls(use_tool("mcp__scripted__ask"), says("Done."))) as rig:
        session = (await rig.submit("go", permission_mode="full")).session_id
        await answer_question(rig, session, "reject")
        await rig.until(session, "turn.completed")
        (done,) = await list_facts(rig, session, ToolCompleted)
        assert json.loads(done.output.text) == {"action": "decline"}


async def test_an_interrupt_withdraws_a_servers_question(tmp_path: Path) -> None:
    """CTL-07: nothing of it continues."""
    async with open_with_server(tmp_path, calls(use_tool("mcp__scripted__ask"), says("Done."))) as rig:
        session = (await rig.submit("go", permission_mode="full")).session_id
        await rig.until(session, "action.required")
        await rig.do(InterruptTurn(session_id=session))
        await rig.until(session, "turn.interrupted")
        assert len(await list_facts(rig, session, ActionWithdrawn)) == 1
        assert (await rig.types(session))[-3:] == ["action.withdrawn", "tool.cancelled", "turn.interrupted"]


async def test_a_running_calls_progress_is_in_its_row(tmp_path: Path) -> None:
    """UI-09: it is shown as it arrives, and removed when the call ends."""
    scenario = calls(use_tool("mcp__scripted__count_and_hang"), says("Done."))
    async with open_with_server(tmp_path, scenario) as rig:
        session = (await rig.submit("go", permission_mode="full")).session_id
        table = await rig.watch(session, lambda table: any(row.done is not None for row in table.list_rows(ToolPart)))
        (row,) = table.list_rows(ToolPart)
        assert (row.state, row.total, row.message.endswith(" of 3")) == ("progress", 3.0, True)
        await rig.do(InterruptTurn(session_id=session))
        await rig.until(session, "turn.interrupted")


async def test_a_server_that_dies_fails_only_its_call_and_is_reported(tmp_path: Path) -> None:
    scenario = calls(use_tool("mcp__scripted__die"), use_tool("Read", file_path="a.txt"), says("Done."))
    async with open_with_server(tmp_path, scenario) as rig:
        (rig.folder / "a.txt").write_text("still here\n")
        session = (await rig.submit("go", permission_mode="full")).session_id
        await rig.until(session, "turn.completed")
        (failed,) = await list_facts(rig, session, ToolFailed)
        (lost,) = await list_facts(rig, session, ToolServerLost)
        assert (failed.code, lost.server, lost.code) == ("server_failed", "scripted", "server_failed")
        assert "exit code 7" in lost.message


async def test_without_patch_only_read_only_tools_are_available(tmp_path: Path) -> None:
    """MAR-05: also for servers."""
    async with open_with_server(tmp_path, calls(use_tool("mcp__scripted__wipe", text="all"), says("Done."))) as rig:
        agents = rig.folder / "agents"
        agents.mkdir()
        (agents / "reader.md").write_text(
            '---\nname: reader\nlead: true\ntools: ["mcp__scripted__*"]\n---\nYou read.\n'
        )
        session = (await rig.submit("go", permission_mode="full")).session_id
        await rig.until(session, "turn.completed")
        (denied,) = await list_facts(rig, session, PermissionEvaluated)
        assert (denied.verdict, denied.checks[-1].name) == ("deny", "policy")
        (catalog,) = await read_catalogs(rig, session)
        loaded = [entry.name for entry in catalog.values() if entry.availability == "loaded"]
        assert (loaded, read_calls(tmp_path)) == (["mcp__scripted__echo"], [])


async def test_the_inventory_and_servers_are_readable_and_a_server_reconnects(tmp_path: Path) -> None:
    async with open_with_server(tmp_path, calls(says("Hi."))) as rig:
        before: ServerList = await rig.do(ListServers(workspace_id=rig.workspace))
        inventory: ToolInventory = await rig.do(GetToolInventory(workspace_id=rig.workspace))
        after: ServerChanged = await rig.do(ReconnectServer(workspace_id=rig.workspace, server="scripted"))
        session = (await rig.submit("go")).session_id
        await rig.until(session, "turn.completed")
        of_thread: ToolInventory = await rig.do(GetToolInventory(session_id=session))
        assert [server.condition for server in before.servers] == ["idle"]
        assert [server.condition for server in inventory.servers] == ["connected"]
        assert after.server.condition == "connected"
        assert {tool.name for tool in inventory.tools} == {tool.name for tool in of_thread.tools}


async def test_read_only_calls_run_in_parallel_and_others_in_sequence(tmp_path: Path) -> None:
    """In auto: a change sees the result of the change before it."""
    both = [
        {"tool": {"name": "Write", "arguments": {"file_path": "a.txt", "content": "one\n"}}},
        {"tool": {"name": "Edit", "arguments": {"file_path": "a.txt", "old_string": "one", "new_string": "two"}}},
        {"tool": {"name": "Read", "arguments": {"file_path": "a.txt"}}},
        {"tool": {"name": "Read", "arguments": {"file_path": "a.txt"}}},
    ]
    async with open_runtime(tmp_path, calls(both, use_tool("Finalize", summary="Done."))) as rig:
        session = (await rig.submit("go", mode="auto", permission_mode="full")).session_id
        await rig.until(session, "turn.completed")
        types = [tag for tag in await rig.types(session) if tag in ("tool.started", "tool.completed", "tool.failed")]
        assert types[:4] == ["tool.started", "tool.completed"] * 2
        assert types[4:6] == ["tool.started", "tool.started"]
        assert "tool.failed" not in types
        assert (rig.folder / "a.txt").read_text() == "two\n"
        assert len(await list_facts(rig, session, ModelRequested)) == 2
