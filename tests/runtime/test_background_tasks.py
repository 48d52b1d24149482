"""Tasks that continue when their caller is cancelled."""

from __future__ import annotations

import asyncio

import pytest

from callboard.contracts.errors import Refusal
from callboard.runtime.background_tasks import BackgroundTasks


async def wait_at_gate(gate: asyncio.Event, steps: list[str], started: asyncio.Event) -> int:
    started.set()
    try:
        await gate.wait()
    except asyncio.CancelledError:
        steps.append("ended")
        raise
    steps.append("done")
    return 7


async def start_caller(tasks: BackgroundTasks, gate: asyncio.Event, steps: list[str]) -> asyncio.Task[int]:
    """Return a caller that waits for a started task."""
    started = asyncio.Event()
    caller = asyncio.create_task(tasks.run(wait_at_gate(gate, steps, started)))
    await started.wait()
    return caller


async def test_a_task_continues_when_its_caller_is_cancelled():
    tasks, gate, steps = BackgroundTasks(), asyncio.Event(), list[str]()
    caller = await start_caller(tasks, gate, steps)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert steps == []
    gate.set()
    await tasks.wait_all()
    assert steps == ["done"]


async def test_a_caller_receives_the_result_or_the_error():
    tasks, gate, steps = BackgroundTasks(), asyncio.Event(), list[str]()
    caller = await start_caller(tasks, gate, steps)
    gate.set()
    assert await caller == 7

    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await tasks.run(fails())
    await tasks.wait_all()


async def test_cancel_all_returns_after_the_tasks_have_ended():
    tasks, gate, steps = BackgroundTasks(), asyncio.Event(), list[str]()
    caller = await start_caller(tasks, gate, steps)
    await tasks.cancel_all()
    assert steps == ["ended"]
    with pytest.raises(asyncio.CancelledError):
        await caller
    await tasks.cancel_all()


async def test_an_error_is_logged_only_if_no_caller_receives_it(
    caplog: pytest.LogCaptureFixture,
):
    tasks, gate = BackgroundTasks(), asyncio.Event()

    async def fails(name: str) -> None:
        await gate.wait()
        raise ValueError(name)

    async def refuses() -> None:
        raise Refusal("store_full", "The disk is full.")

    caller = asyncio.create_task(tasks.run(fails("for an asker")))
    gone = asyncio.create_task(tasks.run(fails("without a caller")))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    tasks.start(fails("unobserved"))
    tasks.start(refuses())
    gate.set()
    with pytest.raises(ValueError, match="for an asker"):
        await caller
    await tasks.wait_all()

    logged = [str(record.exc_info[1]) if record.exc_info else record.getMessage() for record in caplog.records]
    assert sorted(logged) == [
        "a background task was refused: The disk is full.",
        "unobserved",
        "without a caller",
    ]
