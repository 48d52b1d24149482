"""Agents of a real folder in the real runtime."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.tool import ToolRefused
from callboard.contracts.facts.turn import TurnStarted
from tests.agents.files import definition_file, write_agents
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says, use_tool


async def list_started(rig: RuntimeRig, session: str) -> list[TurnStarted]:
    return [record.fact for record in await rig.facts(session) if isinstance(record.fact, TurnStarted)]


async def test_a_new_definition_leads_the_next_session(tmp_path: Path) -> None:
    """MAR-01"""
    agents = FolderDefinitions()
    async with open_runtime(tmp_path, calls(says("One."), says("Two."), says("Three.")), agents) as rig:
        first = await rig.submit("Go")
        await rig.until(first.session_id, "turn.completed")
        write_agents(rig.folder, lead=definition_file("name: lead\ntools: [Read]\nmax_iters: 3", "You read."))
        second = await rig.submit("Go")
        await rig.until(second.session_id, "turn.completed")
        await rig.submit("Go on", first.session_id)
        await rig.until(first.session_id, "turn.completed", count=2)
        assert [turn.definition for turn in await list_started(rig, first.session_id)] == ["solo", "solo"]
        (lead_turn,) = await list_started(rig, second.session_id)
        assert (lead_turn.definition, lead_turn.max_iters, lead_turn.tools) == ("lead", 3, ("Read",))
        assert lead_turn.definition_hash == agents.find_lead(str(rig.folder)).hash


async def test_a_changed_definition_applies_from_the_next_turn(tmp_path: Path) -> None:
    """MAR-01, MAR-03"""
    scenario = calls(says("One."), use_tool("Read", file_path="agents/lead.md"), says("Two."))
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_agents(rig.folder, lead=definition_file("name: lead\ntools: [Read]"))
        session = (await rig.submit("Go")).session_id
        await rig.until(session, "turn.completed")
        write_agents(rig.folder, lead=definition_file("name: lead\ntools: [Glob]"))
        await rig.submit("Go on", session)
        await rig.until(session, "turn.completed", count=2)
        assert [turn.tools for turn in await list_started(rig, session)] == [("Read",), ("Glob",)]
        refused = [record.fact for record in await rig.facts(session) if isinstance(record.fact, ToolRefused)]
        assert [fact.code for fact in refused] == ["tool_not_listed"]


async def test_without_a_valid_lead_a_new_session_is_refused_with_the_reason(tmp_path: Path) -> None:
    """MAR-02"""
    async with open_runtime(tmp_path, calls(says("One.")), FolderDefinitions()) as rig:
        write_agents(rig.folder, lead="name: lead\ntools: Read")
        with pytest.raises(Refusal) as caught:
            await rig.submit("Go")
        assert caught.value.code == "bad_definition"
        assert "agents/lead.md:3: `tools` must be a list; it is `Read`." in caught.value.problem.message
        write_agents(rig.folder, lead="name: lead\ntools: [Read]")
        session = (await rig.submit("Go")).session_id
        await rig.until(session, "turn.completed")
