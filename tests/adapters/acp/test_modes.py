"""The mode of an agent: Callboard puts it into one that asks, follows it, and refuses an agent that has none (A1)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from callboard.adapters.acp import AcpAgents
from callboard.adapters.acp.agents import AcpSession
from callboard.adapters.acp.modes import ALLOWED, choose_mode, is_allowed, known_agent
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.ports.external import (
    AgentControl,
    AgentSettings,
    ExternalEvent,
    ExternalFailure,
    PermissionRequested,
    SettingsReported,
)

from .test_agents import command

CLAUDE = ("auto", "default", "acceptEdits", "plan", "bypassPermissions")
CODEX = ("agent", "read-only", "workspace-write", "agent-full-access")
GEMINI = ("default", "autoEdit", "yolo", "plan")
OPENCODE = ("build", "plan")
GOOSE = ("auto", "approve", "smart_approve", "chat")


async def started(place: Path, wanted: AgentControl | None = None, **script: Any) -> AcpSession:
    played = command(place, *script.pop("prompts", ([{"say": "hi"}],)), **script)
    return await AcpAgents().start(played, str(place), wanted=wanted or AgentControl())


async def refused(place: Path, wanted: AgentControl | None = None, **script: Any) -> ExternalFailure:
    with pytest.raises(ExternalFailure) as failed:
        await started(place, wanted, **script)
    return failed.value


@pytest.mark.parametrize(
    ("name", "modes", "chosen"),
    [
        ("@agentclientprotocol/claude-agent-acp", CLAUDE, ("plan", "default", "default", "default")),
        ("@agentclientprotocol/codex-acp", CODEX, ("read-only", "read-only", "read-only", "read-only")),
        ("gemini-cli", GEMINI, ("plan", "default", "default", "default")),
        ("OpenCode", OPENCODE, ("plan", "build", "build", "build")),
        ("goose", GOOSE, ("chat", "approve", "approve", "approve")),
        ("somebody's", ("code", "ask", "architect"), ("architect", "ask", "ask", "ask")),
        ("somebody's", ("default", "fast"), ("", "", "", "fast")),
    ],
)
def test_each_permission_mode_has_a_mode_of_each_known_agent(
    name: str, modes: tuple[str, ...], chosen: tuple[str, ...]
):
    """A1."""
    permissions: tuple[PermissionMode, ...] = ("planning", "ask", "edits", "full")
    agent = known_agent(name)
    current = "fast" if "fast" in modes else modes[0]

    assert tuple(choose_mode(agent, modes, current, permission) for permission in permissions) == chosen


def test_a_mode_is_allowed_up_to_the_permission_mode_and_an_unknown_one_only_with_full():
    """A1."""
    claude = known_agent("claude-agent-acp")
    allowed = {
        permission: [mode for mode in (*CLAUDE, "new-mode") if is_allowed(claude, mode, permission)]
        for permission in ALLOWED
    }

    assert allowed == {
        "planning": ["default", "plan"],
        "ask": ["default", "plan"],
        "edits": ["default", "acceptEdits", "plan"],
        "full": [*CLAUDE, "new-mode"],
    }


@pytest.mark.parametrize("script", [{}, {"options": True}])
async def test_an_agent_that_starts_in_a_wider_mode_is_put_into_one_that_asks(tmp_path: Path, script: dict[str, Any]):
    """A1; by its mode, and by an option of its configuration."""
    made = tmp_path / "made.txt"
    session = await started(tmp_path, prompts=([{"run": {"id": "c1", "command": f"touch {made}"}}],), **script)
    events: list[ExternalEvent] = []
    async with asyncio.timeout(30):
        async for event in session.prompt("go"):
            events.append(event)
            if isinstance(event, PermissionRequested):
                session.permit(event.key, "reject")
    await session.close()

    assert session.settings == AgentSettings(mode="ask")
    assert len([event for event in events if isinstance(event, PermissionRequested)]) == 1
    assert not made.exists()


@pytest.mark.parametrize("script", [{}, {"options": True}])
async def test_a_conversation_that_is_loaded_is_put_into_a_mode_that_asks_as_well(
    tmp_path: Path, script: dict[str, Any]
):
    """A1."""
    played = command(tmp_path, [{"say": "a"}], load=True, **script)
    first = await AcpAgents().start(played, str(tmp_path))
    await first.close()
    again = await AcpAgents().start(played, str(tmp_path), resume=first.id)
    await again.close()

    assert (again.resumed, again.settings) == (True, AgentSettings(mode="ask"))


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ({"modes": []}, "It advertises no mode in which it asks"),
        ({"modes": ["fast", "faster"]}, "It offers fast, faster. None of them is known to ask."),
        ({"deaf": True}, "It did not accept its mode ask"),
        ({"options": True, "sticks": True}, "It is in the mode code after it was set to ask."),
    ],
)
async def test_an_agent_that_cannot_be_made_to_ask_is_refused(tmp_path: Path, script: dict[str, Any], reason: str):
    """A1."""
    failure = await refused(tmp_path, **script)

    assert failure.code == "agent_mode_unavailable"
    assert reason in failure.message


async def test_a_mode_that_the_definition_names_is_used_within_the_permission_mode(tmp_path: Path):
    """A1, A7."""
    named = AgentControl(permission="full", mode="code")
    session = await started(tmp_path, named, agent="gemini-cli", modes=["default", "code"])
    await session.close()
    failure = await refused(tmp_path, AgentControl(mode="yolo"), agent="gemini-cli", modes=["default", "yolo"])
    absent = await refused(tmp_path, AgentControl(mode="nope"))
    own = await started(tmp_path, AgentControl(mode="own"))
    await own.close()

    assert session.settings == AgentSettings(mode="code")
    assert "Its mode yolo allows more than the permission mode ask" in failure.message
    assert "It has no mode nope. It offers code, ask, plan." in absent.message
    assert own.settings == AgentSettings(mode="code")


async def test_a_model_of_its_own_is_chosen_or_refused_with_those_it_has(tmp_path: Path):
    """A7."""
    session = await started(tmp_path, AgentControl(model="large"), models=["small", "large"])
    await session.close()
    failure = await refused(tmp_path, AgentControl(model="huge"), models=["small", "large"])

    assert session.settings == AgentSettings(mode="ask", model="large")
    assert (failure.code, failure.message) == (
        "unknown_model",
        "scripted: It has no model huge. It offers small, large.".replace("scripted", "Scripted"),
    )


async def test_an_agent_that_changes_its_mode_is_followed_and_can_be_set_back(tmp_path: Path):
    """A1."""
    session = await started(tmp_path, prompts=([{"mode": "code"}, {"hang": True}],))
    seen: list[SettingsReported] = []
    async with asyncio.timeout(30):
        async for event in session.prompt("go"):
            if isinstance(event, SettingsReported):
                seen.append(event)
                await session.control(AgentControl())
                await session.cancel()
    allowed = session.allowed
    await session.close()

    assert seen == [SettingsReported(AgentSettings(mode="code"), allowed=False)]
    assert (session.settings, allowed) == (AgentSettings(mode="ask"), True)
