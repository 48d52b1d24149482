"""Modes of external agents: Callboard sets one that asks, follows changes and refuses agents without one (A1)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from callboard.adapters.acp import AcpAgents
from callboard.adapters.acp.agents import AcpSession
from callboard.adapters.acp.modes import ALLOWED, choose_mode, find_agent, is_allowed
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


async def start(folder: Path, control: AgentControl | None = None, **script: Any) -> AcpSession:
    played = command(folder, *script.pop("prompts", ([{"say": "hi"}],)), **script)
    return await AcpAgents().start(played, str(folder), wanted=control or AgentControl())


async def start_failure(folder: Path, control: AgentControl | None = None, **script: Any) -> ExternalFailure:
    with pytest.raises(ExternalFailure) as failed:
        await start(folder, control, **script)
    return failed.value


@pytest.mark.parametrize(
    ("name", "modes", "chosen"),
    [
        ("@agentclientprotocol/claude-agent-acp", CLAUDE, ("plan", "default", "default", "default")),
        ("@agentclientprotocol/codex-acp", CODEX, ("read-only", "read-only", "read-only", "read-only")),
        ("gemini-cli", GEMINI, ("plan", "default", "default", "default")),
        ("OpenCode", OPENCODE, ("plan", "build", "build", "build")),
        ("goose", GOOSE, ("chat", "approve", "approve", "approve")),
        ("unknown", ("code", "ask", "architect"), ("architect", "ask", "ask", "ask")),
        ("unknown", ("default", "fast"), ("", "", "", "fast")),
    ],
)
def test_each_permission_mode_chooses_a_mode_of_each_known_agent(
    name: str, modes: tuple[str, ...], chosen: tuple[str, ...]
):
    """A1."""
    permissions: tuple[PermissionMode, ...] = ("planning", "ask", "edits", "full")
    agent = find_agent(name)
    current = "fast" if "fast" in modes else modes[0]

    assert tuple(choose_mode(agent, modes, current, permission) for permission in permissions) == chosen


def test_an_unknown_mode_is_allowed_with_full_only():
    """A1."""
    claude = find_agent("claude-agent-acp")
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
async def test_an_agent_that_starts_in_a_wider_mode_is_set_to_one_that_asks(tmp_path: Path, script: dict[str, Any]):
    """A1; with the mode method, and with a configuration option."""
    created = tmp_path / "created.txt"
    session = await start(tmp_path, prompts=([{"run": {"id": "c1", "command": f"touch {created}"}}],), **script)
    events: list[ExternalEvent] = []
    async with asyncio.timeout(30):
        async for event in session.prompt("go"):
            events.append(event)
            if isinstance(event, PermissionRequested):
                session.permit(event.key, "reject")
    await session.close()

    assert session.settings == AgentSettings(mode="ask")
    assert len([event for event in events if isinstance(event, PermissionRequested)]) == 1
    assert not created.exists()


@pytest.mark.parametrize("script", [{}, {"options": True}])
async def test_a_resumed_conversation_is_set_to_a_mode_that_asks(tmp_path: Path, script: dict[str, Any]):
    """A1."""
    played = command(tmp_path, [{"say": "a"}], load=True, **script)
    first = await AcpAgents().start(played, str(tmp_path))
    await first.close()
    resumed = await AcpAgents().start(played, str(tmp_path), resume=first.id)
    await resumed.close()

    assert (resumed.resumed, resumed.settings) == (True, AgentSettings(mode="ask"))


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ({"modes": []}, "It advertises no mode that asks for approval"),
        ({"modes": ["fast", "faster"]}, "It offers fast, faster. Callboard knows none of them to ask for approval."),
        ({"deaf": True}, "It did not accept its mode ask"),
        ({"options": True, "sticks": True}, "Its mode is code after it was set to ask."),
    ],
)
async def test_an_agent_without_a_mode_that_asks_is_refused(tmp_path: Path, script: dict[str, Any], reason: str):
    """A1."""
    failure = await start_failure(tmp_path, **script)

    assert failure.code == "agent_mode_unavailable"
    assert reason in failure.message


async def test_a_mode_of_the_definition_is_used_within_the_permission_mode(tmp_path: Path):
    """A1, A7."""
    named = AgentControl(permission="full", mode="code")
    session = await start(tmp_path, named, agent="gemini-cli", modes=["default", "code"])
    await session.close()
    failure = await start_failure(tmp_path, AgentControl(mode="yolo"), agent="gemini-cli", modes=["default", "yolo"])
    absent = await start_failure(tmp_path, AgentControl(mode="nope"))
    own = await start(tmp_path, AgentControl(mode="own"))
    await own.close()

    assert session.settings == AgentSettings(mode="code")
    assert "Its mode yolo allows more than the permission mode ask" in failure.message
    assert "It has no mode nope. It offers code, ask, plan." in absent.message
    assert own.settings == AgentSettings(mode="code")


async def test_a_model_of_the_agent_is_chosen_or_refused_with_the_offered_ones(tmp_path: Path):
    """A7."""
    session = await start(tmp_path, AgentControl(model="large"), models=["small", "large"])
    await session.close()
    failure = await start_failure(tmp_path, AgentControl(model="huge"), models=["small", "large"])

    assert session.settings == AgentSettings(mode="ask", model="large")
    assert (failure.code, failure.message) == (
        "unknown_model",
        "scripted: It has no model huge. It offers small, large.".replace("scripted", "Scripted"),
    )


async def test_a_mode_change_of_the_agent_is_reported_and_can_be_reverted(tmp_path: Path):
    """A1."""
    session = await start(tmp_path, prompts=([{"mode": "code"}, {"hang": True}],))
    reported: list[SettingsReported] = []
    async with asyncio.timeout(30):
        async for event in session.prompt("go"):
            if isinstance(event, SettingsReported):
                reported.append(event)
                await session.control(AgentControl())
                await session.cancel()
    allowed = session.allowed
    await session.close()

    assert reported == [SettingsReported(AgentSettings(mode="code"), allowed=False)]
    assert (session.settings, allowed) == (AgentSettings(mode="ask"), True)
