"""Helpers for teams in a real folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from callboard.contracts.facts.base import Fact
from callboard.contracts.ports.model import TextContent
from callboard.contracts.record import Record
from callboard.control.state.session import Session
from tests.agents.files import definition_file, write_agents
from tests.runtime.rigs.runtime_rig import PATIENCE, RuntimeRig

F = TypeVar("F", bound=Fact)

LEAD = definition_file(
    "name: lead\nlead: true\ntools: ['*']\npolicy: [Patch, Finalize, Delegate]\n"
    "edges:\n  - {to: critic, ownership: true}\n  - {to: clerk}",
    "You lead.",
)
CRITIC = definition_file("name: critic\naliases: [the judge]\ntools: ['*']\npolicy: [Patch]\nedges: [{to: lead}]")
CLERK = definition_file("name: clerk\ntools: ['*']\npolicy: [Delegate]")
WORKER = definition_file("name: worker\nkind: subagent\ntools: ['*']\npolicy: [Patch]")


def write_crew(rig: RuntimeRig, **more: str) -> None:
    """Write the agents of the folder."""
    write_agents(rig.folder, **{"lead": LEAD, "critic": CRITIC, "clerk": CLERK, "worker": WORKER, **more})


def plays(*matches: tuple[str, str, list[list[dict[str, Any]]]]) -> dict[str, Any]:
    """Return a scenario: an agent of that definition plays these calls in turns whose input
    contains the text."""
    return {"match": [{"agent": agent, "text": text, "calls": calls} for agent, text, calls in matches]}


async def list_facts(rig: RuntimeRig, session: str, kind: type[F]) -> list[F]:
    """Return the facts of a kind, in order."""
    return [record.fact for record in await rig.facts(session) if isinstance(record.fact, kind)]


async def wait_state(rig: RuntimeRig, session: str, condition: Callable[[Session], bool]) -> Session:
    """Return the session's state when it satisfies a condition."""
    opened = await rig.runtime.sessions.get(session)
    async with asyncio.timeout(PATIENCE):
        while not condition(opened.host.state):  # noqa: ASYNC110 - the state has no event for changes
            await asyncio.sleep(0.005)
    return opened.host.state


async def wait_fact(rig: RuntimeRig, session: str, condition: Callable[[Record], bool]) -> Record:
    """Wait for a fact."""
    async with asyncio.timeout(PATIENCE):
        async for records in rig.runtime.dependencies.store.facts.subscribe(session, after=0):
            for record in records:
                if condition(record):
                    return record
    raise AssertionError("the log ended")


async def list_received_texts(rig: RuntimeRig, session: str, agent: str) -> str:
    """Return all texts that other agents sent to the agent's model."""
    host = (await rig.runtime.sessions.get(session)).host
    thread = next(thread.thread for thread in host.state.threads.values() if thread.agent == agent)
    messages = (await host.conversations.get(thread)).build_messages()
    return "\n".join(
        part.text
        for message in messages
        if message.role == "user"
        for part in message.content
        if isinstance(part, TextContent)
    )


def find_marked(mark: str) -> list[int]:
    """Return the running processes whose command line contains the mark."""
    numbers: list[int] = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                line = (place / "cmdline").read_bytes()
                state = (place / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if mark.encode() in line and state != "Z":
                numbers.append(int(place.name))
    return numbers
