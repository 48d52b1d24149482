"""A thread whose model's window fills: its older part is summarised, told as the summary, and shown as what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.context import CompactThread
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    CostRecorded,
    MessageText,
    ModelRequested,
    TurnFailed,
    TurnInterrupted,
)
from callboard.contracts.rows import TextPart

from .house import house, says
from .test_contexts import told

#: Some 7,000 tokens.
LONG = "turn one " + "word " * 5600
SUMMARY = "They said turn one, with many words."


def scenario(*summary: dict[str, Any]) -> dict[str, Any]:
    """A model with a window of 8,000 tokens that says yes in every turn, and what it says where it makes a summary."""
    return {
        "window": 8000,
        "agents": {"compaction": [list(summary) or says(SUMMARY)]},
        "match": [{"text": "turn", "agent": "solo", "calls": [says("Yes.")]}],
    }


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def test_a_thread_that_fills_its_window_is_summarised_before_the_model_is_asked_again(tmp_path: Path) -> None:
    """UI-25: the summary stands in place of what was said before, is no answer, and what it took is recorded; what is newest
    stays as it was said, also after a restart."""
    summary = ({"text": SUMMARY}, {"usage": {"input": 7000, "output": 12}})
    async with house(tmp_path, scenario(*summary)) as home:
        first = await home.submit(LONG)
        await home.until(first.session_id, "turn.completed", 1)
        second = await home.submit("turn two", first.session_id)
        await home.until(first.session_id, "turn.completed", 2)
        facts = [
            (one.header.type, one.fact)
            for one in await home.facts(first.session_id)
            if one.scope.turn == second.turn_id
        ]
        begun = [one for type, one in facts if type.startswith(("context.compaction", "model.", "cost", "message"))]
        asked = [one for one in begun if isinstance(one, ModelRequested)]
        assert [type for type, _ in facts if type.startswith(("context.compaction", "model.", "message"))] == [
            "context.compaction.started",
            "model.requested",
            "model.completed",
            "context.compaction.completed",
            "model.requested",
            "message.text",
            "model.completed",
        ]
        assert [(one.purpose, one.iteration) for one in asked] == [("compaction", 0), ("answer", 1)]
        made = next(one for one in begun if isinstance(one, CompactionCompleted))
        assert made.summary.text == SUMMARY
        assert (made.tokens_after or 0) < (made.tokens_before or 0)
        cost = [one for one in begun if isinstance(one, CostRecorded)]
        assert (cost[0].input_tokens, cost[0].output_tokens) == (7000, 12)
        assert [one.content.text for one in begun if isinstance(one, MessageText)] == ["Yes."]
        parts = await home.parts(first.session_id, second.turn_id)
        assert [one.content.text for one in parts if isinstance(one, TextPart)] == ["Yes."]
        there = await told(home, first.session_id, first.thread_id)
        assert [SUMMARY in there[0], *there[1:]] == [True, "turn two", "Yes."]
    async with house(tmp_path, scenario()) as home:
        assert await told(home, first.session_id, first.thread_id) == there


async def test_a_summary_is_told_also_where_turns_behind_it_are_left_out_and_after_a_restart(tmp_path: Path) -> None:
    """UI-25, UI-29: a conversation that is read anew is the one that was there."""
    async with house(tmp_path, scenario(), context_steps=3) as home:
        first = await home.submit(LONG)
        await home.until(first.session_id, "turn.completed", 1)
        for count in range(2, 6):
            await home.submit(f"turn {count}", first.session_id)
            await home.until(first.session_id, "turn.completed", count)
        there = await told(home, first.session_id, first.thread_id)
        assert [SUMMARY in there[0], *there[1:]] == [True, "turn 4", "Yes.", "turn 5", "Yes."]
    async with house(tmp_path, scenario(), context_steps=3) as home:
        assert await told(home, first.session_id, first.thread_id) == there


async def test_a_long_turn_is_summarised_in_its_middle_and_keeps_what_it_was_asked(tmp_path: Path) -> None:
    """UI-25: rounds of the turn under way are summarised; the words that began it stand behind the summary."""
    first_call = {"tool": {"name": "Bash", "arguments": {"command": "seq 1 4800"}}}
    second = {"tool": {"name": "Bash", "arguments": {"command": "seq 1 1200"}}}
    # A scenario goes by how many answers the model is told of: after the summary that is one again.
    lead = [[first_call], [second], says("Done.")]
    async with house(tmp_path, {"window": 8000, "agents": {"compaction": [says(SUMMARY)], "solo": lead}}) as home:
        first = await home.submit("turn one: count", permission_mode="full")
        await home.until(first.session_id, "turn.completed")
        facts = [one.fact for one in await home.facts(first.session_id)]
        assert [one.cause for one in facts if isinstance(one, CompactionStarted)] == ["window"]
        asked = [(one.purpose, one.iteration) for one in facts if isinstance(one, ModelRequested)]
        assert asked == [("answer", 1), ("answer", 2), ("compaction", 2), ("answer", 3), ("answer", 4)]
        there = await told(home, first.session_id, first.thread_id)
        assert [SUMMARY in there[0], *there[1:]] == [True, "turn one: count", "Done."]


async def test_a_request_that_its_provider_finds_too_long_is_made_again_after_a_summary(tmp_path: Path) -> None:
    """UI-25: also where nobody knows the model's window."""
    full = [{"fail": {"code": "model_context_full", "message": "too long"}}]
    async with house(tmp_path, {"agents": {"compaction": [says(SUMMARY)], "solo": [says("Yes."), full]}}) as home:
        first = await home.submit("turn one")
        await home.until(first.session_id, "turn.completed", 1)
        await home.submit("turn two", first.session_id)
        await home.until(first.session_id, "turn.completed", 2)
        started = [one.fact for one in await home.facts(first.session_id) if isinstance(one.fact, CompactionStarted)]
        assert [one.cause for one in started] == ["refused"]
        assert (await told(home, first.session_id, first.thread_id))[1:] == ["turn two", "Yes."]


