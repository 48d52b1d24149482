"""The index of past sessions of other coding agents in a folder."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from callboard.app import transcript_index
from callboard.app.transcript_index import TranscriptIndex
from callboard.contracts.commands.session_import import PastSessionEntry, UnreadableTranscript
from callboard.contracts.errors import Refusal
from tests.adapters.imports import transcripts

CLAUDE_ID = "11111111-2222-3333-4444-555555555555"
CODEX_ID = "0199aaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
LONG_AGO = 1_700_000_000


class ForeignTranscripts:
    """Transcripts of other products on a machine."""

    def __init__(self, place: Path) -> None:
        self.claude = place / "claude"
        self.codex = place / "codex"
        self.folder = place / "work"
        self.folder.mkdir()
        self.book = TranscriptIndex({"CLAUDE_CONFIG_DIR": str(self.claude), "CODEX_HOME": str(self.codex)})

    def by_claude(self, session: str, changed: float = LONG_AGO, folder: Path | None = None) -> Path:
        """Write a session of Claude Code."""
        return _changed(transcripts.claude_code(self.claude, folder or self.folder, session), changed)

    def by_codex(self, session: str = CODEX_ID, changed: float = LONG_AGO) -> Path:
        """Write a session of Codex."""
        return _changed(transcripts.codex(self.codex, self.folder, session), changed)

    def copy(self, file: Path, name: str, changed: float) -> None:
        """Copy a transcript to another name."""
        other = file.with_name(name)
        other.write_bytes(file.read_bytes())
        _changed(other, changed)

    def list_ids(self) -> list[str]:
        """Return the listed ids, in order."""
        return [session.source_id for session in self.book.find(str(self.folder)).sessions]


def _changed(file: Path, at: float) -> Path:
    os.utime(file, (at, at))
    return file


@pytest.fixture
def foreign(tmp_path: Path) -> ForeignTranscripts:
    return ForeignTranscripts(tmp_path)


def test_the_sessions_of_both_products_are_listed_newest_first(foreign: ForeignTranscripts):
    """UI-29: with folder, title and time of change."""
    foreign.by_codex(changed=LONG_AGO)
    foreign.by_claude(CLAUDE_ID, changed=LONG_AGO + 1)

    listed = foreign.book.find(str(foreign.folder))

    about: dict[str, Any] = {"folder": str(foreign.folder), "title": "Fix the greeting"}
    assert listed.sessions == (
        PastSessionEntry(
            source="claude_code",
            product="Claude Code",
            source_id=CLAUDE_ID,
            changed=(LONG_AGO + 1) * 1_000_000,
            **about,
        ),
        PastSessionEntry(source="codex", product="Codex", source_id=CODEX_ID, changed=LONG_AGO * 1_000_000, **about),
    )
    assert (listed.unreadable, listed.older) == ((), 0)


def test_a_machine_without_other_products_has_no_past_sessions(foreign: ForeignTranscripts):
    listed = foreign.book.find(str(foreign.folder))

    assert (listed.sessions, listed.unreadable, listed.older) == ((), (), 0)


def test_a_session_of_another_folder_is_neither_listed_nor_opened(foreign: ForeignTranscripts, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    foreign.by_claude(CLAUDE_ID, folder=other)

    assert foreign.list_ids() == []
    assert foreign.book.open(str(foreign.folder), "claude_code", CLAUDE_ID, "wks_1") is None


def test_a_name_that_leads_to_a_file_opens_nothing(foreign: ForeignTranscripts):
    """SAFE-05: only listed transcripts can be opened."""
    file = foreign.by_claude(CLAUDE_ID)

    opened = [
        foreign.book.open(str(foreign.folder), "claude_code", name, "wks_1")
        for name in (str(file), f"../{file.parent.name}/{CLAUDE_ID}", "*", CLAUDE_ID.upper() + ".jsonl", "\0")
    ]

    assert opened == [None] * 5


def test_a_recently_changed_transcript_is_unfinished_and_keeps_its_newest_turn(foreign: ForeignTranscripts):
    foreign.by_codex(changed=time.time())

    (listed,) = foreign.book.find(str(foreign.folder)).sessions
    opened = foreign.book.open(str(foreign.folder), "codex", CODEX_ID, "wks_1")

    assert opened is not None
    assert (listed.unfinished, opened.unfinished) == (True, True)
    assert [turn.input for turn in opened.turns] == ["Fix the greeting"]


def test_an_unreadable_transcript_is_reported_and_hides_no_other(foreign: ForeignTranscripts):
    """SAFE-05: binary, deeply nested, empty and oddly shaped files, a pipe and a folder."""
    good = foreign.by_claude(CLAUDE_ID)
    folder = good.parent
    (folder / "binary.jsonl").write_bytes(bytes(range(256)) * 40)
    (folder / "deep.jsonl").write_text("[" * 200_000 + "\n")
    (folder / "empty.jsonl").write_text("")
    (folder / "odd.jsonl").write_text(json.dumps({"type": "user", "cwd": 7, "message": [1], "timestamp": {}}) + "\n")
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "dir.jsonl").mkdir()

    listed = foreign.book.find(str(foreign.folder))

    assert [session.source_id for session in listed.sessions] == [CLAUDE_ID]
    nothing = "It contains no line of its product."
    assert sorted((transcript.name, transcript.problem) for transcript in listed.unreadable) == [
        ("binary.jsonl", nothing),
        ("deep.jsonl", nothing),
    ]
    assert {transcript.product for transcript in listed.unreadable} == {"Claude Code"}
    assert str(foreign.claude) not in str(listed)


def test_a_broken_transcript_of_another_folder_is_not_reported(foreign: ForeignTranscripts, tmp_path: Path):
    foreign.by_claude(CLAUDE_ID)
    elsewhere = foreign.claude / "projects" / "-somewhere-else"
    elsewhere.mkdir()
    (elsewhere / "broken.jsonl").write_text("no JSON at all")
    broken = foreign.codex / "sessions" / "2026" / "rollout-1.jsonl"
    broken.parent.mkdir(parents=True)
    broken.write_text("no JSON at all")

    listed = foreign.book.find(str(foreign.folder))

    problem = "It contains no line of its product."
    assert listed.unreadable == (UnreadableTranscript(product="Codex", name="rollout-1.jsonl", problem=problem),)


def test_a_list_reads_a_limited_number_of_transcripts_and_counts_the_rest(
    foreign: ForeignTranscripts, monkeypatch: pytest.MonkeyPatch
):
    """Transcripts of the folder come before newer ones of other folders."""
    monkeypatch.setattr(transcript_index, "MAX_FILES", 3)
    monkeypatch.setattr(transcript_index, "MAX_SESSIONS", 2)
    (foreign.folder / "other").mkdir()
    foreign.by_claude("elsewhere", changed=LONG_AGO + 9, folder=foreign.folder / "other")
    first = foreign.by_claude("one-0")
    for number in range(1, 4):
        foreign.copy(first, f"one-{number}.jsonl", LONG_AGO + number)

    listed = foreign.book.find(str(foreign.folder))

    assert [session.source_id for session in listed.sessions] == ["one-3", "one-2"]
    assert listed.older == 3


def test_a_list_reads_a_limited_number_of_bytes_and_the_next_list_continues(
    foreign: ForeignTranscripts, monkeypatch: pytest.MonkeyPatch
):
    """Unchanged transcripts are not read again."""
    first = foreign.by_claude("one-1", changed=LONG_AGO + 1)
    foreign.copy(first, "one-0.jsonl", LONG_AGO)
    monkeypatch.setattr(transcript_index, "MAX_TOTAL_BYTES", first.stat().st_size)

    once, again = (
        foreign.book.find(str(foreign.folder)),
        foreign.book.find(str(foreign.folder)),
    )

    assert ([session.source_id for session in once.sessions], once.older) == (["one-1"], 1)
    assert ([session.source_id for session in again.sessions], again.older) == (["one-1", "one-0"], 0)


def test_a_changed_transcript_is_read_again(foreign: ForeignTranscripts):
    file = foreign.by_codex()
    assert foreign.list_ids() == [CODEX_ID]

    file.write_text("no JSON at all")

    assert foreign.list_ids() == []


def test_several_transcripts_of_one_session_are_one_session(foreign: ForeignTranscripts):
    file = foreign.by_codex()
    foreign.copy(file, f"rollout-2026-11-20T11-00-00-{CODEX_ID}.jsonl", LONG_AGO + 1)

    opened = foreign.book.open(str(foreign.folder), "codex", CODEX_ID, "wks_1")

    assert foreign.list_ids() == [CODEX_ID]
    assert opened is not None
    assert [turn.input for turn in opened.turns] == ["Fix the greeting", "Thanks"] * 2


def test_a_transcript_deleted_before_its_turns_are_read_is_refused(foreign: ForeignTranscripts):
    file = foreign.by_claude(CLAUDE_ID)
    opened = foreign.book.open(str(foreign.folder), "claude_code", CLAUDE_ID, "wks_1")
    file.unlink()

    assert opened is not None
    with pytest.raises(Refusal) as refused:
        next(opened.turns)
    assert refused.value.code == "transcript_unreadable"


def test_a_turn_with_an_impossible_time_is_refused(foreign: ForeignTranscripts):
    """SAFE-05: every reader of such a time would fail."""
    file = foreign.by_claude(CLAUDE_ID)
    file.write_text(file.read_text().replace("2026-11-20T", "9999-11-20T"))
    _changed(file, LONG_AGO)
    opened = foreign.book.open(str(foreign.folder), "claude_code", CLAUDE_ID, "wks_1")

    assert opened is not None
    with pytest.raises(Refusal) as refused:
        next(opened.turns)
    assert (refused.value.code, "$.at" in refused.value.problem.message) == ("invalid_input", True)
