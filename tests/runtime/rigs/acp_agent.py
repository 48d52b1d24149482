"""A runtime whose lead is the adapter tests' external agent in a real process."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from callboard.adapters.acp import AcpAgents
from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.base import Fact
from tests.runtime.rigs.runtime_rig import RuntimeRig, open_runtime

AGENT = Path(__file__).parents[2] / "adapters" / "acp" / "agent.py"
NO_CALLS: dict[str, Any] = {"calls": []}

Steps = list[dict[str, Any]]


@asynccontextmanager
async def open_coder(
    place: Path,
    *prompts: Steps,
    tools: str = '["*"]',
    policy: str = "[Patch]",
    load: bool = False,
    front: str = "",
    script: dict[str, Any] | None = None,
    **limits: Any,
) -> AsyncIterator[RuntimeRig]:
    """Yield a runtime whose lead plays these prompts. `script` adds to its script, `front` to its
    frontmatter."""
    played = place / "script.json"
    played.write_text(json.dumps({"prompts": prompts, "load": load, **(script or {})}))
    agents = place / "work" / "agents"
    agents.mkdir(parents=True, exist_ok=True)
    command = json.dumps([sys.executable, str(AGENT), str(played)])
    head = f"name: coder\ndescription: Codes.\nkind: main\nlead: true\nprovider: acp\ncommand: {command}\n{front}"
    (agents / "coder.md").write_text(f"---\n{head}tools: {tools}\npolicy: {policy}\n---\nYou are careful.\n")
    async with open_runtime(place, NO_CALLS, FolderDefinitions(), AcpAgents(), **limits) as opened:
        yield opened


async def start_session(rig: RuntimeRig, text: str = "Do it.", **more: Any) -> str:
    """Return a session whose agent a person approved."""
    session = (await rig.submit(text, **more)).session_id
    await answer(rig, session)
    return session


async def answer(
    rig: RuntimeRig, session: str, decision: str = "approve", count: int = 1, scope: str = "once"
) -> ActionRequired:
    """Answer the nth question of the session."""
    action = await rig.until(session, "action.required", count)
    respond: Any = {"decision": decision, "scope": scope}
    await rig.do(RespondAction(session_id=session, action_id=action.scope.action, **respond))
    assert isinstance(action.fact, ActionRequired)
    return action.fact


async def list_facts(rig: RuntimeRig, session: str, kind: type[Fact]) -> list[Any]:
    return [record.fact for record in await rig.facts(session) if isinstance(record.fact, kind)]
