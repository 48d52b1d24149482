"""The agents of a real folder at work in the real runtime."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ToolRefused, TurnStarted
from tests.agents.given import file, write
from tests.runtime.rigs.house import House, calls, house, says, uses


async def started(home: House, session: str) -> list[TurnStarted]:
    return [record.fact for record in await home.facts(session) if isinstance(record.fact, TurnStarted)]


async def test_a_file_that_is_written_while_the_runtime_runs_leads_the_next_session(tmp_path: Path) -> None:
    """MAR-01"""
    agents = FolderDefinitions()
    async with house(tmp_path, calls(says("One."), says("Two."), says("Three.")), agents) as home:
        first = await home.submit("Go")
        await home.until(first.session_id, "turn.completed")
        write(home.folder, lead=file("name: lead\ntools: [Read]\nmax_iters: 3", "You read."))
        second = await home.submit("Go")
        await home.until(second.session_id, "turn.completed")
        await home.submit("Go on", first.session_id)
        await home.until(first.session_id, "turn.completed", count=2)
        assert [one.definition for one in await started(home, first.session_id)] == ["solo", "solo"]
        (of_lead,) = await started(home, second.session_id)
        assert (of_lead.definition, of_lead.max_iters, of_lead.tools) == ("lead", 3, ("Read",))
        assert of_lead.definition_hash == agents.lead(str(home.folder)).hash


async def test_a_changed_file_holds_from_the_next_turn_on(tmp_path: Path) -> None:
    """MAR-01, MAR-03"""
    scenario = calls(says("One."), uses("Read", file_path="agents/lead.md"), says("Two."))
    async with house(tmp_path, scenario, FolderDefinitions()) as home:
        write(home.folder, lead=file("name: lead\ntools: [Read]"))
        session = (await home.submit("Go")).session_id
        await home.until(session, "turn.completed")
        write(home.folder, lead=file("name: lead\ntools: [Glob]"))
        await home.submit("Go on", session)
        await home.until(session, "turn.completed", count=2)
        assert [one.tools for one in await started(home, session)] == [("Read",), ("Glob",)]
        refused = [record.fact for record in await home.facts(session) if isinstance(record.fact, ToolRefused)]
        assert [one.code for one in refused] == ["tool_not_listed"]


async def test_where_no_agent_can_lead_no_session_begins_and_the_reason_is_said(tmp_path: Path) -> None:
    """MAR-02"""
    async with house(tmp_path, calls(says("One.")), FolderDefinitions()) as home:
        write(home.folder, lead="name: lead\ntools: Read")
        with pytest.raises(Refusal) as caught:
            await home.submit("Go")
        assert caught.value.code == "bad_definition"
        assert "agents/lead.md:3: `tools` must be a list; it is `Read`." in caught.value.problem.message
        write(home.folder, lead="name: lead\ntools: [Read]")
        session = (await home.submit("Go")).session_id
        await home.until(session, "turn.completed")
