"""Process trees: all processes of an agent end with it, also those outside its process group (A4)."""

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

#: Starts processes outside the agent's process group: with setsid, and as orphans of a double fork.
ESCAPES = (
    "setsid sh -c 'echo $$ > {place}/one; exec sleep 600' >/dev/null 2>&1 & "
    "setsid sh -c 'sh -c \"echo \\$\\$ > {place}/two; exec sleep 600\" & exit' >/dev/null 2>&1 & "
    "while [ ! -s {place}/one ] || [ ! -s {place}/two ]; do :; done"
)
MAX_SECONDS = 60.0
#: A host that starts the agent, allows its command, prints a line and waits.
HOST = """
import asyncio, sys
from callboard.adapters.acp import AcpAgents
from callboard.contracts.ports.external import PermissionRequested

async def main():
    session = await AcpAgents().start(tuple(sys.argv[2:]), sys.argv[1])
    async for event in session.prompt("go"):
        if isinstance(event, PermissionRequested):
            session.permit(event.key, "allow")
    print("ready", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def escape_command(folder: Path, *more: dict[str, object]) -> tuple[str, ...]:
    return command(folder, [{"run": {"id": "c1", "command": ESCAPES.format(place=folder)}}, *more])


def alive_processes(folder: Path) -> list[int]:
    """Return the escaped processes that are alive."""
    pids = [int((folder / name).read_text()) for name in ("one", "two")]
    return [pid for pid in pids if _alive(pid)]


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_for_exit(folder: Path) -> list[int]:
    """Wait until the escaped processes end. Return the ones alive after the time limit."""
    until = time.monotonic() + MAX_SECONDS
    while (alive := alive_processes(folder)) and time.monotonic() < until:
        os.sched_yield()
    return alive


async def kill_after_command(session: AcpSession, folder: Path) -> None:
    """Prompt the agent, and kill it once its command has ended."""
    async with asyncio.timeout(MAX_SECONDS):
        async for event in session.prompt("go"):
            if isinstance(event, PermissionRequested):
                session.permit(event.key, "allow")
            elif isinstance(event, CallReported) and event.call.status == "completed":
                assert len(alive_processes(folder)) == 2
                os.kill(int(session.id.partition("-")[2]), signal.SIGKILL)


async def test_all_processes_end_when_the_agent_is_killed(tmp_path: Path):
    """A4."""
    session = await AcpAgents().start(escape_command(tmp_path, {"stay": True}), str(tmp_path))
    with pytest.raises(ExternalFailure) as failed:
        await kill_after_command(session, tmp_path)
    alive = await asyncio.to_thread(wait_for_exit, tmp_path)
    await session.close()

    assert "It was ended by SIGKILL." in failed.value.message
    assert alive == []


async def test_all_processes_end_when_the_session_is_closed(tmp_path: Path):
    """A4."""
    session = await AcpAgents().start(escape_command(tmp_path), str(tmp_path))
    async with asyncio.timeout(MAX_SECONDS):
        async for event in session.prompt("go"):
            if isinstance(event, PermissionRequested):
                session.permit(event.key, "allow")
    before = alive_processes(tmp_path)
    await session.close()

    assert len(before) == 2
    assert alive_processes(tmp_path) == []


def test_all_processes_end_when_the_host_is_killed(tmp_path: Path):
    """A4."""
    arguments = [sys.executable, "-c", HOST, str(tmp_path), *escape_command(tmp_path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"ready\n"
        before = alive_processes(tmp_path)
        host.kill()
    alive = wait_for_exit(tmp_path)

    assert len(before) == 2
    assert alive == []
