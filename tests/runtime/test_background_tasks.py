"""Tasks that continue when their caller is cancelled."""

from __future__ import annotations

import asyncio

import pytest

from callboard.contracts.errors import Refusal
from callboard.runtime.background_tasks import BackgroundTasks


async def at(gate: asyncio.Event, steps: list[str], begun: asyncio.Event) -> int:
    begun.set()
    try:
        await gate.wait()
    except asyncio.CancelledError:
        steps.append("ended")
        raise
    steps.append("done")
    return 7


async def start_caller(under_way: BackgroundTasks, gate: asyncio.Event, steps: list[str]) -> asyncio.Task[int]:
    """Return a caller that waits for a started task."""
    begun = asyncio.Event()
    asker = asyncio.create_task(under_way.run(at(gate, steps, begun)))
    await begun.wait()
    return asker


async def test_a_task_continues_when_its_caller_is_cancelled():
    under_way, gate, steps = BackgroundTasks(), asyncio.Event(), list[str]()
    asker = await start_caller(under_way, gate, steps)
    asker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asker
    assert steps == []
    gate.set()
    await under_way.wait_all()
    assert steps == ["done"]


async def test_a_caller_receives_the_result_or_the_error():
    under_way, gate, steps = BackgroundTasks(), asyncio.Event(), list[str]()
    asker = await start_caller(under_way, gate, steps)
    gate.set()
    assert await asker == 7

    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await under_way.run(fails())
    await under_way.wait_all()


async def test_cancel_all_returns_after_the_tasks_have_ended():
    under_way, gate, steps = BackgroundTasks(), asyncio.Event(), list[str]()
    asker = await start_caller(under_way, gate, steps)
    await under_way.cancel_all()
    assert steps == ["ended"]
    with pytest.raises(asyncio.CancelledError):
        await asker
    await under_way.cancel_all()


async def test_an_error_is_logged_only_if_no_caller_receives_it(
    caplog: pytest.LogCaptureFixture,
):
    under_way, gate = BackgroundTasks(), asyncio.Event()

    async def fails(name: str) -> None:
        await gate.wait()
        raise ValueError(name)

    async def refuses() -> None:
        raise Refusal("store_full", "The disk is full.")

    asker = asyncio.create_task(under_way.run(fails("for an asker")))
    gone = asyncio.create_task(under_way.run(fails("without a caller")))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    under_way.start(fails("for nobody"))
    under_way.start(refuses())
    gate.set()
    with pytest.raises(ValueError, match="for an asker"):
        await asker
    await under_way.wait_all()

    logged = [str(record.exc_info[1]) if record.exc_info else record.getMessage() for record in caplog.records]
    assert sorted(logged) == [
        "a background task was refused: The disk is full.",
        "for nobody",
        "without a caller",
    ]
