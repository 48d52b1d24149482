"""Summaries of threads whose model's context window fills."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.context import CompactThread, GetContext
from callboard.contracts.commands.turn import SteerTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.context import CompactionCompleted, CompactionFailed, CompactionStarted
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.model import CostRecorded, ModelRequested, RoutingResolved
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.facts.turn import TurnFailed, TurnInterrupted
from callboard.contracts.rows.context import ContextPart
from callboard.contracts.rows.message import TextPart
from tests.runtime.prompts.test_conversations import read_newest_call
from tests.runtime.rigs.runtime_rig import open_runtime, says, use_tool
from tests.runtime.turns.test_models import plays

#: About 7,000 tokens.
LONG = "turn one " + "word " * 5600
SUMMARY = "They said turn one, with many words."


def scenario(*summary: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario: a model with a window of 8,000 tokens that answers every turn, and its
    summaries."""
    return {
        "window": 8000,
        "agents": {"compaction": [list(summary) or says(SUMMARY)]},
        "match": [{"text": "turn", "agent": "solo", "calls": [says("Yes.")]}],
    }


#: The second turn waits for a file in its first round, receives a steering message, and is
#: summarised up to its second round.
STEERED: dict[str, Any] = {
    "window": 8000,
    "agents": {"compaction": [says(SUMMARY)]},
    "match": [
        {
            "text": "turn two",
            "agent": "solo",
            "calls": [
                use_tool("Bash", command="while [ ! -e go ]; do sleep 0.01; done; seq 1 4800"),
                use_tool("Bash", command="seq 1 1200"),
                says("Done."),
            ],
        },
        {"text": "turn", "agent": "solo", "calls": [says("Yes.")]},
    ],
}


def _make_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def test_a_full_thread_is_summarised_before_the_next_model_call(tmp_path: Path) -> None:
    """UI-25: the summary replaces older messages, is not an answer, and its usage is recorded. The
    newest messages stay in full, also after a restart."""
    summary = ({"text": SUMMARY}, {"usage": {"input": 7000, "output": 12}})
    async with open_runtime(tmp_path, scenario(*summary)) as rig:
        first = await rig.submit(LONG)
        await rig.until(first.session_id, "turn.completed", 1)
        second = await rig.submit("turn two", first.session_id)
        await rig.until(first.session_id, "turn.completed", 2)
        facts = [
            (record.header.type, record.fact)
            for record in await rig.facts(first.session_id)
            if record.scope.turn == second.turn_id
        ]
        begun = [fact for type, fact in facts if type.startswith(("context.compaction", "model.", "cost", "message"))]
        requests = [entry for entry in begun if isinstance(entry, ModelRequested)]
        assert [type for type, _ in facts if type.startswith(("context.compaction", "model.", "message"))] == [
            "context.compaction.started",
            "model.requested",
            "model.completed",
            "context.compaction.completed",
            "model.requested",
            "message.text",
            "model.completed",
        ]
        assert [(fact.purpose, fact.iteration) for fact in requests] == [("compaction", 0), ("answer", 1)]
        completed = next(entry for entry in begun if isinstance(entry, CompactionCompleted))
        assert completed.summary.text == SUMMARY
        assert (completed.tokens_after or 0) < (completed.tokens_before or 0)
        cost = [entry for entry in begun if isinstance(entry, CostRecorded)]
        assert (cost[0].input_tokens, cost[0].output_tokens) == (7000, 12)
        assert [entry.content.text for entry in begun if isinstance(entry, MessageText)] == ["Yes."]
        parts = await rig.parts(first.session_id, second.turn_id)
        assert [part.content.text for part in parts if isinstance(part, TextPart)] == ["Yes."]
        there = await read_newest_call(rig, first.session_id, first.thread_id)
        assert [SUMMARY in there[1], *there[2:]] == [True, "turn two", "Yes."]
        # A tenth of the window, 3,200 bytes, stays of the person's messages.
        assert there[0].startswith(LONG[:2400])
        assert there[0].endswith(
            f"\n[{len(LONG) - 3200:,} bytes omitted here; the summary covers them.]\n{LONG[-800:]}"
        )
    async with open_runtime(tmp_path, scenario()) as rig:
        assert await read_newest_call(rig, first.session_id, first.thread_id) == there


