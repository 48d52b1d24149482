"""Recovery of sessions whose host died, from a copy of the store."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.session import DeleteSession, GetSession, ListSessions
from callboard.contracts.commands.turn import ResumeThread, SubmitTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionWithdrawn
from callboard.contracts.facts.message import MessageInterrupted
from callboard.contracts.facts.tool import ToolLost
from callboard.contracts.facts.turn import TurnInterrupted
from callboard.contracts.ports.store import Append, Head
from callboard.contracts.record import Record
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.tool import ToolPart
from callboard.runtime.runtime import Runtime
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says, use_tool


def copy_as_killed(rig: RuntimeRig, place: Path) -> Path:
    """Return a copy of the place as if the host had been killed now."""
    there = place / "after"
    there.mkdir()
    shutil.copytree(place / "state", there / "state", ignore=shutil.ignore_patterns("*.db*"))
    for file in (place / "state").glob("*.db"):
        # Read by SQLite, because its files may change during the copy.
        with closing(sqlite3.connect(file)) as here, closing(sqlite3.connect(there / "state" / file.name)) as copy:
            here.backup(copy)
    (there / "work").symlink_to(rig.folder)
    return there


async def test_streaming_text_is_recorded_as_interrupted_with_its_partial(tmp_path: Path) -> None:
    """MAR-16, CTL-17: the second runtime ends the runs of the first. None appears to be running."""
    streaming: list[dict[str, Any]] = [{"text": "Half of it."}, {"wait_for": "never"}]
    async with open_runtime(tmp_path, calls(streaming), partial_bytes=1) as rig:
        turn = await rig.submit("describe it")
        await rig.watch(turn.session_id, lambda table: bool(table.list_rows(TextPart)))
        await rig.wait_partial(turn.session_id, "Half of it.")
        async with open_runtime(copy_as_killed(rig, tmp_path), calls(says("Again."))) as after:
            read = await after.read(turn.session_id)
            facts = await after.facts(turn.session_id)
            assert [record.header.type for record in facts[-4:]] == [
                "session.taken_over",
                "message.interrupted",
                "model.interrupted",
                "turn.interrupted",
            ]
            (interrupted,) = [record.fact for record in facts if isinstance(record.fact, MessageInterrupted)]
            assert interrupted.content.text == "Half of it."
            assert isinstance(facts[-1].fact, TurnInterrupted)
            assert facts[-1].fact.cause == "crash"
            assert (read.status.detail, read.last_turn.state if read.last_turn else "") == (
                "interrupted",
                "interrupted",
            )
            assert await after.runtime.dependencies.store.partials.read(turn.session_id) == ()


async def test_a_running_command_has_an_unknown_outcome_and_never_reruns(tmp_path: Path) -> None:
    """CTL-06: nothing resumes it."""
    run = use_tool("Bash", command="echo once >> ran.txt; sleep 600")
    async with open_runtime(tmp_path, calls(run)) as rig:
        turn = await rig.submit("run", permission_mode="full")
        await rig.until(turn.session_id, "tool.started")
        await rig.wait_file("ran.txt")
        async with open_runtime(copy_as_killed(rig, tmp_path), calls(says("No."))) as after:
            await after.until(turn.session_id, "turn.interrupted")
            (tool,) = [part for part in await after.parts(turn.session_id, turn.turn_id) if isinstance(part, ToolPart)]
            assert tool.code == "tool_lost"
            assert any(isinstance(record.fact, ToolLost) for record in await after.facts(turn.session_id))
            assert (rig.folder / "ran.txt").read_text() == "once\n"


async def test_a_pending_approval_stays_pending_and_can_be_granted(tmp_path: Path) -> None:
    """CTL-04, CTL-06: nothing counts as approved, and the answer belongs to the same request."""
    async with open_runtime(tmp_path, calls(use_tool("Write", file_path="a.txt", content="x\n"), says("Done."))) as rig:
        turn = await rig.submit("write")
        action = await rig.until(turn.session_id, "action.required")
        scenario = calls(use_tool("Write", file_path="a.txt", content="x\n"), says("Done."))
        async with open_runtime(copy_as_killed(rig, tmp_path), scenario) as after:
            read = await after.read(turn.session_id)
            assert [row.action_id for row in read.actions] == [action.scope.action]
            assert not (rig.folder / "a.txt").exists()
            await after.do(RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="approve"))
            await after.until(turn.session_id, "turn.completed")
            assert (rig.folder / "a.txt").read_text() == "x\n"


async def test_a_queue_keeps_its_order_and_waits_for_a_person(tmp_path: Path) -> None:
    """CTL-06."""
    waits: list[dict[str, Any]] = [{"wait_for": "never"}]
    scenario = {"match": [{"text": "first", "calls": [waits]}], "calls": [says("Yes.")] * 5}
    async with open_runtime(tmp_path, scenario) as rig:
        first = await rig.submit("first")
        queued = [await rig.submit(text, first.session_id) for text in ("second", "third")]
        async with open_runtime(copy_as_killed(rig, tmp_path), scenario) as after:
            read = await after.read(first.session_id)
            assert [row.turn_id for row in read.queue] == [turn.turn_id for turn in queued]
            assert read.status.paused == "recovered"
            await after.do(ResumeThread(session_id=first.session_id))
            await after.until(first.session_id, "turn.completed", count=2)
            started = [
                record.scope.turn
                for record in await after.facts(first.session_id)
                if record.header.type == "turn.started"
            ]
            assert started == [turn.turn_id for turn in (first, *queued)]


async def test_a_shutdown_ends_running_work_and_records_it(tmp_path: Path) -> None:
    """MAR-16: a run record ends in a true state."""
    waits: list[dict[str, Any]] = [{"text": "Well"}, {"wait_for": "never"}]
    async with open_runtime(tmp_path, calls(waits)) as rig:
        turn = await rig.submit("go")
        await rig.watch(turn.session_id, lambda table: bool(table.list_rows(TextPart)))
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        facts = await rig.facts(turn.session_id)
        assert [record.header.type for record in facts[-3:]] == [
            "message.interrupted",
            "model.interrupted",
            "turn.interrupted",
        ]
        assert facts[-1].fact == TurnInterrupted(cause="shutdown", reason="the process was stopped", iterations=1)
        assert not any(isinstance(record.fact, ActionWithdrawn) for record in facts)


async def test_discarded_rows_are_rebuilt_to_the_same_view(tmp_path: Path) -> None:
    """UI-29, UI-34: the view depends on facts only."""
    async with open_runtime(tmp_path, calls(use_tool("Glob", pattern="*"), says("None."))) as rig:
        turn = await rig.submit("what is there?")
        await rig.until(turn.session_id, "turn.completed")
        parts = await rig.parts(turn.session_id, turn.turn_id)
        session = await rig.do(GetSession(session_id=turn.session_id))
        listed = await rig.do(ListSessions())
    for file in (tmp_path / "state").glob("views.db*"):
        file.unlink()
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        assert await rig.parts(turn.session_id, turn.turn_id) == parts
        assert (await rig.do(GetSession(session_id=turn.session_id))).turns == session.turns
        assert await rig.do(ListSessions()) == listed


async def test_a_workspace_rule_reaches_its_workspace_when_the_session_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAFE-07: a permission for the folder applies from its answer, also after a crash in between."""
    scenario = calls(
        use_tool("Write", file_path="a.txt", content="x"),
        use_tool("Write", file_path="a.txt", content="y"),
        says("Done."),
    )
    async with open_runtime(tmp_path, scenario) as rig:
        append = rig.runtime.dependencies.store.facts.append

        async def refuses(batch: Append) -> tuple[Record, ...]:
            if batch.stream == rig.workspace:
                raise Refusal("store_full", "There is no room.")
            return await append(batch)

        turn = await rig.submit("write twice")
        action = await rig.until(turn.session_id, "action.required")
        monkeypatch.setattr(rig.runtime.dependencies.store.facts, "append", refuses)
        answer = RespondAction(
            session_id=turn.session_id, action_id=action.scope.action, decision="approve", scope="workspace"
        )
        await rig.do(answer)
        await rig.until(turn.session_id, "turn.completed")
        assert (rig.folder / "a.txt").read_text() == "y"
        assert rig.runtime.workspaces.context(rig.workspace).rules == ()
    async with open_runtime(tmp_path, scenario) as rig:
        await rig.runtime.sessions.get(turn.session_id)
        await rig.until(rig.workspace, "permission.rule.added")

        async def has_rule() -> bool:
            return rig.runtime.workspaces.context(rig.workspace).rules != ()

        # The log shows a durable fact before its workspace applies it.
        await rig.wait_until(has_rule)
        (rule,) = rig.runtime.workspaces.context(rig.workspace).rules
        assert (rule.matcher, rule.verdict, rule.scope) == ("Edit(a.txt)", "allow", "workspace")


