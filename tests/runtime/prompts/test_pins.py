"""Pinned contents are sent once while the turn that contains them is sent."""

from __future__ import annotations

from pathlib import Path

from callboard.contracts.commands.context import SetContext
from tests.runtime.prompts.test_compaction import LONG, SUMMARY, scenario
from tests.runtime.prompts.test_conversations import read_newest_call
from tests.runtime.rigs.runtime_rig import RuntimeRig, open_runtime, says

RULES = "Be brief in every turn."


async def pin_file(rig: RuntimeRig, session: str) -> None:
    """Pin a file to the thread."""
    (rig.folder / "rules.md").write_text(RULES)
    await rig.do(SetContext(session_id=session, pinned=("rules.md",)))


async def test_a_pin_is_sent_again_when_its_turn_is_omitted(tmp_path: Path) -> None:
    """CTX-01: the model receives all context of a turn, also after a restart (UI-29)."""
    yes = {"match": [{"text": "turn", "calls": [says("Yes.")]}]}
    async with open_runtime(tmp_path, yes, context_steps=3) as rig:
        first = await rig.submit("turn one")
        await rig.until(first.session_id, "turn.completed", 1)
        await pin_file(rig, first.session_id)
        for count in range(2, 6):
            await rig.submit(f"turn {count}", first.session_id)
            await rig.until(first.session_id, "turn.completed", count)
            there = await read_newest_call(rig, first.session_id, first.thread_id)
            assert sum(RULES in entry for entry in there) == 1
    async with open_runtime(tmp_path, yes, context_steps=3) as rig:
        assert await read_newest_call(rig, first.session_id, first.thread_id) == there


async def test_a_pin_is_sent_again_when_its_turn_is_summarised_and_otherwise_once(
    tmp_path: Path,
) -> None:
    """CTX-01, UI-25: also in a thread that was summarised before."""
    async with open_runtime(tmp_path, scenario()) as rig:
        first = await rig.submit("turn zero")
        await rig.until(first.session_id, "turn.completed", 1)
        await pin_file(rig, first.session_id)
        for count in range(2, 8):
            await rig.submit(LONG if count % 2 == 0 else f"turn {count}", first.session_id)
            await rig.until(first.session_id, "turn.completed", count)
            there = await read_newest_call(rig, first.session_id, first.thread_id)
            assert (count, sum(RULES in entry for entry in there)) == (count, 1)
        assert sum(SUMMARY in entry for entry in there) == 1
        types = await rig.types(first.session_id)
        assert types.count("context.compaction.completed") > 1
    async with open_runtime(tmp_path, scenario()) as rig:
        assert await read_newest_call(rig, first.session_id, first.thread_id) == there