async def test_a_summary_is_sent_even_if_later_turns_are_omitted(tmp_path: Path) -> None:
    """UI-25, UI-29: a conversation that is read from the log again is the same."""
    async with open_runtime(tmp_path, scenario(), context_steps=3) as rig:
        first = await rig.submit(LONG)
        await rig.until(first.session_id, "turn.completed", 1)
        for count in range(2, 6):
            await rig.submit(f"turn {count}", first.session_id)
            await rig.until(first.session_id, "turn.completed", count)
        there = await read_newest_call(rig, first.session_id, first.thread_id)
        assert [SUMMARY in there[1], *there[2:]] == [True, "turn 4", "Yes.", "turn 5", "Yes."]
    async with open_runtime(tmp_path, scenario(), context_steps=3) as rig:
        assert await read_newest_call(rig, first.session_id, first.thread_id) == there


async def test_a_long_turn_is_summarised_and_keeps_its_input(tmp_path: Path) -> None:
    """UI-25: rounds of the current turn are summarised, and its input follows the summary."""
    first_call = {"tool": {"name": "Bash", "arguments": {"command": "seq 1 4800"}}}
    second = {"tool": {"name": "Bash", "arguments": {"command": "seq 1 1200"}}}
    # A scenario counts the answers that the model receives. After the summary, there is one again.
    lead = [[first_call], [second], says("Done.")]
    async with open_runtime(tmp_path, {"window": 8000, "agents": {"compaction": [says(SUMMARY)], "solo": lead}}) as rig:
        first = await rig.submit("turn one: count", permission_mode="full")
        await rig.until(first.session_id, "turn.completed")
        facts = [record.fact for record in await rig.facts(first.session_id)]
        assert [fact.cause for fact in facts if isinstance(fact, CompactionStarted)] == ["window"]
        requests = [(fact.purpose, fact.iteration) for fact in facts if isinstance(fact, ModelRequested)]
        assert requests == [("answer", 1), ("answer", 2), ("compaction", 2), ("answer", 3), ("answer", 4)]
        there = await read_newest_call(rig, first.session_id, first.thread_id)
        assert [SUMMARY in there[0], *there[1:]] == [True, "turn one: count", "Done."]


async def test_steering_messages_of_summarised_rounds_stay_in_full(tmp_path: Path) -> None:
    """UI-25: the newest messages of people stay beside the summary.

    These are the turn's input, messages of earlier turns, and steering messages in their place.
    They also stay after a restart and after another summary. The summarised turn continues.
    """
    async with open_runtime(tmp_path, STEERED) as rig:
        first = await rig.submit("turn one: keep it short")
        await rig.until(first.session_id, "turn.completed", 1)
        second = await rig.submit("turn two: count", first.session_id, permission_mode="full")
        await rig.until(first.session_id, "tool.started", 1)
        await rig.do(SteerTurn(session_id=first.session_id, text="and never past ten"))
        (rig.folder / "go").touch()
        await rig.until(first.session_id, "turn.completed", 2)
        completed = await rig.until(first.session_id, "context.compaction.completed")
        assert isinstance(completed.fact, CompactionCompleted)
        facts = {record.sequence: record.header.type for record in await rig.facts(first.session_id)}
        assert [facts[entry.sequence] for entry in completed.fact.said] == ["turn.submitted", "queue.steer.requested"]
        read = await rig.do(GetContext(session_id=first.session_id))
        assert [(entry.text.text, entry.size) for entry in read.said] == [
            ("turn one: keep it short", 23),
            ("and never past ten", 18),
        ]
        assert read.said[1].turn_id == second.turn_id
        there = await read_newest_call(rig, first.session_id, first.thread_id)
        assert [there[0], SUMMARY in there[1]] == ["turn one: keep it short", True]
        assert there[2:] == ["turn two: count", "and never past ten", "Done."]
    async with open_runtime(tmp_path, STEERED) as rig:
        assert await read_newest_call(rig, first.session_id, first.thread_id) == there
        await rig.submit("turn three", first.session_id)
        await rig.until(first.session_id, "turn.completed", 3)
        await rig.do(CompactThread(session_id=first.session_id))
        await rig.until(first.session_id, "turn.completed", 4)
        again = await read_newest_call(rig, first.session_id, first.thread_id)
        assert again[:3] == ["turn one: keep it short", "turn two: count", "and never past ten"]
        assert [SUMMARY in again[3], *again[4:]] == [True, "turn three", "Yes."]


