"""Coroutines from a command line, and Ctrl-C while they run."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Runs it to its end, on uvloop where that is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


@contextmanager
def ctrl_c() -> Generator[asyncio.Event]:
    """Set by the first Ctrl-C; the second one ends the whole."""
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    whole = asyncio.current_task()

    def come() -> None:
        if asked.is_set() and whole is not None:
            whole.cancel()
        asked.set()

    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, come)
    try:
        yield asked
    finally:
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(one)
