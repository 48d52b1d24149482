"""The messages of older turns, from memory and from the log."""

from __future__ import annotations

from pathlib import Path

from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.ports.model import TextContent
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says


async def read_newest_call(rig: RuntimeRig, session: str, thread: str) -> list[str]:
    """Return the texts of the thread's newest model call, and its answer."""
    host = (await rig.runtime.sessions.get(session)).host
    # A fact is durable before its host has applied it.
    await host.wait_settled()
    context = await host.conversations.get(thread)
    return [
        content.text
        for message in context.build_messages()
        for content in message.content
        if isinstance(content, TextContent)
    ]


async def list_cuts(rig: RuntimeRig, session: str) -> list[bool]:
    """Return for each model call whether turns were omitted."""
    return [
        bool(record.fact.context_after)
        for record in await rig.facts(session)
        if isinstance(record.fact, ModelRequested)
    ]


async def test_omitted_turns_are_not_sent_also_after_a_restart(tmp_path: Path) -> None:
    """UI-29: a conversation that is read from the log again is the same."""
    scenario = {"match": [{"text": "turn", "calls": [says("Yes.")]}]}
    async with open_runtime(tmp_path, scenario, context_steps=3) as rig:
        first = await rig.submit("turn one")
        await rig.until(first.session_id, "turn.completed", 1)
        for count, text in enumerate(("turn two", "turn three"), start=2):
            await rig.submit(text, first.session_id)
            await rig.until(first.session_id, "turn.completed", count)
        there = await read_newest_call(rig, first.session_id, first.thread_id)
        assert there == ["turn two", "Yes.", "turn three", "Yes."]
        assert await list_cuts(rig, first.session_id) == [False, False, True]
    async with open_runtime(tmp_path, scenario, context_steps=3) as rig:
        assert await read_newest_call(rig, first.session_id, first.thread_id) == there


async def test_steps_of_other_threads_do_not_count(tmp_path: Path) -> None:
    """CTL-13: a lead with many children keeps its objective."""
    scenario = calls(says("Yes."), says("Again."))
    async with open_runtime(tmp_path, scenario, context_steps=3) as rig:
        first = await rig.submit("the objective")
        await rig.until(first.session_id, "turn.completed", 1)
        await rig.submit("and now?", first.session_id)
        await rig.until(first.session_id, "turn.completed", 2)
        assert await read_newest_call(rig, first.session_id, first.thread_id) == [
            "the objective",
            "Yes.",
            "and now?",
            "Again.",
        ]
