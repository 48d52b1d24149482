"""Conversations that are stored beside the session's snapshot, and read after a restart."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.session import DeleteSession
from callboard.contracts.content import fit_text
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.ports.conversation_store import StoredConversation
from callboard.contracts.ports.model import ModelMessage
from callboard.contracts.record import Record
from callboard.log.sqlite.blobs import SqliteBlobs
from callboard.log.sqlite.facts import SqliteFacts
from callboard.log.sqlite.store import open_store
from callboard.log.sqlite.views.conversations import SqliteConversations
from callboard.log.sqlite.views.rows import SqliteRows
from callboard.runtime import session_state
from callboard.runtime.prompts import conversations
from callboard.runtime.prompts.conversations import Conversations
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says, use_tool
from tests.runtime.rigs.team import plays, write_crew
from tests.stored import views

YES = {"match": [{"text": "turn", "calls": [says("Yes.")]}]}
#: Facts from which on these tests store a conversation: about two turns.
FACTS = 20


@pytest.fixture(autouse=True)
def short_conversations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store conversations of two turns in place of a thousand facts."""
    monkeypatch.setattr(conversations, "STORED_FACTS", FACTS)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the sequences of the facts that are read from the log."""
    sequences: list[int] = []
    original = SqliteFacts.read

    async def count(self: SqliteFacts, stream: str, **page: Any) -> tuple[Record, ...]:
        records = await original(self, stream, **page)
        sequences.extend(record.sequence for record in records)
        return records

    monkeypatch.setattr(SqliteFacts, "read", count)
    return sequences


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the threads of the conversations that are stored."""
    threads: list[str] = []
    original = SqliteConversations.save

    async def record(
        self: SqliteConversations, stream: str, conversation: StoredConversation, open_threads: Collection[str]
    ) -> None:
        threads.append(conversation.thread)
        await original(self, stream, conversation, open_threads)

    monkeypatch.setattr(SqliteConversations, "save", record)
    return threads


async def play_turns(rig: RuntimeRig, count: int, session: str = "", text: str = "turn") -> tuple[str, str]:
    """Run turns. Return their session and thread."""
    thread = ""
    for _ in range(count):
        after = (await rig.runtime.dependencies.store.facts.read_head(session)).sequence if session else 0
        turn = await rig.submit(text, session or None)
        await rig.until(turn.session_id, "turn.completed", after=after)
        session, thread = turn.session_id, turn.thread_id
    return session, thread


async def load(rig: RuntimeRig, session: str, thread: str) -> Conversations:
    """Return the session's conversations, with the thread's."""
    host = (await rig.runtime.sessions.get(session)).host
    await host.wait_settled()
    await host.conversations.get(thread)
    return host.conversations


async def read_messages(rig: RuntimeRig, session: str, thread: str) -> tuple[ModelMessage, ...]:
    """Return the messages of the thread."""
    return (await (await load(rig, session, thread)).get(thread)).build_messages()


async def begin(folder: Path, turns: int = 4, **more: Any) -> tuple[str, str, tuple[ModelMessage, ...]]:
    """Run turns in a new session and stop. Return its session, its thread and its messages."""
    async with open_runtime(folder, YES, **more) as rig:
        session, thread = await play_turns(rig, turns)
        return session, thread, await read_messages(rig, session, thread)


def spawn_worker(objective: str) -> list[dict[str, Any]]:
    """Return the call that starts a subagent."""
    return use_tool("spawn_subagent", agent="worker", objective=objective)


def list_stored(folder: Path) -> list[tuple[str, int]]:
    """Return the thread and the sequence of each stored conversation."""
    with closing(sqlite3.connect(folder / "state" / "views.db")) as connection:
        return connection.execute("SELECT thread, sequence FROM conversations ORDER BY thread").fetchall()


async def test_after_a_restart_only_the_facts_after_the_stored_conversation_are_read(
    tmp_path: Path, read: list[int]
) -> None:
    """R6, UI-29: the first turn of a long session does not read it."""
    session, thread, before = await begin(tmp_path)
    ((_, stored),) = list_stored(tmp_path)

    async with open_runtime(tmp_path, YES) as rig:
        await rig.runtime.sessions.get(session)
        read.clear()
        assert await read_messages(rig, session, thread) == before
        assert min(read) == stored, "the fact with the link of the stored conversation"
        assert await play_turns(rig, 3, session) == (session, thread)
        continued = await read_messages(rig, session, thread)
        assert len(continued) == len(before) + 6

    assert views.change(tmp_path / "state", "DELETE FROM conversations") == 1
    async with open_runtime(tmp_path, YES) as rig:
        assert await read_messages(rig, session, thread) == continued


