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
from callboard.tools.sandbox.launch import Launch, make_builder

COMMAND = [sys.executable, "-c", "pass"]
#: More descriptors than any start needs.
ENOUGH = 40


async def start_hook(folder: str) -> bool:
    result = await hook.run(COMMAND, folder, {}, b"{}", 30.0, ServerLog())
    return not result.problem


async def start_server(folder: str) -> bool:
    async with server.connect_program(COMMAND, folder, {}, ServerLog(), asyncio.Event()):
        return True


async def start_command(folder: str) -> bool:
    launch = Launch(make_builder(COMMAND), folder, {}, {})
    return (await guarded_command.run(launch, seconds=30.0, output=lambda _: None)).exit_code == 0


@contextmanager
def limit_descriptors(count: int) -> Iterator[None]:
    """Allow `count` more descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = sorted(set(range(4096)) - list_descriptors())[:count]
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[-1] + 1 if free else 3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def list_descriptors() -> set[int]:
    descriptors: set[int] = set()
    for number in range(4096):
        try:
            os.fstat(number)
        except OSError:
            continue
        descriptors.add(number)
    return descriptors


@pytest.mark.parametrize("start", [start_hook, start_server, start_command])
async def test_a_failed_start_leaves_no_descriptor_open(
    start: Callable[[str], Awaitable[bool]], tmp_path: Path
) -> None:
    assert await start(str(tmp_path))
    before = list_descriptors()
    for count in range(ENOUGH):
        has_started = False
        with limit_descriptors(count), suppress(OSError):
            has_started = await start(str(tmp_path))
        gc.collect()
        await asyncio.sleep(0)
        assert list_descriptors() == before, f"with {count} descriptors"
        if has_started:
            return
    pytest.fail("the program never started")
