"""Imports of other products' past sessions by the serving process."""

from __future__ import annotations

import asyncio
import os
import re
import string
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from callboard.app.transcript_index import TranscriptIndex
from callboard.contracts.commands.session import DeleteSession, UpdateSession
from callboard.contracts.commands.session_import import (
    ImportPastSession,
    ImportTurn,
    ListPastSessions,
    PastSessionEntry,
    PastSessionImported,
    PastSessionList,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.context import CompactionCompleted
from callboard.contracts.facts.session import SessionSource, ThreadOpened
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.ports.past import PastTranscript
from tests.adapters.imports import transcripts
from tests.runtime.rigs.acp_agent import open_coder, start_session
from tests.runtime.rigs.runtime_rig import PATIENCE, RuntimeRig, calls, open_runtime

CLAUDE_ID = "11111111-2222-3333-4444-555555555555"
CODEX_ID = "0199aaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
LONG_AGO = 1_700_000_000


def left(place: Path) -> tuple[TranscriptIndex, Path]:
    """Write one session of each product for the workspace, and return Codex's file."""
    folder = place / "work"
    folder.mkdir()
    claude, codex = place / "claude", place / "codex"
    files = transcripts.claude_code(claude, folder), transcripts.codex(codex, folder)
    for file in files:
        os.utime(file, (LONG_AGO, LONG_AGO))
    return TranscriptIndex({"CLAUDE_CONFIG_DIR": str(claude), "CODEX_HOME": str(codex)}), files[1]


def wanted(board: RuntimeRig, source: SessionSource = "codex", source_id: str = CODEX_ID) -> ImportPastSession:
    return ImportPastSession(workspace_id=board.workspace, source=source, source_id=source_id)


async def listed(board: RuntimeRig) -> dict[str, PastSessionEntry]:
    """Return the listed entry of each product's session."""
    listing: PastSessionList = await board.do(ListPastSessions(workspace_id=board.workspace))
    return {session.source: session for session in listing.sessions}


async def test_a_past_session_is_imported_as_facts_and_listed(tmp_path: Path):
    """UI-29: its turns are facts of a read-only session, and the list names it."""
    book, _ = left(tmp_path)
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board:
        before = await listed(board)

        imported: PastSessionImported = await board.do(wanted(board))

        assert (before["codex"].session_id, before["codex"].imported) == (imported.session_id, False)
        assert (imported.added, imported.known, imported.unfinished) == (2, 0, False)
        after = await listed(board)
        assert {source: entry.imported for source, entry in after.items()} == {"claude_code": False, "codex": True}
        types = await board.types(imported.session_id)
        assert (types[0], types.count("turn.completed")) == ("session.created", 2)
        assert imported.session_id in {
            card.session_id for host in board.runtime.workspaces.all() for card in host.cards()
        }


async def test_an_imported_turn_runs_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Its model and tool calls happened in another product."""
    book, _ = left(tmp_path)
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board:
        imported = await board.do(wanted(board))
        opened = await board.runtime.sessions.get(imported.session_id)
        head = opened.host.state.sequence

        assert not opened.effect_runner.is_busy
        await opened.host.wait_settled()
        assert opened.host.state.sequence == head
    assert caplog.messages == []


async def test_importing_again_adds_only_new_turns(tmp_path: Path):
    """CTL-01"""
    book, file = left(tmp_path)
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board:
        first = await board.do(wanted(board))
        facts = await board.types(first.session_id)
        again = await board.do(wanted(board))
        assert await board.types(first.session_id) == facts
        line = file.read_text().splitlines()[-2].replace("Thanks", "One more thing")
        file.write_text(f"{file.read_text()}{line}\n")
        os.utime(file, (LONG_AGO, LONG_AGO))

        more = await board.do(wanted(board))

        assert (again.session_id, again.added, again.known) == (first.session_id, 0, 2)
        assert (more.session_id, more.added, more.known) == (first.session_id, 1, 2)


async def test_the_same_key_returns_the_same_answer(tmp_path: Path):
    """CTL-01: also from another process."""
    book, _ = left(tmp_path)
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board:
        first = await board.do(wanted(board), key="k")
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board:
        again = await board.do(wanted(board), key="k")
        with pytest.raises(Refusal) as refused:
            await board.do(wanted(board, "claude_code", CLAUDE_ID), key="k")

    assert again == first == PastSessionImported(session_id=first.session_id, added=2, known=0)
    assert refused.value.code == "idempotency_conflict"


async def test_an_unlisted_session_is_refused_without_a_fact(tmp_path: Path):
    """SAFE-05: a request never names a file."""
    book, file = left(tmp_path)
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board:
        for name in (str(file), "../" * 8 + "etc/passwd", "unknown"):
            with pytest.raises(Refusal) as refused:
                await board.do(wanted(board, source_id=name))
            assert (refused.value.code, refused.value.problem.field) == ("unknown_session", "sourceId")
        assert await board.runtime.dependencies.store.facts.list_streams("ses_") == ()


async def test_a_deleted_import_is_neither_listed_nor_imported_again(tmp_path: Path):
    book, _ = left(tmp_path)
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board:
        imported = await board.do(wanted(board))
        await board.do(UpdateSession(session_id=imported.session_id, archived=True))
        await board.do(DeleteSession(session_id=imported.session_id, confirm=imported.session_id))

        with pytest.raises(Refusal) as refused:
            await board.do(wanted(board))

        assert refused.value.code == "unknown_session"
        assert list(await listed(board)) == ["claude_code"]


async def test_without_other_products_the_list_is_empty(tmp_path: Path):
    async with open_runtime(tmp_path, calls()) as board:
        assert await listed(board) == {}
        with pytest.raises(Refusal) as refused:
            await board.do(wanted(board))
        assert refused.value.code == "unknown_session"


async def test_a_secret_in_a_title_is_redacted(tmp_path: Path):
    token = f"ghp_{string.ascii_letters[:36]}"
    book, file = left(tmp_path)
    file.write_text(file.read_text().replace("Fix the greeting", f"Use {token} here"))
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board:
        title = (await listed(board))["codex"].title

    assert re.fullmatch(r"Use ghp_secret://seen-[0-9a-f]{12} here", title)


class Slow(TranscriptIndex):
    """A transcript index that pauses before a turn of Codex's session."""

    def __init__(self, book: TranscriptIndex, stop_at: int) -> None:
        self._book = book
        self._stop_at = stop_at
        self._loop = asyncio.get_running_loop()
        self.reached, self.go_on = asyncio.Event(), asyncio.Event()

    def find(self, folder: str) -> PastSessionList:
        return self._book.find(folder)

    def open(self, folder: str, source: SessionSource, source_id: str, workspace: str) -> PastTranscript | None:
        transcript = self._book.open(folder, source, source_id, workspace)
        if transcript is None or source != "codex":
            return transcript
        return PastTranscript(turns=self._turns(transcript.turns), unfinished=transcript.unfinished)

    def _turns(self, turns: Iterator[ImportTurn]) -> Iterator[ImportTurn]:
        for number, turn in enumerate(turns):
            if number == self._stop_at:
                self._loop.call_soon_threadsafe(self.reached.set)
                asyncio.run_coroutine_threadsafe(self.go_on.wait(), self._loop).result(PATIENCE)
            yield turn


@asynccontextmanager
async def under_way(board: RuntimeRig, book: Slow) -> AsyncIterator[asyncio.Task[PastSessionImported]]:
    """Start an import, and return it when one turn is imported."""
    task = asyncio.create_task(board.do(wanted(board)))
    async with asyncio.timeout(PATIENCE):
        await book.reached.wait()
    yield task
    book.go_on.set()


async def test_an_imports_progress_is_readable_while_other_work_continues(tmp_path: Path):
    book = Slow(left(tmp_path)[0], 1)
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board, under_way(board, book) as task:
        before = (await listed(board))["codex"]
        other = await board.do(wanted(board, "claude_code", CLAUDE_ID))
        book.go_on.set()
        imported = await task

        assert (before.importing, before.imported, before.session_id) == (1, True, imported.session_id)
        assert other.session_id != imported.session_id
        assert (await listed(board))["codex"].importing is None


async def test_a_second_request_joins_the_running_import(tmp_path: Path):
    book = Slow(left(tmp_path)[0], 1)
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board, under_way(board, book) as task:
        second = asyncio.create_task(board.do(wanted(board)))
        # The request joins in its first step.
        await asyncio.sleep(0)
        book.go_on.set()

        assert await second == await task == PastSessionImported(session_id=(await task).session_id, added=2, known=0)


async def test_a_shutdown_stops_an_import_after_its_current_turn(tmp_path: Path):
    """MAR-16: imported turns stay, and a later import adds the rest."""
    plain, _ = left(tmp_path)
    book = Slow(plain, 1)
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board, under_way(board, book) as task:
        ending = asyncio.create_task(board.runtime.commands.wait_settled())
        # The request waits for the import from its first step.
        await asyncio.sleep(0)
        book.go_on.set()
        with pytest.raises(Refusal) as refused:
            await task
        await ending
    async with open_runtime(tmp_path, calls(), past_sessions=plain) as board:
        imported = await board.do(wanted(board))

    assert refused.value.code == "unreachable"
    assert (imported.added, imported.known) == (1, 1)


async def test_a_session_that_callboard_started_is_neither_listed_nor_imported(tmp_path: Path):
    """A8: it is recognised by the id of its connection, in every kind of request."""
    book, _ = left(tmp_path)
    async with open_coder(
        tmp_path, [{"say": "Hello."}], script={"conversation": CODEX_ID}, past_sessions=book
    ) as board:
        session = await start_session(board)
        await board.until(session, "turn.completed")
        await board.read(session)

        after = await listed(board)
        refusals: list[str] = []
        for command in (wanted(board), turn_of(board)):
            with pytest.raises(Refusal) as refused:
                await board.do(command)
            refusals.append(refused.value.code)

        assert (list(after), refusals) == (["claude_code"], ["session_driven"] * 2)


def turn_of(board: RuntimeRig) -> ImportTurn:
    """Return a turn of Codex's session as `callboard import` sends it."""
    return ImportTurn(workspace_id=board.workspace, source="codex", source_id=CODEX_ID, turn_id="imp_1", at=1)


async def test_a_transcript_without_a_finished_turn_cannot_be_imported(tmp_path: Path):
    """A8: an empty transcript, one without a person's input, and one whose only turn may be
    incomplete."""
    book, file = left(tmp_path)
    claude = next((tmp_path / "claude").rglob(f"{CLAUDE_ID}.jsonl"))
    claude.with_name("empty.jsonl").write_text("")
    claude.with_name("begun.jsonl").write_text('{"type":"mode","mode":"default"}\n')
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:6]))
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board:
        refusals: list[tuple[str, bool]] = []
        for command in (
            wanted(board, "claude_code", "empty"),
            wanted(board, "claude_code", "begun"),
            wanted(board),
        ):
            with pytest.raises(Refusal) as refused:
                await board.do(command)
            refusals.append((refused.value.code, "5 minutes" in refused.value.problem.hint))

        assert refusals == [("nothing_to_import", True)] * 3


