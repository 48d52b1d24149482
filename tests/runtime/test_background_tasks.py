"""Work that goes on when its asker goes away, and is waited for or ended on close."""

from __future__ import annotations

import asyncio

import pytest

from callboard.contracts.errors import Refusal
from callboard.runtime.background_tasks import BackgroundTasks


async def at(gate: asyncio.Event, told: list[str], begun: asyncio.Event) -> int:
    begun.set()
    try:
        await gate.wait()
    except asyncio.CancelledError:
        told.append("ended")
        raise
    told.append("done")
    return 7


async def asked(under_way: BackgroundTasks, gate: asyncio.Event, told: list[str]) -> asyncio.Task[int]:
    """Somebody who waits for work that has begun."""
    begun = asyncio.Event()
    asker = asyncio.create_task(under_way.run(at(gate, told, begun)))
    await begun.wait()
    return asker


async def test_work_goes_on_when_its_asker_goes_away_and_is_waited_for():
    under_way, gate, told = BackgroundTasks(), asyncio.Event(), list[str]()
    asker = await asked(under_way, gate, told)
    asker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asker
    assert told == []
    gate.set()
    await under_way.wait_all()
    assert told == ["done"]


async def test_an_asker_gets_what_the_work_came_to_also_where_it_failed():
    under_way, gate, told = BackgroundTasks(), asyncio.Event(), list[str]()
    asker = await asked(under_way, gate, told)
    gate.set()
    assert await asker == 7

    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await under_way.run(fails())
    await under_way.wait_all()


async def test_what_is_ended_is_over_before_the_end_returns():
    under_way, gate, told = BackgroundTasks(), asyncio.Event(), list[str]()
    asker = await asked(under_way, gate, told)
    await under_way.cancel_all()
    assert told == ["ended"]
    with pytest.raises(asyncio.CancelledError):
        await asker
    await under_way.cancel_all()


async def test_a_failure_that_no_asker_receives_is_logged_and_one_that_an_asker_receives_is_not(
    caplog: pytest.LogCaptureFixture,
):
    under_way, gate = BackgroundTasks(), asyncio.Event()

    async def fails(name: str) -> None:
        await gate.wait()
        raise ValueError(name)

    async def refuses() -> None:
        raise Refusal("store_full", "The disk is full.")

    asker = asyncio.create_task(under_way.run(fails("for an asker")))
    gone = asyncio.create_task(under_way.run(fails("for one that has gone")))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    under_way.start(fails("for nobody"))
    under_way.start(refuses())
    gate.set()
    with pytest.raises(ValueError, match="for an asker"):
        await asker
    await under_way.wait_all()

    told = [str(one.exc_info[1]) if one.exc_info else one.getMessage() for one in caplog.records]
    assert sorted(told) == [
        "for nobody",
        "for one that has gone",
        "nobody waited for what was refused: The disk is full.",
    ]
