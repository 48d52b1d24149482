"""Starts without free descriptors."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from callboard.tools.hooks import hook_process as hook
from callboard.tools.mcp import stdio_transport as server
from callboard.tools.mcp.server_log import ServerLog
from callboard.tools.sandbox import guarded_command
from callboard.tools.sandbox.launch import Launch, fixed_command

COMMAND = [sys.executable, "-c", "pass"]
#: More than anything here needs.
ENOUGH = 40


def said() -> ServerLog:
    return ServerLog()


async def by_hook(folder: str) -> bool:
    ended = await hook.run(COMMAND, folder, {}, b"{}", 30.0, said())
    return not ended.problem


async def by_server(folder: str) -> bool:
    async with server.connect_program(COMMAND, folder, {}, said(), asyncio.Event()):
        return True


async def by_command(folder: str) -> bool:
    launch = Launch(fixed_command(COMMAND), folder, {}, {})
    return (await guarded_command.run(launch, seconds=30.0, output=lambda _: None)).exit_code == 0


@contextmanager
def limit_descriptors(count: int) -> Iterator[None]:
    """So many descriptors, and no more, can be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = sorted(set(range(4096)) - list_descriptors())[:count]
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[-1] + 1 if free else 3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def list_descriptors() -> set[int]:
    found: set[int] = set()
    for number in range(4096):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.add(number)
    return found


@pytest.mark.parametrize("begins", [by_hook, by_server, by_command])
async def test_a_failed_start_leaves_no_descriptor_open(
    begins: Callable[[str], Awaitable[bool]], tmp_path: Path
) -> None:
    assert await begins(str(tmp_path))
    before = list_descriptors()
    for count in range(ENOUGH):
        began = False
        with limit_descriptors(count), suppress(OSError):
            began = await begins(str(tmp_path))
        gc.collect()
        await asyncio.sleep(0)
        assert list_descriptors() == before, f"with {count} descriptors"
        if began:
            return
    pytest.fail("it never began")
