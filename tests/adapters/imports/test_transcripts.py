"""Reading of past sessions of other coding agents."""

from __future__ import annotations

from pathlib import Path

from callboard.adapters.imports import claude_code, codex
from callboard.adapters.imports.past import PastSession, PastTurn
from callboard.contracts.commands.session_import import ImportedChange

from . import transcripts


def shape(turn: PastTurn) -> list[list[str]]:
    """Summarise each call of a turn."""
    return [
        [f"{part.kind} {part.tool or part.text} {part.ended or ''}".strip() for part in call.parts]
        for call in turn.calls
    ]


def only(sessions: list[PastSession]) -> PastSession:
    assert len(sessions) == 1
    return sessions[0]


def test_a_transcript_of_claude_code_gives_its_turns(tmp_path: Path) -> None:
    """Also with a truncated last line and a sidechain agent."""
    folder = tmp_path / "work"
    transcripts.claude_code(tmp_path / "home", folder)

    past = only(list(claude_code.find(tmp_path / "home")))
    first, aside, second = sorted(past.turns(), key=lambda turn: turn.at)

    assert (past.title, past.folder, past.source) == ("Fix the greeting", str(folder), "claude_code")
    assert (first.input, first.ended) == ("Fix the greeting\nin hello.py", "completed")
    assert shape(first) == [
        ["reasoning Look first.", "text I read it.", "tool Read completed"],
        ["tool Edit completed"],
        ["text It says hello now."],
    ]
    assert (aside.agent, shape(aside)) == ("sidechain-ab12", [["text No more."]])
    assert (second.ended, shape(second)) == ("interrupted", [["tool Bash refused"]])
    used = first.calls[0]
    assert (used.model, used.input_tokens, used.cached_tokens, used.output_tokens) == ("claude-opus-4-5", 100, 90, 5)


def test_an_edit_of_claude_code_records_its_change_to_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    transcripts.claude_code(tmp_path / "home", folder)

    turn = next(turn for turn in only(list(claude_code.find(tmp_path / "home"))).turns() if not turn.agent)

    assert turn.calls[1].parts[0].changes == (
        ImportedChange(
            path="hello.py",
            kind="modified",
            diff="--- a/hello.py\n+++ b/hello.py\n@@ -1 +1 @@\n-helo\n+hello",
            added=1,
            removed=1,
        ),
    )


def test_a_rollout_of_codex_gives_its_turns(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    transcripts.codex(tmp_path / "home", folder)

    past = only(list(codex.find(tmp_path / "home")))
    first, second = past.turns()

    assert (past.title, past.folder, past.source) == ("Fix the greeting", str(folder), "codex")
    assert shape(first) == [
        ["reasoning Look first.", "tool shell completed"],
        ["tool apply_patch completed"],
        ["text It says hello now."],
    ]
    shell, patch = first.calls[0].parts[1], first.calls[1].parts[0]
    assert (shell.output, shell.exit_code, shell.summary) == ("helo\n", 0, "shell bash -lc cat hello.py")
    assert [(change.path, change.kind, change.added, change.removed) for change in patch.changes] == [
        ("hello.py", "modified", 1, 1),
        ("notes.md", "created", 1, 0),
    ]
    assert (first.calls[0].input_tokens, first.calls[0].reasoning_tokens) == (1000, 20)
    assert (second.input, shape(second)) == ("Thanks", [["text Gladly."]])


def test_reading_a_transcript_again_gives_the_same_ids(tmp_path: Path) -> None:
    transcripts.codex(tmp_path, tmp_path / "work")

    once = [turn.turn_id for past in codex.find(tmp_path) for turn in past.turns()]
    again = [turn.turn_id for past in codex.find(tmp_path) for turn in past.turns()]

    assert once == again
    assert len(set(once)) == 2


def test_other_files_are_omitted(tmp_path: Path) -> None:
    """Empty files, other JSON, and sessions without messages."""
    folder = tmp_path / "projects" / "x"
    folder.mkdir(parents=True)
    (folder / "empty.jsonl").write_text("")
    (folder / "other.jsonl").write_text('[1, 2]\nnot json\n{"type": 3}\n{"type": "user", "message": 7}\n')

    assert list(claude_code.find(tmp_path)) == []
    assert list(claude_code.find(tmp_path / "nowhere")) == []
    assert list(codex.find(tmp_path)) == []
