"""Event loop of a verb, and Ctrl-C while it runs."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, on uvloop if it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


@contextmanager
def handle_ctrl_c() -> Generator[asyncio.Event]:
    """Set the event on the first Ctrl-C; cancel the current task on the second."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    task = asyncio.current_task()

    def handle() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, handle)
    try:
        yield stop
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
