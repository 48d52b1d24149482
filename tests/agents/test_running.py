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


async def list_started(home: RuntimeRig, session: str) -> list[TurnStarted]:
    return [record.fact for record in await home.facts(session) if isinstance(record.fact, TurnStarted)]


async def test_a_new_definition_leads_the_next_session(tmp_path: Path) -> None:
    """MAR-01"""
    agents = FolderDefinitions()
    async with open_runtime(tmp_path, calls(says("One."), says("Two."), says("Three.")), agents) as home:
        first = await home.submit("Go")
        await home.until(first.session_id, "turn.completed")
        write_agents(home.folder, lead=definition_file("name: lead\ntools: [Read]\nmax_iters: 3", "You read."))
        second = await home.submit("Go")
        await home.until(second.session_id, "turn.completed")
        await home.submit("Go on", first.session_id)
        await home.until(first.session_id, "turn.completed", count=2)
        assert [turn.definition for turn in await list_started(home, first.session_id)] == ["solo", "solo"]
        (lead_turn,) = await list_started(home, second.session_id)
        assert (lead_turn.definition, lead_turn.max_iters, lead_turn.tools) == ("lead", 3, ("Read",))
        assert lead_turn.definition_hash == agents.find_lead(str(home.folder)).hash


async def test_a_changed_definition_applies_from_the_next_turn(tmp_path: Path) -> None:
    """MAR-01, MAR-03"""
    scenario = calls(says("One."), use_tool("Read", file_path="agents/lead.md"), says("Two."))
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as home:
        write_agents(home.folder, lead=definition_file("name: lead\ntools: [Read]"))
        session = (await home.submit("Go")).session_id
        await home.until(session, "turn.completed")
        write_agents(home.folder, lead=definition_file("name: lead\ntools: [Glob]"))
        await home.submit("Go on", session)
        await home.until(session, "turn.completed", count=2)
        assert [turn.tools for turn in await list_started(home, session)] == [("Read",), ("Glob",)]
        refused = [record.fact for record in await home.facts(session) if isinstance(record.fact, ToolRefused)]
        assert [fact.code for fact in refused] == ["tool_not_listed"]


async def test_without_a_valid_lead_a_new_session_is_refused_with_the_reason(tmp_path: Path) -> None:
    """MAR-02"""
    async with open_runtime(tmp_path, calls(says("One.")), FolderDefinitions()) as home:
        write_agents(home.folder, lead="name: lead\ntools: Read")
        with pytest.raises(Refusal) as caught:
            await home.submit("Go")
        assert caught.value.code == "bad_definition"
        assert "agents/lead.md:3: `tools` must be a list; it is `Read`." in caught.value.problem.message
        write_agents(home.folder, lead="name: lead\ntools: [Read]")
        session = (await home.submit("Go")).session_id
        await home.until(session, "turn.completed")