async def test_imported_subagents_and_summaries_belong_to_their_session(tmp_path: Path):
    """A8: with a proved parent or none. Importing again adds nothing."""
    folder = tmp_path / "work"
    folder.mkdir()
    file = transcripts.claude_code_2(tmp_path / "claude", folder)
    for entry in (file, *file.with_suffix("").rglob("*.jsonl")):
        os.utime(entry, (LONG_AGO, LONG_AGO))
    book = TranscriptIndex({"CLAUDE_CONFIG_DIR": str(tmp_path / "claude"), "CODEX_HOME": str(tmp_path / "codex")})
    async with open_runtime(tmp_path, calls(), past_sessions=book) as board:
        first = await board.do(wanted(board, "claude_code", file.stem))
        again = await board.do(wanted(board, "claude_code", file.stem))

        records = await board.facts(first.session_id)
        opened = {record.fact.agent_name: record for record in records if isinstance(record.fact, ThreadOpened)}
        names = {record.scope.thread: name for name, record in opened.items()}
        parents = {name: names.get(record.scope.parent_thread, "") for name, record in opened.items()}
        assert parents == {
            "claude_code": "",
            "sidechain-ae267a1": "claude_code",
            "sidechain-b0c0ffee0123456789": "sidechain-ae267a1",
            "sidechain-adeadbeef": "",
        }
        explore = opened["sidechain-ae267a1"].fact
        assert isinstance(explore, ThreadOpened)
        assert (explore.definition, explore.description) == ("Explore", "Find callers")
        summaries = [record.fact for record in records if isinstance(record.fact, CompactionCompleted)]
        assert [(summary.summary.text, summary.tokens_before) for summary in summaries] == [
            ("This session is being continued.", 155_000),
            ("All that was done.", 12_000),
        ]
        sources = [record.fact.source for record in records if isinstance(record.fact, TurnSubmitted)]
        assert sources == ["person", "notice", "compaction", "person", "agent", "agent", "agent"]
        assert (first.added, again.added, again.known) == (7, 0, 7)
