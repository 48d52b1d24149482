"""Turns with real tools: inputs, effects and answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.queue import PromoteQueuedTurn, RemoveQueuedTurn
from callboard.contracts.commands.session import DeleteSession, UpdateSession
from callboard.contracts.commands.turn import InterruptTurn, SteerTurn, SubmitTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.message import MessageInterrupted
from callboard.contracts.facts.queue import SteerAccepted
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.turn import TurnInterrupted
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.tool import ToolPart
from callboard.contracts.rows.turn import TurnRow
from callboard.contracts.settings import RetrySettings
from tests.runtime.rigs.runtime_rig import calls, open_runtime, says, use_tool

WRITE = use_tool("Write", file_path="a.txt", content="hello\n")


async def test_a_turn_reads_a_real_file_and_answers(tmp_path: Path) -> None:
    """UI-03: parts are in arrival order. UI-05: the text after the last tool call is the answer."""
    scenario = calls(
        [{"reasoning": "look"}, {"text": "Reading."}, *use_tool("Read", file_path="notes.md")], says("It says hi.")
    )
    async with open_runtime(tmp_path, scenario) as rig:
        (rig.folder / "notes.md").write_text("hi\n")
        turn = await rig.submit("what do the notes say?")
        await rig.until(turn.session_id, "turn.completed")
        parts = await rig.parts(turn.session_id, turn.turn_id)
        assert [part.__struct_config__.tag for part in parts] == [
            "reasoning_summary",
            "assistant_text",
            "tool_call",
            "assistant_text",
        ]
        assert [(part.content.text, part.commentary) for part in parts if isinstance(part, TextPart)] == [
            ("Reading.", True),
            ("It says hi.", False),
        ]
        read = await rig.read(turn.session_id)
        assert read.last_turn is not None
        assert (read.last_turn.state, read.last_turn.iterations, read.last_turn.tool_calls) == ("completed", 2, 1)


async def test_a_turn_of_two_calls_and_one_tool_has_four_transactions(tmp_path: Path) -> None:
    """The facts of one transaction have one time. A turn of two model calls and one tool has four."""
    async with open_runtime(tmp_path, calls(use_tool("Read", file_path="notes.md"), says("Done."))) as rig:
        (rig.folder / "notes.md").write_text("hi\n")
        turn = await rig.submit("read")
        await rig.until(turn.session_id, "turn.completed")
        batches: list[list[str]] = []
        time = -1
        for record in await rig.facts(turn.session_id):
            if record.header.at != time:
                batches.append([])
                time = record.header.at
            batches[-1].append(record.header.type)
        assert batches == [
            [
                "session.created",
                "thread.opened",
                "turn.submitted",
                "turn.started",
                "tool.catalog.resolved",
                "routing.resolved",
                "model.requested",
            ],
            [
                "model.completed",
                "cost.recorded",
                "tool.requested",
                "permission.evaluated",
                "sandbox.applied",
                "tool.started",
            ],
            ["tool.completed", "model.requested"],
            ["message.text", "model.completed", "cost.recorded", "output.final", "turn.completed"],
        ]


async def test_nothing_is_written_before_the_approval(tmp_path: Path) -> None:
    """CTL-04: an unresolved action is not approved, and unrelated work continues."""
    async with open_runtime(
        tmp_path, {"match": [{"text": "write", "calls": [WRITE, says("Written.")]}], "calls": [says("Hi.")]}
    ) as rig:
        writing = await rig.submit("write it")
        action = await rig.until(writing.session_id, "action.required")
        other = await rig.submit("hello")
        await rig.until(other.session_id, "turn.completed")
        assert not (rig.folder / "a.txt").exists()
        answer = await rig.do(
            RespondAction(session_id=writing.session_id, action_id=action.scope.action, decision="approve")
        )
        assert (answer.outcome, answer.first) == ("approved", True)
        await rig.until(writing.session_id, "turn.completed")
        assert (rig.folder / "a.txt").read_text() == "hello\n"
        again = await rig.do(
            RespondAction(session_id=writing.session_id, action_id=action.scope.action, decision="reject")
        )
        assert (again.outcome, again.first) == ("approved", False)


async def test_a_denial_leaves_no_effect_and_reaches_the_model(tmp_path: Path) -> None:
    """CTL-05."""
    async with open_runtime(tmp_path, calls(WRITE, says("Then not."))) as rig:
        turn = await rig.submit("write it")
        action = await rig.until(turn.session_id, "action.required")
        await rig.do(
            RespondAction(
                session_id=turn.session_id, action_id=action.scope.action, decision="reject", reason="no need"
            )
        )
        await rig.until(turn.session_id, "turn.completed")
        assert not (rig.folder / "a.txt").exists()
        (tool,) = [part for part in await rig.parts(turn.session_id, turn.turn_id) if isinstance(part, ToolPart)]
        assert (tool.state, tool.code, tool.message) == (
            "output-error",
            "person_denied",
            "The person rejected the call: no need",
        )


async def test_an_approval_does_not_apply_to_a_changed_file(tmp_path: Path) -> None:
    """SAFE-07."""
    async with open_runtime(tmp_path, calls(WRITE, says("I see."))) as rig:
        (rig.folder / "a.txt").write_text("first\n")
        turn = await rig.submit("write it")
        action = await rig.until(turn.session_id, "action.required")
        (rig.folder / "a.txt").write_text("somebody else's\n")
        await rig.do(RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="approve"))
        await rig.until(turn.session_id, "turn.completed")
        assert (rig.folder / "a.txt").read_text() == "somebody else's\n"
        (tool,) = [part for part in await rig.parts(turn.session_id, turn.turn_id) if isinstance(part, ToolPart)]
        assert tool.code == "file_changed"


async def test_an_interrupt_keeps_the_text_and_the_next_message_runs(tmp_path: Path) -> None:
    """COM-10."""
    long: list[dict[str, object]] = [{"text": "So far."}, {"wait_for": "never"}]
    scenario = {"match": [{"text": "long", "calls": [long]}, {"text": "and then", "calls": [says("Next.")]}]}
    async with open_runtime(tmp_path, scenario) as rig:
        turn = await rig.submit("a long one")
        await rig.watch(
            turn.session_id, lambda table: any(part.content.text == "So far." for part in table.list_rows(TextPart))
        )
        queued = await rig.submit("and then", turn.session_id)
        assert queued.status == "queued"
        await rig.do(InterruptTurn(session_id=turn.session_id))
        await rig.until(turn.session_id, "turn.completed")
        facts = await rig.facts(turn.session_id)
        (interrupted,) = [record.fact for record in facts if isinstance(record.fact, MessageInterrupted)]
        assert interrupted.content.text == "So far."
        assert [record.scope.turn for record in facts if record.header.type == "turn.completed"] == [queued.turn_id]


async def test_an_interrupt_ends_a_commands_processes(tmp_path: Path) -> None:
    """SAFE-10, MAR-10: they have ended when the turn is recorded as interrupted, and the output so
    far is stored."""
    run = use_tool("Bash", command="echo started; touch began; sleep 600")
    async with open_runtime(tmp_path, calls(run)) as rig:
        turn = await rig.submit("run", permission_mode="full")
        await rig.watch(
            turn.session_id, lambda table: any("started" in part.output.text for part in table.list_rows(ToolPart))
        )
        await rig.do(InterruptTurn(session_id=turn.session_id))
        await rig.until(turn.session_id, "turn.interrupted")
        (tool,) = [part for part in await rig.parts(turn.session_id, turn.turn_id) if isinstance(part, ToolPart)]
        assert (tool.state, tool.output.text) == ("cancelled", "started\n")


async def test_interrupting_an_idle_thread_is_a_clear_error(tmp_path: Path) -> None:
    """COM-11."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        turn = await rig.submit("hello")
        await rig.until(turn.session_id, "turn.completed")
        before = await rig.types(turn.session_id)
        with pytest.raises(Refusal) as refused:
            await rig.do(InterruptTurn(session_id=turn.session_id))
        assert refused.value.code == "nothing_running"
        assert await rig.types(turn.session_id) == before