async def test_turns_that_a_later_call_omits_leave_a_restored_conversation(tmp_path: Path) -> None:
    """UI-29: a restored conversation drops the same turns as the whole one."""
    limits: dict[str, Any] = {"context_steps": 12}
    session, thread, before = await begin(tmp_path, 5, **limits)
    assert len(list_stored(tmp_path)) == 1

    async with open_runtime(tmp_path, YES, **limits) as rig:
        assert await read_messages(rig, session, thread) == before
        await play_turns(rig, 4, session)
        continued = await read_messages(rig, session, thread)
    assert len(continued) < len(before) + 8

    views.change(tmp_path / "state", "DELETE FROM conversations")
    async with open_runtime(tmp_path, YES, **limits) as rig:
        assert await read_messages(rig, session, thread) == continued


async def test_a_stored_conversation_whose_turns_are_all_omitted_is_not_read(tmp_path: Path, read: list[int]) -> None:
    """R6: from the floor of the conversation, fewer facts are read."""
    limits: dict[str, Any] = {"context_steps": 6}
    session, thread, _ = await begin(tmp_path, 5)
    with closing(sqlite3.connect(tmp_path / "state" / "views.db", isolation_level=None)) as connection:
        row = connection.execute("SELECT * FROM conversations").fetchone()
    async with open_runtime(tmp_path, YES, **limits) as rig:
        await play_turns(rig, 4, session)
        continued = await read_messages(rig, session, thread)
    with closing(sqlite3.connect(tmp_path / "state" / "views.db", isolation_level=None)) as connection:
        connection.execute("INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?)", row)

    async with open_runtime(tmp_path, YES, **limits) as rig:
        await rig.runtime.sessions.get(session)
        read.clear()
        assert await read_messages(rig, session, thread) == continued
    assert row[2] < min(read)


def _reseal(column: str, value: object) -> Callable[[Path], int]:
    return lambda folder: views.replace_conversations(folder, **{column: value})


#: Each way in which a stored conversation does not fit, and the logged reason.
DAMAGES: dict[str, tuple[Callable[[Path], int], str]] = {
    "its bytes changed": (
        lambda folder: views.change(folder, "UPDATE conversations SET data = data || x'00'"),
        "is damaged",
    ),
    "its link changed": (
        lambda folder: views.change(folder, "UPDATE conversations SET link = zeroblob(32)"),
        "is damaged",
    ),
    "it has a foreign link": (_reseal("link", b"\x00" * 32), "does not fit its log"),
    "it is ahead of the log": (_reseal("sequence", 9999), "does not fit its log"),
    "it does not decode": (_reseal("parts", (b"\x93", b"")), "does not decode"),
    "it has no parts": (_reseal("parts", ()), "does not decode"),
    "it is of another version": (_reseal("fingerprint", "another"), ""),
}


@pytest.mark.parametrize("name", DAMAGES)
async def test_s1_a_stored_conversation_that_does_not_fit_is_read_from_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """S1: derived data is never believed over the log."""
    damage, reason = DAMAGES[name]
    session, thread, before = await begin(tmp_path)
    assert damage(tmp_path / "state") == 1

    async with open_runtime(tmp_path, YES) as rig:
        assert await read_messages(rig, session, thread) == before
    logged = [record.getMessage() for record in caplog.records if "conversation" in record.getMessage()]
    assert len(logged) == (1 if reason else 0)
    assert all(reason in message for message in logged)
    # It was stored again, as the session was closed.
    async with open_runtime(tmp_path, YES) as rig:
        assert await read_messages(rig, session, thread) == before
    assert list_stored(tmp_path)[0][1] < 9999


