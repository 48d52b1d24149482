"""How prompts of external agents end: after a rejection, and when the agent dies with a pending
question."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from callboard.contracts.facts.agent import AgentConnected, AgentDisconnected
from callboard.contracts.facts.model import RoutingResolved
from callboard.contracts.facts.tool import ToolRefused
from callboard.contracts.facts.turn import TurnFailed
from tests.runtime.rigs.acp_agent import Steps, answer, list_facts, open_coder, start_session


async def test_an_agent_that_ends_its_turn_after_a_rejection_has_not_failed(tmp_path: Path):
    """Codex ends its prompt as cancelled after a rejected command."""
    steps: Steps = [{"permit": {"id": "a", "title": "rm x", "kind": "execute", "input": {"command": "rm x"}}}]
    async with open_coder(tmp_path, [*steps, {"end": "cancelled"}], [{"say": "hm"}, {"end": "cancelled"}]) as rig:
        session = await start_session(rig)
        await answer(rig, session, "reject", count=2)
        await rig.until(session, "turn.completed")
        refused = [fact.code for fact in await list_facts(rig, session, ToolRefused)]
        await rig.submit("Again.", session)
        failed = await rig.until(session, "turn.failed")

    assert refused == ["person_denied"]
    assert isinstance(failed.fact, TurnFailed)
    assert failed.fact.code == "model_cut_stream"


async def test_an_agent_started_with_variables_is_named_by_its_program(tmp_path: Path):
    """Codex needs a variable to ask for permission."""
    async with open_coder(tmp_path, [{"say": "hi"}]) as rig:
        file = rig.folder / "agents" / "coder.md"
        file.write_text(file.read_text().replace("command: [", 'command: ["env", "MODE=read-only", '))
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        (route,) = await list_facts(rig, session, RoutingResolved)

    assert (route.chosen.provider, route.chosen.model) == ("acp", Path(sys.executable).name)


async def test_an_agent_killed_with_a_pending_question_fails_its_turn_and_restarts(tmp_path: Path):
    """COM-13: the question is withdrawn, its action is not done, and the session continues."""
    steps: Steps = [{"permit": {"id": "a", "title": "rm x", "kind": "execute", "input": {"command": "rm x"}}}]
    async with open_coder(tmp_path, steps) as rig:
        session = await start_session(rig)
        await rig.until(session, "action.required", 2)
        (there,) = await list_facts(rig, session, AgentConnected)
        os.kill(int(there.provider_session_id.removeprefix("conversation-")), signal.SIGKILL)
        failed = await rig.until(session, "turn.failed")
        types = await rig.types(session)
        (gone,) = await list_facts(rig, session, AgentDisconnected)
        await rig.submit("Again.", session)
        await answer(rig, session, count=3)
        await answer(rig, session, count=4)
        await rig.until(session, "turn.completed")

    assert isinstance(failed.fact, TurnFailed)
    assert failed.fact.code == "model_unavailable"
    assert gone.reason == "Scripted is not available. It was ended by SIGKILL."
    assert types[-5:] == ["agent.disconnected", "model.failed", "action.withdrawn", "tool.cancelled", "turn.failed"]
