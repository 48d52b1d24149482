"""The external agent's own mode: recorded, followed and enforced (A1, A7)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.agent import AgentConnected, AgentDisconnected, AgentModeChanged
from callboard.contracts.facts.tool import ToolFailed
from callboard.contracts.facts.turn import TurnFailed
from tests.runtime.rigs.acp_agent import Steps, answer, list_facts, open_coder, start_session


async def test_the_mode_and_model_in_force_are_recorded(tmp_path: Path):
    """A1, A7."""
    async with open_coder(
        tmp_path, [{"say": "hi"}], front="model: large\n", script={"models": ["small", "large"]}
    ) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        (there,) = await list_facts(rig, session, AgentConnected)

    assert (there.mode, there.model) == ("ask", "large")


async def test_an_agent_without_an_asking_mode_does_not_start_and_the_hint_helps(tmp_path: Path):
    """A1."""
    async with open_coder(tmp_path, [{"say": "hi"}], script={"modes": []}) as rig:
        session = await start_session(rig)
        failed = await rig.until(session, "turn.failed")
        (start,) = await list_facts(rig, session, ToolFailed)

    assert isinstance(failed.fact, TurnFailed)
    assert (failed.fact.code, start.code) == ("agent_mode_unavailable", "agent_mode_unavailable")
    assert "It advertises no mode that asks for approval" in failed.fact.message
    assert "`agent_mode: own`" in failed.fact.hint


async def test_the_start_approval_shows_a_mode_that_is_left_to_the_agent(tmp_path: Path):
    """A1: the mode is part of the approval, so an older rule does not cover it."""
    async with open_coder(tmp_path, [{"say": "hi"}], front="agent_mode: own\n", script={"modes": []}) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        (actions,) = await list_facts(rig, session, ActionRequired)
        (there,) = await list_facts(rig, session, AgentConnected)

    assert "Its own settings decide what it asks you." in actions.prompt
    assert there.mode == ""


async def test_an_agent_that_widens_its_mode_is_set_back_and_both_are_recorded(tmp_path: Path):
    """A1."""
    marker = tmp_path / "made.txt"
    run = {"run": {"id": "c1", "command": f"touch {marker}"}}
    steps: Steps = [{"mode": "code"}, {"read": {"path": str(tmp_path / "work" / "none.txt")}}, run]
    async with open_coder(tmp_path, steps) as rig:
        session = await start_session(rig)
        action = await answer(rig, session, "reject", count=2)
        await rig.until(session, "turn.completed")
        changes = await list_facts(rig, session, AgentModeChanged)

    assert changes == [AgentModeChanged(mode="code", allowed=False), AgentModeChanged(mode="ask")]
    assert action.tool == "Bash"
    assert not marker.exists()


async def test_an_agent_that_widens_its_mode_and_cannot_be_set_back_is_ended(tmp_path: Path):
    """A1."""
    script = {"modes": ["ask", "code"], "deaf": True}
    async with open_coder(tmp_path, [{"mode": "code"}, {"stay": True}], script=script) as rig:
        session = await start_session(rig)
        failed = await rig.until(session, "turn.failed")
        changes = await list_facts(rig, session, AgentModeChanged)
        gone = await list_facts(rig, session, AgentDisconnected)

    assert isinstance(failed.fact, TurnFailed)
    assert failed.fact.code == "agent_mode_unavailable"
    assert changes == [AgentModeChanged(mode="code", allowed=False)]
    assert len(gone) == 1


async def test_a_turn_under_another_permission_mode_changes_the_mode(tmp_path: Path):
    """A1."""
    async with open_coder(tmp_path, [{"say": "one"}], [{"say": "two"}]) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        await rig.submit("And plan.", session, permission_mode="planning")
        await rig.until(session, "turn.completed", 2)
        changes = await list_facts(rig, session, AgentModeChanged)

    assert changes == [AgentModeChanged(mode="plan")]


async def test_a_missing_library_is_reported_before_the_start_needs_approval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A6."""
    async with open_coder(tmp_path, [{"say": "hi"}]) as rig:
        monkeypatch.setitem(sys.modules, "acp", None)
        session = (await rig.submit("Do it.")).session_id
        failed = await rig.until(session, "turn.failed")
        actions = await list_facts(rig, session, ActionRequired)

    assert isinstance(failed.fact, TurnFailed)
    assert (failed.fact.code, actions) == ("not_installed", [])
    assert "pip install 'agent-client-protocol" in failed.fact.message
    assert failed.fact.hint == "Run that command, restart Callboard, then send the turn again."