async def test_a_short_conversation_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R6: folding it again costs less."""
    monkeypatch.setattr(conversations, "STORED_FACTS", 1000)
    await begin(tmp_path)
    assert list_stored(tmp_path) == []


async def test_a_conversation_is_stored_again_only_when_it_has_grown_by_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design numbers: turn 1,000 costs the same as turn 1."""
    monkeypatch.setattr(session_state, "SNAPSHOT_EVERY", 1)
    stored: list[int] = []
    async with open_runtime(tmp_path, YES) as rig:
        session = ""
        for _ in range(24):
            session, _ = await play_turns(rig, 1, session)
            await (await rig.runtime.sessions.get(session)).host.wait_settled()
            stored += [sequence for _, sequence in list_stored(tmp_path) if sequence not in stored]
    assert len(stored) >= 3
    assert all(later >= 1.5 * earlier and later - earlier >= FACTS for earlier, later in pairwise(stored))


async def test_a_restored_conversation_is_stored_again_only_with_new_turns(tmp_path: Path, saved: list[str]) -> None:
    """Design numbers: opening a long session does not write it."""
    session, thread, _ = await begin(tmp_path)
    assert saved == [thread]
    for turns in (0, 1, 3):
        async with open_runtime(tmp_path, YES) as rig:
            await read_messages(rig, session, thread)
            await play_turns(rig, turns, session)
        assert len(saved) == (2 if turns == 3 else 1), turns


