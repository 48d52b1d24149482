"""What a model is told of older turns, while the session is in memory and after it was read anew."""

from __future__ import annotations

from pathlib import Path

from callboard.contracts.facts import ModelRequested
from callboard.contracts.ports.model import TextContent
from tests.runtime.rigs.house import House, calls, house, says


async def told(home: House, session: str, thread: str) -> list[str]:
    """The texts that the thread's model was told in its newest call, and what it answered."""
    host = (await home.runtime.sessions.get(session)).host
    # The log tells of a fact before its host has taken it.
    await host.wait_settled()
    context = await host.conversations.get(thread)
    return [one.text for message in context.messages() for one in message.content if isinstance(one, TextContent)]


async def cuts(home: House, session: str) -> list[bool]:
    """Of each model call whether something was left out."""
    return [
        bool(record.fact.context_after)
        for record in await home.facts(session)
        if isinstance(record.fact, ModelRequested)
    ]


async def test_what_a_call_leaves_out_its_model_is_not_told_also_after_a_restart(tmp_path: Path) -> None:
    """UI-29: a conversation that is read anew is the one that was there."""
    scenario = {"match": [{"text": "turn", "calls": [says("Yes.")]}]}
    async with house(tmp_path, scenario, context_steps=3) as home:
        first = await home.submit("turn one")
        await home.until(first.session_id, "turn.completed", 1)
        for count, text in enumerate(("turn two", "turn three"), start=2):
            await home.submit(text, first.session_id)
            await home.until(first.session_id, "turn.completed", count)
        there = await told(home, first.session_id, first.thread_id)
        assert there == ["turn two", "Yes.", "turn three", "Yes."]
        assert await cuts(home, first.session_id) == [False, False, True]
    async with house(tmp_path, scenario, context_steps=3) as home:
        assert await told(home, first.session_id, first.thread_id) == there


async def test_what_another_thread_did_pushes_nothing_out(tmp_path: Path) -> None:
    """CTL-13: only the thread's own steps count, so that a lead of many children keeps its objective."""
    scenario = calls(says("Yes."), says("Again."))
    async with house(tmp_path, scenario, context_steps=3) as home:
        first = await home.submit("the objective")
        await home.until(first.session_id, "turn.completed", 1)
        await home.submit("and now?", first.session_id)
        await home.until(first.session_id, "turn.completed", 2)
        assert await told(home, first.session_id, first.thread_id) == ["the objective", "Yes.", "and now?", "Again."]
