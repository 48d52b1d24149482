"""A thread whose model's window fills: its older part is summarised, told as the summary, and shown as what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands import SteerTurn
from callboard.contracts.commands.context import CompactThread, GetContext
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    CostRecorded,
    MessageText,
    ModelRequested,
    RoutingResolved,
    TurnFailed,
    TurnInterrupted,
    WarningRaised,
)
from callboard.contracts.rows import ContextPart, TextPart
from tests.runtime.prompts.test_conversations import told
from tests.runtime.rigs.house import house, says, uses
from tests.runtime.turns.test_models import plays

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


#: The second turn waits for a file in its first round, which is steered into, and is summarised up to its second.
STEERED: dict[str, Any] = {
    "window": 8000,
    "agents": {"compaction": [says(SUMMARY)]},
    "match": [
        {
            "text": "turn two",
            "agent": "solo",
            "calls": [
                uses("Bash", command="while [ ! -e go ]; do sleep 0.01; done; seq 1 4800"),
                uses("Bash", command="seq 1 1200"),
                says("Done."),
            ],
        },
        {"text": "turn", "agent": "solo", "calls": [says("Yes.")]},
    ],
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
        assert [SUMMARY in there[1], *there[2:]] == [True, "turn two", "Yes."]
        # A tenth of the window, 3,200 bytes, stays of what the person said.
        assert there[0].startswith(LONG[:2400])
        assert there[0].endswith(
            f"\n[{len(LONG) - 3200:,} bytes of this are told in the summary alone.]\n{LONG[-800:]}"
        )
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
        assert [SUMMARY in there[1], *there[2:]] == [True, "turn 4", "Yes.", "turn 5", "Yes."]
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


async def test_what_a_person_steered_into_a_round_that_is_summarised_is_told_as_they_said_it(tmp_path: Path) -> None:
    """UI-25: beside the summary stand the newest words of persons, an input that the turn was asked in any case, those of
    turns before it, and a steer in its place; also after a restart, and where it is summarised again. A turn that is
    summarised in its middle goes on where it was."""
    async with house(tmp_path, STEERED) as home:
        first = await home.submit("turn one: keep it short")
        await home.until(first.session_id, "turn.completed", 1)
        second = await home.submit("turn two: count", first.session_id, permission_mode="full")
        await home.until(first.session_id, "tool.started", 1)
        await home.do(SteerTurn(session_id=first.session_id, text="and never past ten"))
        (home.folder / "go").touch()
        await home.until(first.session_id, "turn.completed", 2)
        made = await home.until(first.session_id, "context.compaction.completed")
        assert isinstance(made.fact, CompactionCompleted)
        facts = {one.sequence: one.header.type for one in await home.facts(first.session_id)}
        assert [facts[one.sequence] for one in made.fact.said] == ["turn.submitted", "queue.steer.requested"]
        read = await home.do(GetContext(session_id=first.session_id))
        assert [(one.text.text, one.size) for one in read.said] == [
            ("turn one: keep it short", 23),
            ("and never past ten", 18),
        ]
        assert read.said[1].turn_id == second.turn_id
        there = await told(home, first.session_id, first.thread_id)
        assert [there[0], SUMMARY in there[1]] == ["turn one: keep it short", True]
        assert there[2:] == ["turn two: count", "and never past ten", "Done."]
    async with house(tmp_path, STEERED) as home:
        assert await told(home, first.session_id, first.thread_id) == there
        await home.submit("turn three", first.session_id)
        await home.until(first.session_id, "turn.completed", 3)
        await home.do(CompactThread(session_id=first.session_id))
        await home.until(first.session_id, "turn.completed", 4)
        again = await told(home, first.session_id, first.thread_id)
        assert again[:3] == ["turn one: keep it short", "turn two: count", "and never past ten"]
        assert [SUMMARY in again[3], *again[4:]] == [True, "turn three", "Yes."]


async def test_a_turn_that_was_summarised_in_its_middle_is_left_out_later_with_what_was_steered_into_it(
    tmp_path: Path,
) -> None:
    """UI-25, UI-29: what was said in turns before it stands on beside the summary, also after a restart."""
    async with house(tmp_path, STEERED, context_steps=5) as home:
        first = await home.submit("turn one")
        await home.until(first.session_id, "turn.completed", 1)
        await home.submit("turn two: count", first.session_id, permission_mode="full")
        await home.until(first.session_id, "tool.started", 1)
        await home.do(SteerTurn(session_id=first.session_id, text="and never past ten"))
        (home.folder / "go").touch()
        await home.until(first.session_id, "turn.completed", 2)
        for count in range(3, 6):
            await home.submit(f"turn {count}", first.session_id)
            await home.until(first.session_id, "turn.completed", count)
        there = await told(home, first.session_id, first.thread_id)
        assert [there[0], SUMMARY in there[1]] == ["turn one", True]
        assert there[2:] == ["turn 4", "Yes.", "turn 5", "Yes."]
    async with house(tmp_path, STEERED, context_steps=5) as home:
        assert await told(home, first.session_id, first.thread_id) == there


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
        there = await told(home, first.session_id, first.thread_id)
        assert [there[0], SUMMARY in there[1], *there[2:]] == ["turn one", True, "turn two", "Yes."]


async def test_what_there_was_of_an_answer_whose_request_was_too_long_is_kept_as_cut_and_not_told_again(
    tmp_path: Path,
) -> None:
    """UI-06, UI-25: it was said, so that it stands in the conversation as broken off; the same call is made again from its
    beginning, without it and without being told to go on."""
    broke = [{"text": "Half of it"}, {"fail": {"code": "model_context_full", "message": "too long"}}]
    async with house(tmp_path, {"agents": {"compaction": [says(SUMMARY)], "solo": [says("Yes."), broke]}}) as home:
        first = await home.submit("turn one")
        await home.until(first.session_id, "turn.completed", 1)
        second = await home.submit("turn two", first.session_id)
        await home.until(first.session_id, "turn.completed", 2)
        there = await told(home, first.session_id, first.thread_id)
        assert [there[0], SUMMARY in there[1], *there[2:]] == ["turn one", True, "turn two", "Yes."]
        parts = [one for one in await home.parts(first.session_id, second.turn_id) if isinstance(one, TextPart)]
        assert [(one.content.text, one.state) for one in parts] == [("Half of it", "interrupted"), ("Yes.", "final")]
    async with house(tmp_path, scenario()) as home:
        assert await told(home, first.session_id, first.thread_id) == there


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


@pytest.mark.parametrize("code", ["model_rate_limited", "model_unavailable", "model_context_full"])
async def test_where_the_model_that_summarises_fails_the_next_one_is_asked_and_goes_on(
    tmp_path: Path, code: str
) -> None:
    """UI-25: it is routed as an answer is, and said; the summary is one part, and the run goes on with who made it."""
    broken = {"fail": {"code": code, "message": "not now", "retryable": False}}
    models = plays(tmp_path, first=scenario({"text": "Half of"}, broken), second=scenario())
    async with house(tmp_path, {}, models=models) as home:
        first = await home.submit(LONG)
        await home.until(first.session_id, "turn.completed", 1)
        second = await home.submit("turn two", first.session_id)
        await home.until(first.session_id, "turn.completed", 2)
        facts = [one.fact for one in await home.facts(first.session_id) if one.scope.turn == second.turn_id]
        asked = [(one.provider, one.purpose, one.iteration) for one in facts if isinstance(one, ModelRequested)]
        assert asked == [("first", "compaction", 0), ("second", "compaction", 0), ("second", "answer", 1)]
        routed = [one for one in facts if isinstance(one, RoutingResolved)]
        assert [(one.chosen.provider, one.reason) for one in routed[1:]] == [("second", "first/m failed: not now")]
        assert [one.code for one in facts if isinstance(one, WarningRaised)] == ["model_fell_back"]
        assert not [one for one in facts if isinstance(one, CompactionFailed)]
        parts = [one for one in await home.parts(first.session_id, second.turn_id) if isinstance(one, ContextPart)]
        assert [(one.event, one.summary.text) for one in parts] == [("compacted", SUMMARY)]


async def test_where_no_model_gives_a_summary_of_what_is_too_long_the_turn_says_so_and_can_be_gone_on_with(
    tmp_path: Path,
) -> None:
    """UI-25, REC-01: nothing half of it is kept, and what was said is told again as it was."""
    broken = [{"text": "Half of"}, {"fail": {"code": "model_quota", "message": "none left", "retryable": False}}]
    full = [{"fail": {"code": "model_context_full", "message": "too long"}}]
    played = {"agents": {"compaction": [broken], "solo": [says("Yes."), full]}}
    async with house(tmp_path, {}, models=plays(tmp_path, first=played, second=played)) as home:
        first = await home.submit("turn one")
        await home.until(first.session_id, "turn.completed", 1)
        await home.submit("turn two", first.session_id)
        record = await home.until(first.session_id, "turn.failed")
        assert isinstance(record.fact, TurnFailed)
        assert (record.fact.code, record.fact.retryable) == ("model_context_full", True)
        assert record.fact.message == "The request is longer than the model takes, and no summary: none left"
        assert await told(home, first.session_id, first.thread_id) == ["turn one", "Yes.", "turn two"]
    played["agents"]["compaction"] = [says(SUMMARY)]
    async with house(tmp_path, {}, models=plays(tmp_path, first=played)) as home:
        await home.submit("turn two again", first.session_id)
        await home.until(first.session_id, "turn.completed", 2)
        there = await told(home, first.session_id, first.thread_id)
        assert [*there[:2], SUMMARY in there[2], *there[3:]] == ["turn one", "turn two", True, "turn two again", "Yes."]


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
        assert [there[0], SUMMARY in there[1], *there[2:]] == ["turn one", True, "turn two", "Yes."]
        assert await home.parts(first.session_id, begun.turn_id) is not None
        facts = [one.fact for one in await home.facts(first.session_id) if one.scope.turn == begun.turn_id]
        assert not [one for one in facts if isinstance(one, MessageText)]
        await home.submit("turn three", first.session_id)
        await home.until(first.session_id, "turn.completed", 4)
        assert (await told(home, first.session_id, first.thread_id))[2:] == ["turn two", "Yes.", "turn three", "Yes."]


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