async def test_where_no_summary_comes_of_it_the_turn_goes_on_or_says_why_not(tmp_path: Path) -> None:
    """UI-25: a window that is filling is no failure yet; a request that was refused as too long is one."""
    broken = [{"fail": {"code": "model_refused_request", "message": "no summaries here"}}]
    async with house(_made(tmp_path / "a"), scenario(*broken)) as home:
        first = await home.submit(LONG)
        await home.until(first.session_id, "turn.completed", 1)
        await home.submit("turn two", first.session_id)
        await home.until(first.session_id, "turn.completed", 2)
        failed = [one.fact for one in await home.facts(first.session_id) if isinstance(one.fact, CompactionFailed)]
        assert [(one.code, one.message) for one in failed] == [("model_refused_request", "no summaries here")]
    full = [{"fail": {"code": "model_context_full", "message": "too long"}}]
    made = {"agents": {"compaction": [broken], "solo": [says("Yes."), full]}}
    async with house(_made(tmp_path / "b"), made) as home:
        first = await home.submit("turn one")
        await home.until(first.session_id, "turn.completed", 1)
        await home.submit("turn two", first.session_id)
        record = await home.until(first.session_id, "turn.failed", 1)
        assert isinstance(record.fact, TurnFailed)
        assert record.fact.code == "model_context_full"
        assert "no summaries here" in record.fact.message


async def test_a_person_has_a_thread_summarised_in_a_turn_that_answers_nothing(tmp_path: Path) -> None:
    """UI-25: compact_thread keeps the newest turn as it was said, and refuses where there is nothing older."""
    async with house(tmp_path, scenario()) as home:
        first = await home.submit("turn one")
        await home.until(first.session_id, "turn.completed", 1)
        with pytest.raises(Refusal) as refused:
            await home.do(CompactThread(session_id=first.session_id))
        assert refused.value.code == "nothing_to_compact"
        await home.submit("turn two", first.session_id)
        await home.until(first.session_id, "turn.completed", 2)
        begun = await home.do(CompactThread(session_id=first.session_id))
        await home.until(first.session_id, "turn.completed", 3)
        there = await told(home, first.session_id, first.thread_id)
        assert [SUMMARY in there[0], *there[1:]] == [True, "turn two", "Yes."]
        assert await home.parts(first.session_id, begun.turn_id) is not None
        facts = [one.fact for one in await home.facts(first.session_id) if one.scope.turn == begun.turn_id]
        assert not [one for one in facts if isinstance(one, MessageText)]
        await home.submit("turn three", first.session_id)
        await home.until(first.session_id, "turn.completed", 4)
        assert (await told(home, first.session_id, first.thread_id))[1:] == ["turn two", "Yes.", "turn three", "Yes."]


async def test_a_summary_in_the_making_is_stopped_with_its_turn(tmp_path: Path) -> None:
    """UI-25, REC: nothing is lost of what was said, and the thread is asked as it was."""
    slow = [{"text": "Half of it"}, {"wait_for": "go"}]
    async with house(tmp_path, scenario(*slow)) as home:
        first = await home.submit(LONG)
        await home.until(first.session_id, "turn.completed", 1)
        await home.submit("turn two", first.session_id)
        await home.until(first.session_id, "context.compaction.started", 1)
    async with house(tmp_path, scenario()) as home:
        facts = await home.facts(first.session_id)
        stopped = [one.fact for one in facts if isinstance(one.fact, CompactionFailed | TurnInterrupted | MessageText)]
        assert [type(one).__name__ for one in stopped] == ["MessageText", "CompactionFailed", "TurnInterrupted"]
        there = await told(home, first.session_id, first.thread_id)
        assert there[0] == LONG
        await home.submit("turn three", first.session_id)
        await home.until(first.session_id, "context.compaction.completed", 1)
        await home.until(first.session_id, "turn.completed", 2)