async def test_turns_wait_in_order_and_the_order_can_be_changed(tmp_path: Path) -> None:
    """CTL-03, MAR-13, UI-11."""
    scenario = {
        "match": [{"text": "first", "calls": [[{"wait_for": "go"}, {"text": "One."}]]}],
        "agents": {},
        "calls": [says("Some."), says("Some."), says("Some."), says("Some.")],
    }
    async with open_runtime(tmp_path, scenario) as rig:
        first = await rig.submit("first")
        session = first.session_id
        second, third, fourth = [await rig.submit(text, session) for text in ("second", "third", "fourth")]
        await rig.do(PromoteQueuedTurn(session_id=session, turn_id=fourth.turn_id))
        changed = await rig.do(RemoveQueuedTurn(session_id=session, turn_id=second.turn_id))
        assert changed.queued == (fourth.turn_id, third.turn_id)
        (tmp_path / "go").touch()
        await rig.until(session, "turn.completed", count=3)
        started = [record.scope.turn for record in await rig.facts(session) if record.header.type == "turn.started"]
        assert started == [first.turn_id, fourth.turn_id, third.turn_id]


async def test_a_steer_is_part_of_the_next_model_call(tmp_path: Path) -> None:
    """UI-11: it is pending until a named model call includes it."""
    scenario = calls([{"wait_for": "go"}, *use_tool("Glob", pattern="*")], says("As you wish."))
    async with open_runtime(tmp_path, scenario) as rig:
        turn = await rig.submit("begin")
        steer = await rig.do(SteerTurn(session_id=turn.session_id, text="only Python files"))
        (tmp_path / "go").touch()
        await rig.until(turn.session_id, "turn.completed")
        facts = await rig.facts(turn.session_id)
        (accepted,) = [record for record in facts if isinstance(record.fact, SteerAccepted)]
        requests = [record for record in facts if record.header.type == "model.requested"]
        assert accepted.fact == SteerAccepted(steer_id=steer.steer_id)
        assert accepted.scope.step == requests[1].scope.step


