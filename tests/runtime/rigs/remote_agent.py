"""A remote agent as a teammate: its server, a runtime with it, and helpers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from callboard.adapters.a2a import A2aAgents
from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.agent import RemoteTaskChanged
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted
from callboard.contracts.ports.external import RemoteAgents
from tests.adapters.a2a.peer import QUICK, Task
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says, use_tool

HOST = """---
name: host
description: Works here.
kind: main
lead: true
tools: ["*"]
policy: [Finalize]
edges: [{to: peer, direction: both}]
---
You work here.
"""


async def answer_greeting(task: Task) -> None:
    await task.updater.start_work(task.reply("Looking."))
    await task.updater.add_artifact(list(task.reply("A card.").parts), artifact_id="a1", name="card")
    await task.updater.complete(task.reply(f"You said: {task.input}"))


async def ask_colour(task: Task) -> None:
    if task.input == "Blue.":
        await task.updater.complete(task.reply("It is blue."))
        return
    await task.updater.requires_input(task.reply("Which colour?"))


@asynccontextmanager
async def open_with_peer(
    place: Path, url: str, scenario: dict[str, Any] | None = None, remotes: RemoteAgents | None = None, **limits: Any
) -> AsyncIterator[RuntimeRig]:
    """Yield a runtime whose lead can message a remote agent."""
    agents = place / "work" / "agents"
    agents.mkdir(parents=True, exist_ok=True)
    (agents / "host.md").write_text(HOST)
    (agents / "peer.md").write_text(
        f"---\nname: peer\ndescription: Elsewhere.\nkind: remote\nurl: {url}\n---\nBe brief.\n"
    )
    async with open_runtime(
        place, scenario or WRITES, FolderDefinitions(), remotes=remotes or A2aAgents(QUICK), **limits
    ) as opened:
        yield opened


WRITES = calls(use_tool("send_message", to=["peer"], text="What is it?"), says("I asked it."), says("Thank you."))


async def contact_agent(rig: RuntimeRig) -> str:
    """Return a session in which the lead messaged the remote agent and a person approved the
    contact."""
    session = (await rig.submit("Write to it.")).session_id
    await answer(rig, session, 1)
    return session


async def send_again(rig: RuntimeRig, session: str, text: str) -> None:
    """Send a person's message to the remote agent."""
    await rig.submit(text, session, thread_id=await find_thread(rig, session))


async def answer(rig: RuntimeRig, session: str, count: int, decision: str = "approve", **more: Any) -> ActionRequired:
    action = await rig.until(session, "action.required", count)
    respond: Any = {"decision": decision, **more}
    await rig.do(RespondAction(session_id=session, action_id=action.scope.action, **respond))
    assert isinstance(action.fact, ActionRequired)
    return action.fact


async def list_facts(rig: RuntimeRig, session: str, kind: type[Fact]) -> list[Any]:
    return [record.fact for record in await rig.facts(session) if isinstance(record.fact, kind)]


async def find_thread(rig: RuntimeRig, session: str, agent: str = "peer") -> str:
    return next(
        record.scope.thread
        for record in await rig.facts(session)
        if record.header.type == "thread.opened" and record.scope.agent == agent
    )


async def list_agent_types(rig: RuntimeRig, session: str) -> list[str]:
    return [record.header.type for record in await rig.facts(session) if record.scope.agent == "peer"]


async def wait_end(rig: RuntimeRig, session: str, count: int = 1, agent: str = "peer") -> Any:
    """Return how the nth turn of the remote agent ended."""
    async with asyncio.timeout(30):
        async for records in rig.runtime.dependencies.store.facts.subscribe(session, after=0):
            for record in records:
                if record.scope.agent == agent and isinstance(
                    record.fact, TurnCompleted | TurnFailed | TurnInterrupted
                ):
                    count -= 1
                    if count == 0:
                        return record.fact
    raise AssertionError("the session ended")


def states(facts: list[RemoteTaskChanged]) -> list[str]:
    return [fact.state for fact in facts]


JOINED = [
    "tool.requested",
    "permission.evaluated",
    "action.required",
    "action.resolved",
    "tool.started",
    "tool.completed",
]
ENDED = ["message.text", "model.completed", "cost.recorded", "channel.message", "output.final", "turn.completed"]
