"""Ends of runs after failures, late responses and refusals: the facts state what happened."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.session import GetTurns
from callboard.contracts.commands.turn import InterruptTurn, SteerTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.live import Frame
from callboard.contracts.ports.model import TextContent
from callboard.contracts.ports.store import Append, Views
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.message import TextPart
from callboard.runtime import session_state
from tests.runtime.rigs.runtime_rig import calls, open_runtime, says, use_tool


def raise_full() -> Refusal:
    """Raise what the store raises while the disk is full."""
    return Refusal("store_full", "There is no room.")


async def test_a_failed_effect_keeps_its_shown_text_and_leaves_no_partial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design rule 3: partials end with the facts of their parts, and none is written afterwards."""
    async with open_runtime(
        tmp_path, calls([{"text": "I will."}, *use_tool("Read", file_path="a")]), partial_bytes=1
    ) as rig:

        async def breaks(call: ToolCall, context: ToolContext) -> Evaluation:
            raise RuntimeError("a defect")

        monkeypatch.setattr(rig.runtime.dependencies.toolbox, "evaluate", breaks)
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.interrupted")
        assert (await rig.types(turn.session_id))[7:] == [
            "message.text",
            "model.completed",
            "cost.recorded",
            "turn.interrupted",
        ]
        await rig.runtime.sessions.release(turn.session_id)
        assert await rig.runtime.dependencies.store.partials.read(turn.session_id) == ()


async def test_an_answer_survives_refused_partials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A partial only guards against a crash."""
    streamed: list[dict[str, Any]] = [{"text": "word " * 1000, "chunk": 50, "delay_ms": 1}]
    async with open_runtime(tmp_path, calls(streamed), partial_interval=0.01, frame_interval=0.0) as rig:
        partials = rig.runtime.dependencies.store.partials
        write, tried = partials.write, 0

        async def refuses_once(stream: str, epoch: int, pieces: Sequence[Frame]) -> None:
            nonlocal tried
            tried += 1
            if tried == 2:
                raise raise_full()
            await write(stream, epoch, pieces)

        monkeypatch.setattr(partials, "write", refuses_once)
        turn = await rig.submit("talk")
        await rig.until(turn.session_id, "turn.completed")
        (part,) = [part for part in await rig.parts(turn.session_id, turn.turn_id) if isinstance(part, TextPart)]
        assert (tried > 2, part.content.ref is not None or part.content.text == "word " * 1000) == (True, True)


async def test_an_interrupted_partial_call_leaves_nothing(tmp_path: Path) -> None:
    """An incomplete tool call is dropped with its stored arguments."""
    half: list[dict[str, Any]] = [{"tool": {"name": "Read", "arguments": '{"file_path": "a'}}, {"wait_for": "never"}]
    async with open_runtime(tmp_path, calls(half), partial_bytes=1, frame_interval=0.0) as rig:
        turn = await rig.submit("go")
        await rig.wait_partial(turn.session_id, '{"file_path": "a')
        await rig.do(InterruptTurn(session_id=turn.session_id))
        await rig.until(turn.session_id, "turn.interrupted")
        assert await rig.runtime.dependencies.store.partials.read(turn.session_id) == ()


async def test_the_text_of_a_failed_attempt_stays_dropped_after_an_interrupt(tmp_path: Path) -> None:
    """CTL-07: a retry is a new attempt, and the failed one's text is not part of the conversation."""
    fails: list[dict[str, Any]] = [
        {"text": "Half"},
        {"fail": {"code": "model_unavailable", "retryable": True, "retry_after": 60}},
    ]
    async with open_runtime(tmp_path, calls(fails)) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "model.failed")
        await rig.do(InterruptTurn(session_id=turn.session_id))
        await rig.until(turn.session_id, "turn.interrupted")
        assert (await rig.types(turn.session_id))[7:] == [
            "model.failed",
            "turn.interrupt.requested",
            "model.interrupted",
            "turn.interrupted",
        ]


async def test_a_call_that_starts_during_shutdown_ends_before_it_is_recorded_as_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAFE-10: nothing keeps running after a fact that cancels it."""
    async with open_runtime(tmp_path, calls(use_tool("Bash", command="sleep 2; touch ran"))) as rig:
        append, started = rig.runtime.dependencies.store.facts.append, asyncio.Event()

        async def slow(batch: Append) -> tuple[Record, ...]:
            records = await append(batch)
            if any(record.header.type == "tool.started" for record in records):
                started.set()
                await asyncio.sleep(0.05)
            return records

        monkeypatch.setattr(rig.runtime.dependencies.store.facts, "append", slow)
        turn = await rig.submit("go", permission_mode="full")
        await started.wait()
    async with open_runtime(tmp_path, calls(says("x"))) as rig:
        assert (await rig.types(turn.session_id))[-3:] == ["tool.started", "tool.cancelled", "turn.interrupted"]
        assert not (rig.folder / "ran").exists()


async def test_the_end_of_a_run_is_recorded_when_the_disk_has_space_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MAR-16: a run ends in a true state, and does not appear to be running until then."""
    async with open_runtime(tmp_path, calls(says("Hi.")), retry_interval=0.01) as rig:
        append, refused = rig.runtime.dependencies.store.facts.append, 0

        async def refuses(batch: Append) -> tuple[Record, ...]:
            nonlocal refused
            if batch.stream.startswith("ses_") and batch.expected and refused < 5:
                refused += 1
                raise raise_full()
            return await append(batch)

        monkeypatch.setattr(rig.runtime.dependencies.store.facts, "append", refuses)
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.interrupted")
        assert (await rig.read(turn.session_id)).status.detail == "interrupted"


