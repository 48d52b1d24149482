"""Whatever an agent started ends with it, also what left its session or its parent (A4)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from callboard.adapters.acp import AcpAgents
from callboard.adapters.acp.agents import AcpSession
from callboard.contracts.ports.external import CallReported, ExternalFailure, PermissionRequested

from .test_agents import command

#: Processes that are not in the agent's process group: by setsid, and as orphans of a double fork.
ESCAPES = (
    "setsid sh -c 'echo $$ > {place}/one; exec sleep 600' >/dev/null 2>&1 & "
    "setsid sh -c 'sh -c \"echo \\$\\$ > {place}/two; exec sleep 600\" & exit' >/dev/null 2>&1 & "
    "while [ ! -s {place}/one ] || [ ! -s {place}/two ]; do :; done"
)
LONGEST_S = 60.0
#: A host that starts the agent, lets it run its command, says so and waits.
HOST = """
import asyncio, sys
from callboard.adapters.acp import AcpAgents
from callboard.contracts.ports.external import PermissionAsked

async def main():
    session = await AcpAgents().start(tuple(sys.argv[2:]), sys.argv[1])
    async for event in session.prompt("go"):
        if isinstance(event, PermissionAsked):
            session.permit(event.key, "allow")
    print("there", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def played(place: Path, *more: dict[str, object]) -> tuple[str, ...]:
    return command(place, [{"run": {"id": "c1", "command": ESCAPES.format(place=place)}}, *more])


def left(place: Path) -> list[int]:
    """The processes that got away and are alive."""
    pids = [int((place / name).read_text()) for name in ("one", "two")]
    return [pid for pid in pids if _alive(pid)]


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def gone(place: Path) -> list[int]:
    """Waits until all of them are gone; those that are not within the bound."""
    until = time.monotonic() + LONGEST_S
    while (found := left(place)) and time.monotonic() < until:
        os.sched_yield()
    return found


async def killed(session: AcpSession, place: Path) -> None:
    """Prompts the agent, and kills it once its command has ended."""
    async with asyncio.timeout(LONGEST_S):
        async for event in session.prompt("go"):
            if isinstance(event, PermissionRequested):
                session.permit(event.key, "allow")
            elif isinstance(event, CallReported) and event.call.status == "completed":
                assert len(left(place)) == 2
                os.kill(int(session.id.partition("-")[2]), signal.SIGKILL)


async def test_what_an_agent_started_ends_when_the_agent_is_killed(tmp_path: Path):
    """A4."""
    session = await AcpAgents().start(played(tmp_path, {"stay": True}), str(tmp_path))
    with pytest.raises(ExternalFailure) as failed:
        await killed(session, tmp_path)
    still = await asyncio.to_thread(gone, tmp_path)
    await session.close()

    assert "It was ended by SIGKILL." in failed.value.message
    assert still == []


async def test_what_an_agent_started_ends_when_it_is_closed(tmp_path: Path):
    """A4."""
    session = await AcpAgents().start(played(tmp_path), str(tmp_path))
    async with asyncio.timeout(LONGEST_S):
        async for event in session.prompt("go"):
            if isinstance(event, PermissionRequested):
                session.permit(event.key, "allow")
    before = left(tmp_path)
    await session.close()

    assert len(before) == 2
    assert left(tmp_path) == []


def test_what_an_agent_started_ends_when_its_host_is_killed(tmp_path: Path):
    """A4."""
    words = [sys.executable, "-c", HOST, str(tmp_path), *played(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"there\n"
        before = left(tmp_path)
        host.kill()
    still = gone(tmp_path)

    assert len(before) == 2
    assert still == []
