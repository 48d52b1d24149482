"""Opening a session, with each step made to fail in turn."""

from __future__ import annotations

import asyncio
import inspect
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.turn import SubmitTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.scope import PERSON
from callboard.runtime.runtime import Runtime
from tests.runtime.rigs.runtime_rig import build_dependencies, calls, open_runtime, says, use_tool
from tests.runtime.sessions.test_recovery import copy_as_killed

#: More steps than the opening of these sessions needs.
MAX_STEPS = 100


class Planted:
    """Counts the calls of a store; one call fails."""

    def __init__(self) -> None:
        self.count = 0
        self.at = 0
        self.only = ""
        self.failed = ""
        self.error: Exception = OSError("planted")

    def step(self, name: str) -> None:
        self.count += 1
        if self.count == self.at or name == self.only:
            self.failed = name
            raise self.error


class Port:
    """A port of the real store, one call of which may fail."""

    def __init__(self, port: Any, planted: Planted) -> None:
        self._port = port
        self._planted = planted

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._port, name)
        if not inspect.iscoroutinefunction(attribute):
            return attribute

        async def call(*arguments: Any, **named: Any) -> Any:
            self._planted.step(name)
            return await attribute(*arguments, **named)

        return call


@asynccontextmanager
async def resting_runtime(place: Path, **limits: Any) -> AsyncIterator[tuple[Runtime, Planted]]:
    """Return a runtime in a copy of the place that opens no session."""
    copy = place.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(place, copy, symlinks=True)
    parts, planted = build_dependencies(copy, calls(says("Again.")), **limits), Planted()
    runtime = Runtime(parts)
    await runtime.workspaces.open()
    for name in ("facts", "rows", "partials", "blobs"):
        setattr(parts.store, name, Port(getattr(parts.store, name), planted))
    try:
        yield runtime, planted
    finally:
        await runtime.__aexit__(None, None, None)


async def make_ended_host(tmp_path: Path) -> tuple[Path, str]:
    """Return the place of an ended host: one session with a running command and a pending approval."""
    played = use_tool("Bash", command="sleep 600")
    async with open_runtime(tmp_path, calls(played)) as rig:
        turn = await rig.submit("run", permission_mode="full")
        await rig.until(turn.session_id, "tool.started")
        return copy_as_killed(rig, tmp_path), turn.session_id


def make_refusal() -> Exception:
    return Refusal("store_full", "The disk is full.", hint="Make room.")


@pytest.mark.parametrize("error", [lambda: OSError("planted"), make_refusal], ids=["breaks", "full"])
async def test_a_failed_opening_leaves_nothing_behind(tmp_path: Path, error: Any) -> None:
    """The caller receives the failure. No host, task or lease stays, and the next opening succeeds."""
    place, session = await make_ended_host(tmp_path)
    failed = list[str]()
    for at in range(1, MAX_STEPS):
        async with resting_runtime(place) as (runtime, planted):
            before = asyncio.all_tasks()
            planted.count, planted.at, planted.error = 0, at, error()
            (outcome,) = await asyncio.gather(runtime.sessions.get(session), return_exceptions=True)
            if isinstance(outcome, BaseException):
                assert outcome is planted.error
                failed.append(planted.failed)
                assert runtime.sessions.open_sessions() == []
                assert asyncio.all_tasks() - before == set(), f"step {at}, {planted.failed}"
            planted.at = 0
            opened = await runtime.sessions.get(session)
            types = [record.header.type for record in await runtime.dependencies.store.facts.read(session)]
            assert (types.count("session.taken_over"), types.count("turn.interrupted")) == (1, 1)
            await opened.host.run_command(SubmitTurn(text="again", session_id=session), PERSON)
            await runtime.sessions.release(session)
            assert asyncio.all_tasks() - before == set(), f"after step {at}"
        if not planted.failed:
            break
    assert {"acquire_lease", "append", "read", "read_head", "read_snapshot", "read_views"} <= {*failed}


async def test_a_failed_creation_leaves_nothing_behind(tmp_path: Path) -> None:
    place, _ = await make_ended_host(tmp_path)
    failed = list[str]()
    for at in range(1, MAX_STEPS):
        async with resting_runtime(place) as (runtime, planted):
            (workspace,) = (host.state.workspace for host in runtime.workspaces.all())
            before = asyncio.all_tasks()
            planted.count, planted.at = 0, at
            try:
                await runtime.commands.submit(SubmitTurn(text="go", workspace_id=workspace), actor=PERSON)
            except OSError:
                failed.append(planted.failed)
            planted.at = 0
            for open_session in runtime.sessions.open_sessions():
                await runtime.sessions.release(open_session)
            assert asyncio.all_tasks() - before == set(), f"step {at}, {planted.failed}"
        if not planted.failed:
            break
    assert {"acquire_lease", "append"} <= {*failed}