async def test_rows_that_a_full_disk_refused_are_written_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Design rule 7: a watermark never passes a missing row."""
    async with open_runtime(tmp_path, calls(says("One."), says("Two.")), retry_interval=0.01) as rig:
        rows = rig.runtime.dependencies.store.rows
        write, whole, refused = rows.write, 0, asyncio.Event()

        async def refuses(stream: str, ops: Sequence[Op], views: Views) -> None:
            if whole and views.watermark >= whole:
                refused.set()
            raise raise_full()

        monkeypatch.setattr(rows, "write", refuses)
        turn = await rig.submit("first")
        whole = (await rig.until(turn.session_id, "turn.completed")).sequence
        await refused.wait()
        monkeypatch.setattr(rows, "write", write)
        await rig.submit("second", turn.session_id)
        await rig.until(turn.session_id, "turn.completed", count=2)
        await rig.read(turn.session_id)
        turns = (await rig.do(GetTurns(session_id=turn.session_id))).turns
        assert [row.input.text for row in turns] == ["first", "second"]


async def test_a_read_waits_for_a_running_row_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Design rule 7: rows up to an answer's sequence are readable."""
    async with open_runtime(tmp_path, calls(says("Hi.")), write_behind=0.0) as rig:
        rows = rig.runtime.dependencies.store.rows
        write, begun = rows.write, asyncio.Event()

        async def slow(stream: str, ops: Sequence[Op], views: Views) -> None:
            begun.set()
            await asyncio.sleep(0.1)
            await write(stream, ops, views)

        monkeypatch.setattr(rows, "write", slow)
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        await rig.read(turn.session_id)
        await begun.wait()
        (row,) = (await rig.do(GetTurns(session_id=turn.session_id))).turns
        assert row.turn_id == turn.turn_id


async def test_an_evaluation_is_dropped_with_its_call(tmp_path: Path) -> None:
    """A long run's memory does not grow with ended calls."""
    scenario = calls(use_tool("Nope"), use_tool("Write", file_path="a", content="b"), says("No."))
    async with open_runtime(tmp_path, scenario) as rig:
        turn = await rig.submit("go")
        action = await rig.until(turn.session_id, "action.required")
        await rig.do(RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="reject"))
        await rig.until(turn.session_id, "turn.completed")
        assert (await rig.runtime.sessions.get(turn.session_id)).host.gate_decisions.evaluations == {}


async def test_a_steering_message_during_a_conversation_load_reaches_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UI-11: an accepted steering message was in the model's context."""
    scenario = calls(says("Hi."), [*use_tool("Glob", pattern="*"), {"wait_for": str(tmp_path / "go")}], says("Done."))
    async with open_runtime(tmp_path, scenario) as rig:
        first = await rig.submit("hi")
        await rig.until(first.session_id, "turn.completed")
    # The conversation of a closed session is read at the next model call.
    async with open_runtime(tmp_path, scenario) as rig:
        facts, held, steered = rig.runtime.dependencies.store.facts, asyncio.Event(), asyncio.Event()
        read = facts.read

        async def slow(
            stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
        ) -> tuple[Record, ...]:
            records = await read(stream, after=after, limit=limit, until=until)
            if until is not None:
                held.set()
                await steered.wait()
            return records

        monkeypatch.setattr(facts, "read", slow)
        turn = await rig.submit("go", first.session_id)
        await held.wait()
        await rig.do(SteerTurn(session_id=turn.session_id, text="in the docs only"))
        steered.set()
        (tmp_path / "go").touch()
        await rig.until(turn.session_id, "queue.steer.accepted")
        context = await (await rig.runtime.sessions.get(turn.session_id)).host.conversations.get(turn.thread_id)
        assert TextContent("in the docs only") in [
            content for message in context.build_messages() for content in message.content
        ]


async def test_a_command_is_answered_although_its_snapshot_was_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design rule 5: a committed command is acknowledged."""
    monkeypatch.setattr(session_state, "SNAPSHOT_EVERY", 1)
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:

        async def refuses(stream: str, sequence: int, link: bytes, fingerprint: str, state: bytes) -> None:
            raise raise_full()

        monkeypatch.setattr(rig.runtime.dependencies.store.rows, "save_snapshot", refuses)
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        assert (await rig.read(turn.session_id)).status.detail == "completed"