async def test_a_repeated_key_has_one_effect_also_concurrently(tmp_path: Path) -> None:
    """CTL-01, CTL-02."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        request = SubmitTurn(text="hello", workspace_id=rig.workspace)
        answers = await asyncio.gather(*(rig.do(request, key="k") for _ in range(10)))
        assert len({answer.turn_id for answer in answers}) == 1
        with pytest.raises(Refusal) as refused:
            await rig.do(SubmitTurn(text="other", workspace_id=rig.workspace), key="k")
        assert refused.value.code == "idempotency_conflict"
        assert len(await rig.runtime.dependencies.store.facts.list_streams("ses_")) == 1


async def test_a_failing_model_is_retried_and_then_reported(tmp_path: Path) -> None:
    """COM-09, CTL-07: each attempt leaves its fact, and the last one ends the turn with a reason."""
    failing = [
        {"text": "Well"},
        {"fail": {"code": "model_timeout", "message": "down", "retryable": True, "retry_after": 0.001}},
    ]
    async with open_runtime(tmp_path, calls(failing), model_retry=RetrySettings(attempts=3)) as rig:
        turn = await rig.submit("hello")
        await rig.until(turn.session_id, "turn.failed")
        types = await rig.types(turn.session_id)
        assert types.count("model.failed") == 3
        assert types.count("message.interrupted") == 1
        row = (await rig.read(turn.session_id)).last_turn
        assert isinstance(row, TurnRow)
        assert (row.state, row.code, row.message) == ("failed", "model_timeout", "down")


async def test_reaching_the_iteration_limit_is_not_completion(tmp_path: Path) -> None:
    """MAR-12: an autonomous agent that never finalises fails at its limit."""
    async with open_runtime(tmp_path, calls(*(says(f"At it for {count}.") for count in range(60)))) as rig:
        turn = await rig.submit("work", mode="auto")
        ended = await rig.until(turn.session_id, "turn.failed")
        assert getattr(ended.fact, "code", "") == "max_iters"
        assert "turn.completed" not in await rig.types(turn.session_id)


async def test_a_turn_that_repeats_the_same_result_is_paused_and_shown(tmp_path: Path) -> None:
    """The session waits for a person, with the repeated steps. New input continues it."""
    same = use_tool("Glob", pattern="*.nothing")
    async with open_runtime(tmp_path, calls(same, same, same, says("Oh."))) as rig:
        turn = await rig.submit("look")
        paused = (await rig.until(turn.session_id, "thread.paused")).fact
        assert isinstance(paused, ThreadPaused)
        assert (paused.cause, len(paused.evidence)) == ("no_progress", 3)
        read = await rig.read(turn.session_id)
        assert (read.status.paused, read.last_turn.code if read.last_turn else "") == ("no_progress", "no_progress")
        await rig.submit("stop looking", turn.session_id)
        await rig.until(turn.session_id, "turn.completed")


async def test_interrupting_input_replaces_the_running_turn(tmp_path: Path) -> None:
    """UI-11: the replaced turn has the reason."""
    long: list[dict[str, object]] = [{"text": "So far."}, {"wait_for": "never"}]
    scenario = {"match": [{"text": "long", "calls": [long]}, {"text": "rather", "calls": [says("This.")]}]}
    async with open_runtime(tmp_path, scenario) as rig:
        first = await rig.submit("a long one")
        await rig.until(first.session_id, "model.requested")
        newer = await rig.submit("rather this", first.session_id, when_busy="interrupt")
        await rig.until(first.session_id, "turn.completed")
        ended = [record for record in await rig.facts(first.session_id) if isinstance(record.fact, TurnInterrupted)]
        assert [(record.scope.turn, getattr(record.fact, "cause", "")) for record in ended] == [
            (first.turn_id, "replaced")
        ]
        assert (await rig.read(first.session_id)).last_turn == next(
            row
            for row in (await rig.watch(first.session_id, lambda _: True)).list_rows(TurnRow)
            if row.key == newer.turn_id
        )


async def test_an_archived_session_accepts_no_input(tmp_path: Path) -> None:
    """UI-31: an archived session stays closed until a person unarchives it."""
    async with open_runtime(tmp_path, calls(says("Hi."), says("Again."))) as rig:
        turn = await rig.submit("hello")
        await rig.until(turn.session_id, "turn.completed")
        await rig.do(UpdateSession(session_id=turn.session_id, archived=True))
        with pytest.raises(Refusal) as refused:
            await rig.submit("more", turn.session_id)
        assert refused.value.code == "session_archived"
        await rig.do(UpdateSession(session_id=turn.session_id, archived=False))
        await rig.submit("more", turn.session_id)
        await rig.until(turn.session_id, "turn.completed", count=2)


async def test_an_expired_approval_is_a_denial(tmp_path: Path) -> None:
    """CTL-04: expiry is never approval."""
    async with open_runtime(tmp_path, calls(WRITE, says("Then not.")), approval_expiry=0.05) as rig:
        turn = await rig.submit("write it")
        await rig.until(turn.session_id, "turn.completed")
        types = await rig.types(turn.session_id)
        assert [type for type in types if type.startswith(("action.", "tool.re"))] == [
            "tool.requested",
            "action.required",
            "action.expired",
            "tool.refused",
        ]
        assert not (rig.folder / "a.txt").exists()


async def test_a_turn_with_a_callers_id_is_created_once_for_all_keys(tmp_path: Path) -> None:
    """CTL-02."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        request = SubmitTurn(text="hello", workspace_id=rig.workspace, turn_id="mine")
        outcomes = await asyncio.gather(*(rig.do(request, key=key) for key in "abc"), return_exceptions=True)
        accepted = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
        refused = [outcome.code for outcome in outcomes if isinstance(outcome, Refusal)]
        assert (len(accepted), refused) == (1, ["turn_id_used", "turn_id_used"])
        assert len(await rig.runtime.dependencies.store.facts.list_streams("ses_")) == 1
        await rig.until(accepted[0].session_id, "turn.completed")
        await rig.do(DeleteSession(session_id=accepted[0].session_id, confirm=accepted[0].session_id))
        with pytest.raises(Refusal) as again:
            await rig.do(request, key="d")
        assert again.value.code == "turn_id_used"


async def test_a_waiting_session_is_closed_and_its_answer_reopens_it(tmp_path: Path) -> None:
    """CTL-04: a pending action keeps nothing in memory, with or without an expiry."""
    limits: dict[str, Any] = {"approval_expiry": 3600.0, "idle_waiting": -1.0}
    async with open_runtime(tmp_path, calls(WRITE, says("Done.")), **limits) as rig:
        turn = await rig.submit("write")
        action = await rig.until(turn.session_id, "action.required")
        await rig.wait_closed()
        answer = RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="approve")
        await rig.do(answer)
        await rig.until(turn.session_id, "turn.completed")
        assert "session.taken_over" not in await rig.types(turn.session_id)


async def test_an_action_expires_also_while_its_session_is_closed(tmp_path: Path) -> None:
    """CTL-04: expiry is never approval."""
    async with open_runtime(tmp_path, calls(WRITE, says("Then not.")), approval_expiry=0.5) as rig:
        turn = await rig.submit("write")
        await rig.until(turn.session_id, "action.required")
        await rig.runtime.sessions.release(turn.session_id)
        await rig.until(turn.session_id, "turn.completed")
        assert "action.expired" in await rig.types(turn.session_id)
        assert list(rig.folder.iterdir()) == []