async def test_a_session_cannot_be_opened_during_shutdown(tmp_path: Path) -> None:
    """Otherwise it would stay open after the store was closed."""
    place, session = await make_ended_host(tmp_path)
    async with resting_runtime(place) as (runtime, _):
        before = asyncio.all_tasks()
        await runtime.sessions.get(session)
        await runtime.sessions.close()
        with pytest.raises(Refusal, match="shutting down"):
            await runtime.sessions.get(session)
        assert (runtime.sessions.open_sessions(), asyncio.all_tasks() - before) == ([], set())


async def test_a_shutdown_waits_for_a_keyed_command_whose_caller_was_cancelled(
    tmp_path: Path,
) -> None:
    """CTL-01: it runs once, and a later request receives its answer."""
    place, session = await make_ended_host(tmp_path)
    async with resting_runtime(place) as (runtime, _):
        command = SubmitTurn(text="go", session_id=session)
        asker = asyncio.create_task(runtime.commands.submit(command, key="once", actor=PERSON))
        await asyncio.sleep(0)
        asker.cancel()
        await runtime.commands.wait_settled()
        assert await runtime.dependencies.store.facts.find_answer("once") is not None


async def test_a_sweep_closes_other_sessions_if_one_cannot_close(tmp_path: Path) -> None:
    place, session = await make_ended_host(tmp_path)
    async with resting_runtime(place, idle=-1.0) as (runtime, planted):
        (workspace,) = (host.state.workspace for host in runtime.workspaces.all())
        opened = await runtime.sessions.get(session)
        await opened.host.wait_settled()
        await runtime.sessions.open("ses_other", workspace)
        planted.only = "save_snapshot"
        await runtime.sessions.sweep()
        assert planted.failed == "save_snapshot"
        assert runtime.sessions.open_sessions() == []


async def test_a_session_that_cannot_record_its_end_still_ends_its_processes(tmp_path: Path) -> None:
    """R3: on a full disk, no background process or task outlives its session."""
    first, then = use_tool("Bash", command="sleep 600", background=True), use_tool("Bash", command="sleep 600")
    async with open_runtime(tmp_path, calls(first, then)) as rig:
        before = asyncio.all_tasks()
        turn = await rig.submit("run", permission_mode="full")
        await rig.until(turn.session_id, "tool.started", count=2)
        opened, planted = await rig.runtime.sessions.get(turn.session_id), Planted()
        store: Any = rig.runtime.dependencies.store
        facts = store.facts
        store.facts, planted.only, planted.error = Port(facts, planted), "append", make_refusal()
        (outcome,) = await asyncio.gather(rig.runtime.sessions.release(turn.session_id), return_exceptions=True)
        store.facts = facts
        assert outcome is planted.error
        assert (opened.host.processes.has_running, opened.effect_runner.is_busy) == (False, False)
        assert asyncio.all_tasks() - before == set()


async def test_a_conversation_that_a_failing_store_kept_from_its_facts_is_loaded_again(tmp_path: Path) -> None:
    """The facts are durable, so the model of the next turn receives them."""
    place, _ = await make_ended_host(tmp_path)
    async with resting_runtime(place) as (runtime, planted):
        (workspace,) = (host.state.workspace for host in runtime.workspaces.all())
        planted.only = "get"
        text = "A long request. " * 4000
        with pytest.raises(OSError, match="planted"):
            await runtime.commands.submit(SubmitTurn(text=text, workspace_id=workspace), actor=PERSON)
        planted.only = ""
        (session,) = runtime.sessions.open_sessions()
        host = (await runtime.sessions.get(session)).host
        history = await host.conversations.get(host.state.lead)
        assert text in str(history.build_messages())


async def test_a_card_that_lacks_facts_after_a_crash_is_not_shown(tmp_path: Path) -> None:
    """MAR-16: a session that was running never reads idle. Its card comes with its recovery."""
    played = {"match": [{"text": "slow", "calls": [[{"wait_for": "never"}]]}, {"text": "go", "calls": [says("Yes.")]}]}
    async with open_runtime(tmp_path, played, fold_behind=3600.0) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        opened = await rig.runtime.sessions.get(turn.session_id)
        await opened.host.wait_settled()
        await opened.views.wait_for(opened.host.state.sequence)
        await opened.views.flush()
        await rig.submit("slow", turn.session_id)
        await rig.until(turn.session_id, "model.requested", 2)
        place = copy_as_killed(rig, tmp_path)
    async with resting_runtime(place) as (runtime, _):
        (workspace,) = runtime.workspaces.all()
        assert (workspace.cards(), workspace.missing) == ((), 1)
        await runtime.sessions.get(turn.session_id)
        assert [(card.key, card.state) for card in workspace.cards()] == [(turn.session_id, "interrupted")]
        assert workspace.missing == 0
