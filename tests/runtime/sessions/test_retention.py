"""Deletion of large contents of archived sessions by age."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from callboard.agents.folder import FolderDefinitions
from callboard.app.settings.settings_files import SettingsFiles
from callboard.app.state_folder import StateFolder
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.session import UpdateSession
from callboard.contracts.facts.tool import ToolCompleted
from callboard.contracts.facts.turn import TurnStarted, TurnSubmitted
from callboard.contracts.facts.workspace import SessionTrimmed
from callboard.contracts.rows.tool import ToolPart
from callboard.runtime.clock import Clock
from callboard.runtime.retention import MIN_TRIMMED_BYTES, has_open_work
from tests.control.rigs.jobs import retry_item, session_with_job
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says, use_tool

DAY = 24 * 60 * 60 * 1_000_000


class Later(Clock):
    """A clock that a test can advance."""

    days = 0

    def now(self) -> int:
        return super().now() + self.days * DAY


@asynccontextmanager
async def open_with_retention(
    place: Path, clock: Later, days: int, played: dict[str, Any] | None = None
) -> AsyncIterator[RuntimeRig]:
    """Return a runtime with a retention setting in days."""
    state_folder = StateFolder(place / "user")
    state_folder.create()
    state_folder.settings.write_text(f"retention = {days}\n")
    played = played or calls(use_tool("Bash", command="seq 1 30000"), says("Done."))
    async with open_runtime(
        place, played, clock=clock, settings=SettingsFiles(state_folder, {}, FolderDefinitions())
    ) as running:
        yield running


async def run_long_command(rig: RuntimeRig) -> tuple[str, ToolCompleted]:
    """Return a session in which a command printed a long output."""
    first = await rig.submit("count", permission_mode="full")
    record = await rig.until(first.session_id, "tool.completed")
    await rig.until(first.session_id, "turn.completed")
    await (await rig.runtime.sessions.get(first.session_id)).host.wait_settled()
    assert isinstance(record.fact, ToolCompleted)
    return first.session_id, record.fact


async def list_trims(rig: RuntimeRig) -> list[SessionTrimmed]:
    facts = await rig.runtime.dependencies.store.facts.read(rig.workspace)
    return [record.fact for record in facts if isinstance(record.fact, SessionTrimmed)]


async def test_large_contents_of_an_archived_session_are_deleted_with_a_fact_and_previews_stay(tmp_path: Path) -> None:
    """UI-08, CTX-01: nothing is deleted early or without a fact, and the session stays readable."""
    clock = Later()
    async with open_with_retention(tmp_path, clock, 30) as rig:
        session, fact = await run_long_command(rig)
        ref = fact.output.ref
        assert ref is not None
        assert ref.size > MIN_TRIMMED_BYTES
        blobs = rig.runtime.dependencies.store.blobs
        clock.days = 31
        await rig.runtime.retention.sweep()
        assert await list_trims(rig) == []
        await rig.do(UpdateSession(session_id=session, archived=True))
        clock.days = 29
        await rig.runtime.retention.sweep()
        assert await blobs.get(ref.hash) is not None

        clock.days = 31
        await rig.runtime.retention.sweep()

        assert await list_trims(rig) == [SessionTrimmed(session_id=session, blobs=1, size=ref.size)]
        assert await blobs.get(ref.hash) is None
        await rig.runtime.retention.sweep()
        assert len(await list_trims(rig)) == 1
        turn = (await rig.read(session)).last_turn
        assert turn is not None
        (part,) = [part for part in await rig.parts(session, turn.turn_id) if isinstance(part, ToolPart)]
        assert (part.output.text[:4], part.output.tail[-6:]) == ("1\n2\n", "30000\n"[-6:])


async def test_a_session_with_open_work_keeps_its_contents(tmp_path: Path) -> None:
    """UI-08, SAFE-01: a pending approval keeps all its contents and prompts until it is settled."""
    clock = Later()
    played = calls(
        use_tool("Bash", command="seq 1 30000"), use_tool("Write", file_path="agents/a.md", content="a"), says("Done.")
    )
    async with open_with_retention(tmp_path, clock, 30, played) as rig:
        (rig.folder / "AGENTS.md").write_text("Count, and write it down.\n" * 1000)
        session = (await rig.submit("count", permission_mode="full")).session_id
        action = await rig.until(session, "action.required")
        store = rig.runtime.dependencies.store
        (begun,) = [record.fact for record in await rig.facts(session) if isinstance(record.fact, TurnStarted)]
        (ended,) = [record.fact for record in await rig.facts(session) if isinstance(record.fact, ToolCompleted)]
        large = [prompt.hash for prompt in begun.prompts if prompt.size > MIN_TRIMMED_BYTES]
        assert ended.output.ref is not None
        assert large
        await rig.do(UpdateSession(session_id=session, archived=True))
        clock.days = 31
        await rig.runtime.retention.sweep()
        assert await list_trims(rig) == []
        assert all([await store.blobs.get(entry) is not None for entry in (*large, ended.output.ref.hash)])

        answer = RespondAction(session_id=session, action_id=action.scope.action, decision="reject")
        await rig.do(answer)
        await rig.until(session, "turn.completed")
        await (await rig.runtime.sessions.get(session)).host.wait_settled()
        clock.days = 62
        await rig.runtime.retention.sweep()
        assert [fact.session_id for fact in await list_trims(rig)] == [session]
        assert await store.blobs.get(ended.output.ref.hash) is None


async def test_a_queued_turn_keeps_its_context(tmp_path: Path) -> None:
    """UI-08, REC-01: a queue behind an interrupted turn is still to run."""
    clock = Later()
    async with open_with_retention(tmp_path, clock, 30, calls([{"wait_for": "never"}])) as rig:
        session = (await rig.submit("one")).session_id
        await rig.until(session, "model.requested")
        await rig.submit("word " * 8000, session)
        added = await rig.until(session, "turn.submitted", 2)
        await rig.until(session, "queue.added")
    async with open_with_retention(tmp_path, clock, 30) as rig:
        await rig.do(UpdateSession(session_id=session, archived=True))
        clock.days = 31
        await rig.runtime.retention.sweep()
        assert isinstance(added.fact, TurnSubmitted)
        assert added.fact.input.ref is not None
        assert await rig.runtime.dependencies.store.blobs.get(added.fact.input.ref.hash) is not None
        assert await list_trims(rig) == []


def test_a_job_with_failed_items_is_open_work() -> None:
    """UI-08: another attempt needs the item's text."""
    job = session_with_job("alpha", "beta", parallel=1)
    job.fails("worker-1")
    job.fails("worker-2")
    assert (job.running_agents(), has_open_work(job.state)) == ([], True)
    job.when(retry_item())
    job.responds("worker-1")
    job.responds("worker-2")
    assert has_open_work(job.state) is False


async def test_without_the_setting_nothing_is_deleted(tmp_path: Path) -> None:
    """UI-08: nothing is erased by default."""
    clock = Later()
    async with open_with_retention(tmp_path, clock, 0) as rig:
        session, fact = await run_long_command(rig)
        await rig.do(UpdateSession(session_id=session, archived=True))
        clock.days = 10_000
        await rig.runtime.retention.sweep()
        assert fact.output.ref is not None
        assert await rig.runtime.dependencies.store.blobs.get(fact.output.ref.hash) is not None