async def test_r6_a_killed_process_leaves_a_conversation_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R6: it is stored with the snapshot, and facts after it are in the log only."""
    monkeypatch.setattr(session_state, "SNAPSHOT_EVERY", FACTS)
    killed = tmp_path / "killed"
    killed.mkdir()
    async with open_runtime(tmp_path, YES) as rig:
        session, thread = await play_turns(rig, 6)
        before = await read_messages(rig, session, thread)
        # The files as a killed process leaves them.
        shutil.copytree(tmp_path / "state", killed / "state")
    ((_, stored),) = list_stored(killed)

    async with open_runtime(killed, YES) as rig:
        assert 0 < stored < (await rig.runtime.dependencies.store.facts.read_head(session)).sequence
        assert await read_messages(rig, session, thread) == before


async def test_r3_a_full_disk_leaves_the_session_as_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """R3: a conversation that was not stored is read from the log."""
    async with open_runtime(tmp_path, YES) as rig:
        session, thread = await play_turns(rig, 4, text=f"turn {'long ' * 8000}")
        loaded = await load(rig, session, thread)
        before = await read_messages(rig, session, thread)
        rows = rig.runtime.dependencies.store.rows
        assert isinstance(rows, SqliteRows)
        writer = rows._writer
        assert writer is not None
        await rig.read(session)
        await writer.submit(lambda views: views.execute("PRAGMA max_page_count = 1").fetchone())

        await loaded.save(closing=True)

        assert "were not stored" in caplog.text
        assert list_stored(tmp_path) == []
        await writer.submit(lambda views: views.execute("PRAGMA max_page_count = 100000").fetchone())
        await play_turns(rig, 1, session)
        after = await read_messages(rig, session, thread)
        assert after[: len(before)] == before
    async with open_runtime(tmp_path, YES) as rig:
        assert await read_messages(rig, session, thread) == after


async def test_an_erased_fact_is_not_in_a_restored_conversation(tmp_path: Path) -> None:
    """Design rule: an erasure removes everything derived from the payload."""
    async with open_runtime(tmp_path, YES) as rig:
        session, thread = await play_turns(rig, 1, text="turn with a PLANTED word")
        await play_turns(rig, 3, session)
        erased = next(record.sequence for record in await rig.facts(session) if isinstance(record.fact, TurnSubmitted))
    assert len(list_stored(tmp_path)) == 1

    store = open_store(tmp_path / "state")
    await store.facts.erase(session, erased)
    await store.close()

    assert list_stored(tmp_path) == []
    async with open_runtime(tmp_path, YES) as rig:
        assert "PLANTED" not in str(await read_messages(rig, session, thread))


async def test_a_trimmed_blob_is_not_in_a_restored_conversation(tmp_path: Path) -> None:
    """Design rule: retention removes the content; the preview stays."""
    text = f"turn {'x' * 20_000} MIDDLE {'y' * 20_000}"
    async with open_runtime(tmp_path, YES) as rig:
        session, thread = await play_turns(rig, 1, text=text)
        await play_turns(rig, 3, session)
        assert "MIDDLE" in str(await read_messages(rig, session, thread))
    assert len(list_stored(tmp_path)) == 1

    store = open_store(tmp_path / "state")
    await store.facts.trim(session, 16_384)
    await store.close()

    assert list_stored(tmp_path) == []
    async with open_runtime(tmp_path, YES) as rig:
        messages = str(await read_messages(rig, session, thread))
        assert ("MIDDLE" in messages, fit_text(text)[0].text in messages) == (False, True)


async def test_a_deleted_session_leaves_no_conversation(tmp_path: Path) -> None:
    """Design rule: a deletion removes everything of the session."""
    session, _, _ = await begin(tmp_path)
    other, _, _ = await begin(tmp_path)
    assert len(list_stored(tmp_path)) == 2

    async with open_runtime(tmp_path, YES) as rig:
        await rig.do(DeleteSession(session_id=session, confirm=session))
        await rig.wait_deleted(session)

    with closing(sqlite3.connect(tmp_path / "state" / "views.db")) as connection:
        assert connection.execute("SELECT stream FROM conversations").fetchall() == [(other,)]


async def test_a_conversation_is_not_stored_while_facts_are_applied_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: list[str]
) -> None:
    """UI-29: it would lack facts that its sequence covers, as when a session closes during a commit."""
    reads, applied = asyncio.Event(), asyncio.Event()
    get = SqliteBlobs.get

    async def wait(self: SqliteBlobs, hash: str) -> bytes | None:
        reads.set()
        await applied.wait()
        return await get(self, hash)

    async with open_runtime(tmp_path, YES) as rig:
        session, thread = await play_turns(rig, 4)
        loaded = await load(rig, session, thread)
        monkeypatch.setattr(SqliteBlobs, "get", wait)
        submitted = asyncio.create_task(play_turns(rig, 1, session, text="turn " * 4000))
        await reads.wait()

        await loaded.save(closing=True)

        assert saved == []
        applied.set()
        await submitted
    assert saved == [thread]


async def test_conversations_of_ended_subagents_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: list[str]
) -> None:
    """CTL-13: a session with many children keeps the conversations of the open ones."""
    monkeypatch.setattr(session_state, "SNAPSHOT_EVERY", 1)
    reads = [use_tool("Read", file_path=f"notes{number}.md") for number in range(8)]
    scenario = plays(
        ("lead", "go", [spawn_worker("alpha"), use_tool("wait_subagents"), *reads[:4], says("Done.")]),
        ("worker", "alpha", [*reads, says("A.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        for number in range(8):
            (rig.folder / f"notes{number}.md").write_text(f"Note {number}.")
        turn = await rig.submit("go", mode="chat", permission_mode="full")
        await rig.until(turn.session_id, "output.final", 2)
        assert len(set(saved)) == 2, "the child's was stored while it ran"
        (child,) = {*saved} - {turn.thread_id}
        # As a request for the child's output does.
        await load(rig, turn.session_id, child)
    assert [thread for thread, _ in list_stored(tmp_path)] == [turn.thread_id]


async def test_conversations_of_agents_that_wait_to_start_are_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: list[str]
) -> None:
    """Design numbers: 200 subagents cost what their turns cost."""
    monkeypatch.setattr(session_state, "SNAPSHOT_EVERY", 1)
    monkeypatch.setattr(conversations, "STORED_FACTS", 1)
    scenario = plays(
        ("lead", "go", [spawn_worker("alpha"), spawn_worker("beta"), use_tool("wait_subagents"), says("Done.")]),
        ("worker", "alpha", [[{"wait_for": "never"}]]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions(), team_budget=1) as rig:
        write_crew(rig)
        turn = await rig.submit("go", mode="chat", permission_mode="full")
        await rig.until(turn.session_id, "subagent.awaited")
        host = (await rig.runtime.sessions.get(turn.session_id)).host
        await host.wait_settled()
        started = {thread for thread, state in host.state.threads.items() if state.run is not None}
        assert (len(host.state.threads), len(started)) == (3, 2)
    assert set(saved) == started


async def test_a_fact_that_was_read_while_it_was_applied_is_added_once(tmp_path: Path) -> None:
    """UI-29: a conversation may be loaded between a commit and its application."""
    async with open_runtime(tmp_path, calls(says("Hello."))) as rig:
        session, thread = await play_turns(rig, 1, text="go")
        loaded = await load(rig, session, thread)
        before = await read_messages(rig, session, thread)
        texts = [record for record in await rig.facts(session) if isinstance(record.fact, MessageText)]

        await loaded.apply(texts)

        assert await read_messages(rig, session, thread) == before