async def test_a_summarised_turn_is_omitted_later_with_its_steering_messages(
    tmp_path: Path,
) -> None:
    """UI-25, UI-29: messages of earlier turns stay beside the summary, also after a restart."""
    async with open_runtime(tmp_path, STEERED, context_steps=5) as rig:
        first = await rig.submit("turn one")
        await rig.until(first.session_id, "turn.completed", 1)
        await rig.submit("turn two: count", first.session_id, permission_mode="full")
        await rig.until(first.session_id, "tool.started", 1)
        await rig.do(SteerTurn(session_id=first.session_id, text="and never past ten"))
        (rig.folder / "go").touch()
        await rig.until(first.session_id, "turn.completed", 2)
        for count in range(3, 6):
            await rig.submit(f"turn {count}", first.session_id)
            await rig.until(first.session_id, "turn.completed", count)
        there = await read_newest_call(rig, first.session_id, first.thread_id)
        assert [there[0], SUMMARY in there[1]] == ["turn one", True]
        assert there[2:] == ["turn 4", "Yes.", "turn 5", "Yes."]
    async with open_runtime(tmp_path, STEERED, context_steps=5) as rig:
        assert await read_newest_call(rig, first.session_id, first.thread_id) == there


async def test_a_request_that_is_too_long_is_repeated_after_a_summary(tmp_path: Path) -> None:
    """UI-25: also if the model's window is unknown."""
    full = [{"fail": {"code": "model_context_full", "message": "too long"}}]
    async with open_runtime(tmp_path, {"agents": {"compaction": [says(SUMMARY)], "solo": [says("Yes."), full]}}) as rig:
        first = await rig.submit("turn one")
        await rig.until(first.session_id, "turn.completed", 1)
        await rig.submit("turn two", first.session_id)
        await rig.until(first.session_id, "turn.completed", 2)
        started = [
            record.fact for record in await rig.facts(first.session_id) if isinstance(record.fact, CompactionStarted)
        ]
        assert [fact.cause for fact in started] == ["refused"]
        there = await read_newest_call(rig, first.session_id, first.thread_id)
        assert [there[0], SUMMARY in there[1], *there[2:]] == ["turn one", True, "turn two", "Yes."]


async def test_the_partial_answer_of_a_request_that_was_too_long_is_not_sent_again(
    tmp_path: Path,
) -> None:
    """UI-06, UI-25: it is shown as interrupted. The call is repeated from its start, without the
    partial answer and without a reminder."""
    broke = [{"text": "Half of it"}, {"fail": {"code": "model_context_full", "message": "too long"}}]
    async with open_runtime(
        tmp_path, {"agents": {"compaction": [says(SUMMARY)], "solo": [says("Yes."), broke]}}
    ) as rig:
        first = await rig.submit("turn one")
        await rig.until(first.session_id, "turn.completed", 1)
        second = await rig.submit("turn two", first.session_id)
        await rig.until(first.session_id, "turn.completed", 2)
        there = await read_newest_call(rig, first.session_id, first.thread_id)
        assert [there[0], SUMMARY in there[1], *there[2:]] == ["turn one", True, "turn two", "Yes."]
        parts = [part for part in await rig.parts(first.session_id, second.turn_id) if isinstance(part, TextPart)]
        assert [(part.content.text, part.state) for part in parts] == [("Half of it", "interrupted"), ("Yes.", "final")]
    async with open_runtime(tmp_path, scenario()) as rig:
        assert await read_newest_call(rig, first.session_id, first.thread_id) == there


