"""Agents defined by an agent: approved, limited to their creator's permissions, and kept over a
restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.exchange.handoff import HandoffRequested
from callboard.contracts.facts.permission import PermissionEvaluated
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.subagent import WorkerNotification
from callboard.contracts.facts.tool import ToolRefused
from callboard.contracts.facts.turn import TurnStarted
from tests.agents.files import definition_file
from tests.runtime.rigs.runtime_rig import RuntimeRig, open_runtime, says, use_tool
from tests.runtime.rigs.team import list_facts, plays, wait_fact, write_crew

MAKER = definition_file(
    "name: lead\nlead: true\ntools: ['*']\npolicy: [Patch, Finalize, Delegate]\nwork_globs: [docs/**]\n"
    "capabilities: [spawn, edge]",
    "You lead.",
)
DEFINE = use_tool(
    "define_agent", name="painter", description="Paints.", prompt="You paint.", tools=["Write"], policy=["Patch"]
)
WAIT = use_tool("wait_subagents")


def paint(objective: str) -> list[dict[str, Any]]:
    return use_tool("spawn_subagent", agent="painter", objective=objective)


async def approve(rig: RuntimeRig, session: str, nth: int = 1) -> ActionRequired:
    action = await rig.until(session, "action.required", nth)
    await rig.do(RespondAction(session_id=session, action_id=action.scope.action, decision="approve"))
    assert isinstance(action.fact, ActionRequired)
    return action.fact


async def wait_lead_turns(rig: RuntimeRig, session: str, turns: int = 1) -> None:
    ended_turns = 0

    def lead_is_done(record: Any) -> bool:
        nonlocal ended_turns
        ended_turns += record.header.type == "turn.completed" and record.scope.agent == "lead"
        return ended_turns == turns

    await wait_fact(rig, session, lead_is_done)


async def test_a_defined_agents_child_is_limited_to_the_approval_and_survives_a_restart(
    tmp_path: Path,
) -> None:
    """MAR-03, MAR-05: the gate denies tools outside its list and paths outside its creator's globs."""
    write = use_tool("Write", file_path="docs/a.md", content="red\n")
    scenario = plays(
        ("lead", "go", [DEFINE, paint("the door"), WAIT, says("Painted.")]),
        ("lead", "again", [paint("the wall"), WAIT, says("Painted again.")]),
        (
            "painter",
            "the door",
            [
                use_tool("Read", file_path="docs/a.md"),
                use_tool("Write", file_path="src/a.py", content="x\n"),
                write,
                says("Red."),
            ],
        ),
        ("painter", "the wall", [says("White.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig, lead=MAKER)
        session = (await rig.submit("go", permission_mode="full")).session_id
        action = await approve(rig, session)
        await wait_lead_turns(rig, session)
        refused = [fact.code for fact in await list_facts(rig, session, ToolRefused)]
        asks = [fact.verdict for fact in await list_facts(rig, session, PermissionEvaluated)].count("ask")
        (notification,) = await list_facts(rig, session, WorkerNotification)
        assert (rig.folder / "docs" / "a.md").read_text() == "red\n"
        assert not (rig.folder / "agents" / "painter.md").exists()
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        await rig.submit("again", session, permission_mode="full")
        await wait_lead_turns(rig, session, 2)
        opened = [fact for fact in await list_facts(rig, session, ThreadOpened) if fact.definition == "painter"]
        started = [fact for fact in await list_facts(rig, session, TurnStarted) if fact.definition == "painter"]
        other = (await rig.submit("go", permission_mode="full")).session_id
        await rig.until(other, "action.required")
        defined = [record.header.type for record in await rig.facts(other) if record.header.type == "agent.defined"]

    assert action.preview is not None
    assert action.preview.text.startswith('---\nname: "painter"\n')
    assert (refused, asks, notification.status) == (["tool_not_listed", "path_denied"], 1, "completed")
    assert len({entry.definition_hash for entry in (*opened, *started)}) == 1
    assert (len(opened), len(started), defined) == (2, 2, [])


async def test_a_handoff_over_a_defined_edge_reaches_its_receiver(tmp_path: Path) -> None:
    """COM-01, COM-02."""
    edge = use_tool("add_edge", to="critic")
    hand = use_tool("send_handoff", to="critic", message="Look at it.")
    scenario = plays(
        ("lead", "go", [hand, edge, hand, says("Handed over.")]),
        ("critic", "Look at it.", [says("Seen.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig, lead=MAKER, critic=definition_file("name: critic\ntools: ['*']\npolicy: [Patch]"))
        session = (await rig.submit("go", permission_mode="full")).session_id
        await approve(rig, session)
        done = await wait_fact(
            rig, session, lambda record: record.header.type == "turn.completed" and record.scope.agent == "critic"
        )
        refused = [fact.code for fact in await list_facts(rig, session, ToolRefused)]
        (sent,) = await list_facts(rig, session, HandoffRequested)

    assert (refused, sent.source, sent.target, done.scope.agent) == (["no_edge"], "lead", "critic", "critic")


async def test_an_agent_without_the_capability_has_no_tools_and_no_permission(tmp_path: Path) -> None:
    scenario = plays(("lead", "go", [DEFINE, use_tool("add_edge", to="clerk"), says("Then not.")]))
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        session = (await rig.submit("go", permission_mode="full")).session_id
        await wait_lead_turns(rig, session)
        refused = [fact.code for fact in await list_facts(rig, session, ToolRefused)]
        (started,) = await list_facts(rig, session, TurnStarted)
        types = await rig.types(session)

    assert refused == ["capability_missing", "capability_missing"]
    assert not {"define_agent", "add_edge"} & set(started.tools)
    assert "action.required" not in types