async def test_a_turn_whose_model_is_no_longer_configured_fails_with_that_reason(tmp_path: Path) -> None:
    """COM-09: approved work is done first. The next turn uses the configured model."""
    async with open_runtime(
        tmp_path, {"name": "former", **calls(use_tool("Write", file_path="a.txt", content="x\n"))}
    ) as rig:
        turn = await rig.submit("write")
        action = await rig.until(turn.session_id, "action.required")
    async with open_runtime(tmp_path, {"name": "newer", **calls(says("Hi."), says("Hi."))}) as rig:
        await rig.do(RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="approve"))
        await rig.until(turn.session_id, "turn.failed")
        row = (await rig.read(turn.session_id)).last_turn
        assert row is not None
        assert (row.code, row.hint) == (
            "model_unconfigured",
            "Configure a model, then send the turn again.",
        )
        assert (rig.folder / "a.txt").read_text() == "x\n"


async def test_a_session_with_an_interrupted_deletion_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CTL-05, CTL-06: the fact records the deletion, even before the rest is deleted."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        await rig.read(turn.session_id)
        delete = rig.runtime.dependencies.store.facts.delete
        copied: list[Path] = []

        async def dies(stream: str) -> Head:
            copied.append(copy_as_killed(rig, tmp_path))
            return await delete(stream)

        monkeypatch.setattr(rig.runtime.dependencies.store.facts, "delete", dies)
        await rig.do(DeleteSession(session_id=turn.session_id, confirm=turn.session_id))
    cleared, recover = asyncio.Event(), Runtime._recover

    async def later(runtime: Runtime) -> None:
        await cleared.wait()
        await recover(runtime)

    monkeypatch.setattr(Runtime, "_recover", later)
    async with open_runtime(copied[0], calls(says("Hi."))) as after:
        assert (await after.runtime.dependencies.store.facts.read_head(turn.session_id)).sequence > 0
        for command in (GetSession(session_id=turn.session_id), SubmitTurn(text="more", session_id=turn.session_id)):
            with pytest.raises(Refusal, match="There is no session"):
                await after.do(command)
        assert after.runtime.sessions.open_sessions() == []
        assert (await after.do(ListSessions())).sessions == ()
        cleared.set()
        await after.wait_deleted(turn.session_id)