async def test_without_a_summary_the_turn_continues_or_fails_with_a_reason(tmp_path: Path) -> None:
    """UI-25: a filling window is not a failure; a request that was refused as too long is one."""
    broken = [{"fail": {"code": "model_refused_request", "message": "no summaries here"}}]
    async with open_runtime(_make_folder(tmp_path / "a"), scenario(*broken)) as rig:
        first = await rig.submit(LONG)
        await rig.until(first.session_id, "turn.completed", 1)
        await rig.submit("turn two", first.session_id)
        await rig.until(first.session_id, "turn.completed", 2)
        failed = [
            record.fact for record in await rig.facts(first.session_id) if isinstance(record.fact, CompactionFailed)
        ]
        assert [(fact.code, fact.message) for fact in failed] == [("model_refused_request", "no summaries here")]
    full = [{"fail": {"code": "model_context_full", "message": "too long"}}]
    refusing = {"agents": {"compaction": [broken], "solo": [says("Yes."), full]}}
    async with open_runtime(_make_folder(tmp_path / "b"), refusing) as rig:
        first = await rig.submit("turn one")
        await rig.until(first.session_id, "turn.completed", 1)
        await rig.submit("turn two", first.session_id)
        record = await rig.until(first.session_id, "turn.failed", 1)
        assert isinstance(record.fact, TurnFailed)
        assert record.fact.code == "model_context_full"
        assert "no summaries here" in record.fact.message


@pytest.mark.parametrize("code", ["model_rate_limited", "model_unavailable", "model_context_full"])
async def test_a_summary_uses_the_fallback_models(tmp_path: Path, code: str) -> None:
    """UI-25: it is routed and recorded like an answer. The summary is one part, and the run
    continues with the fallback."""
    broken = {"fail": {"code": code, "message": "not now", "retryable": False}}
    models = plays(tmp_path, first=scenario({"text": "Half of"}, broken), second=scenario())
    async with open_runtime(tmp_path, {}, models=models) as rig:
        first = await rig.submit(LONG)
        await rig.until(first.session_id, "turn.completed", 1)
        second = await rig.submit("turn two", first.session_id)
        await rig.until(first.session_id, "turn.completed", 2)
        facts = [record.fact for record in await rig.facts(first.session_id) if record.scope.turn == second.turn_id]
        requests = [(fact.provider, fact.purpose, fact.iteration) for fact in facts if isinstance(fact, ModelRequested)]
        assert requests == [("first", "compaction", 0), ("second", "compaction", 0), ("second", "answer", 1)]
        routed = [fact for fact in facts if isinstance(fact, RoutingResolved)]
        assert [(fact.chosen.provider, fact.reason) for fact in routed[1:]] == [("second", "first/m failed: not now")]
        assert [fact.code for fact in facts if isinstance(fact, WarningRaised)] == ["model_fell_back"]
        assert not [fact for fact in facts if isinstance(fact, CompactionFailed)]
        parts = [part for part in await rig.parts(first.session_id, second.turn_id) if isinstance(part, ContextPart)]
        assert [(part.event, part.summary.text) for part in parts] == [("compacted", SUMMARY)]


async def test_a_turn_without_a_possible_summary_fails_and_can_be_continued(
    tmp_path: Path,
) -> None:
    """UI-25, REC-01: no partial summary is stored, and the conversation is sent unchanged."""
    broken = [{"text": "Half of"}, {"fail": {"code": "model_quota", "message": "none left", "retryable": False}}]
    full = [{"fail": {"code": "model_context_full", "message": "too long"}}]
    played = {"agents": {"compaction": [broken], "solo": [says("Yes."), full]}}
    async with open_runtime(tmp_path, {}, models=plays(tmp_path, first=played, second=played)) as rig:
        first = await rig.submit("turn one")
        await rig.until(first.session_id, "turn.completed", 1)
        await rig.submit("turn two", first.session_id)
        record = await rig.until(first.session_id, "turn.failed")
        assert isinstance(record.fact, TurnFailed)
        assert (record.fact.code, record.fact.retryable) == ("model_context_full", True)
        assert record.fact.message == "The request is too long for the model, and compaction failed: none left"
        assert await read_newest_call(rig, first.session_id, first.thread_id) == ["turn one", "Yes.", "turn two"]
    played["agents"]["compaction"] = [says(SUMMARY)]
    async with open_runtime(tmp_path, {}, models=plays(tmp_path, first=played)) as rig:
        await rig.submit("turn two again", first.session_id)
        await rig.until(first.session_id, "turn.completed", 2)
        there = await read_newest_call(rig, first.session_id, first.thread_id)
        assert [*there[:2], SUMMARY in there[2], *there[3:]] == ["turn one", "turn two", True, "turn two again", "Yes."]


async def test_a_person_can_compact_a_thread(tmp_path: Path) -> None:
    """UI-25: compact_thread keeps the newest turn in full, and is refused if there is nothing
    older."""
    async with open_runtime(tmp_path, scenario()) as rig:
        first = await rig.submit("turn one")
        await rig.until(first.session_id, "turn.completed", 1)
        with pytest.raises(Refusal) as refused:
            await rig.do(CompactThread(session_id=first.session_id))
        assert refused.value.code == "nothing_to_compact"
        await rig.submit("turn two", first.session_id)
        await rig.until(first.session_id, "turn.completed", 2)
        begun = await rig.do(CompactThread(session_id=first.session_id))
        await rig.until(first.session_id, "turn.completed", 3)
        there = await read_newest_call(rig, first.session_id, first.thread_id)
        assert [there[0], SUMMARY in there[1], *there[2:]] == ["turn one", True, "turn two", "Yes."]
        assert await rig.parts(first.session_id, begun.turn_id) is not None
        facts = [record.fact for record in await rig.facts(first.session_id) if record.scope.turn == begun.turn_id]
        assert not [fact for fact in facts if isinstance(fact, MessageText)]
        await rig.submit("turn three", first.session_id)
        await rig.until(first.session_id, "turn.completed", 4)
        assert (await read_newest_call(rig, first.session_id, first.thread_id))[2:] == [
            "turn two",
            "Yes.",
            "turn three",
            "Yes.",
        ]


async def test_an_interrupt_ends_a_running_summary(tmp_path: Path) -> None:
    """UI-25, REC: no message is lost, and the next request is unchanged."""
    slow = [{"text": "Half of it"}, {"wait_for": "go"}]
    async with open_runtime(tmp_path, scenario(*slow)) as rig:
        first = await rig.submit(LONG)
        await rig.until(first.session_id, "turn.completed", 1)
        await rig.submit("turn two", first.session_id)
        await rig.until(first.session_id, "context.compaction.started", 1)
    async with open_runtime(tmp_path, scenario()) as rig:
        facts = await rig.facts(first.session_id)
        stopped = [
            record.fact for record in facts if isinstance(record.fact, CompactionFailed | TurnInterrupted | MessageText)
        ]
        assert [type(entry).__name__ for entry in stopped] == ["MessageText", "CompactionFailed", "TurnInterrupted"]
        there = await read_newest_call(rig, first.session_id, first.thread_id)
        assert there[0] == LONG
        await rig.submit("turn three", first.session_id)
        await rig.until(first.session_id, "context.compaction.completed", 1)
        await rig.until(first.session_id, "turn.completed", 2)
