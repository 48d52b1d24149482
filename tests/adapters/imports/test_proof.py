"""An import records what its source proves, and leaves the rest unknown (A8)."""

from __future__ import annotations

from pathlib import Path

from callboard.adapters.imports import claude_code, codex
from callboard.adapters.imports.past import PastTurn
from callboard.contracts.commands.imports import ImportedAgent

from . import transcripts


def turns_of(module: object, home: Path) -> list[PastTurn]:
    """The turns of the only session under the home."""
    assert module in (claude_code, codex)
    (past,) = claude_code.find(home) if module is claude_code else codex.find(home)
    return list(past.turns())


def test_a_patch_is_a_change_only_where_the_rollout_proves_that_it_was_applied(tmp_path: Path) -> None:
    """A8: refused, failed and unclear patches change no file."""
    transcripts.codex_patches(tmp_path, tmp_path / "work")

    (turn,) = turns_of(codex, tmp_path)

    tools = [part for call in turn.calls for part in call.parts if part.kind == "tool"]
    assert {one.call_id: (one.ended, [change.path for change in one.changes]) for one in tools} == {
        "done": ("completed", ["done.py"]),
        "declined": ("refused", []),
        "rejected": ("failed", []),
        "unfit": ("failed", []),
        "broken": ("failed", []),
        "unclear": (None, []),
        "proved": ("completed", ["proved.py"]),
    }


def test_a_summary_of_codex_is_a_compaction_and_a_notification_no_person(tmp_path: Path) -> None:
    """A8"""
    transcripts.codex_patches(tmp_path, tmp_path / "work")

    (turn,) = turns_of(codex, tmp_path)

    assert [(part.kind, part.text) for call in turn.calls[-2:] for part in call.parts] == [
        ("compaction", "The greeting is fixed."),
        ("text", "It is fixed."),
    ]
    assert (turn.input, turn.source) == ("Fix the greeting", "person")


def test_the_rollout_of_a_subagent_of_codex_is_no_session_of_a_person(tmp_path: Path) -> None:
    """A8: its prompts are another agent's, and its first lines are its parent's."""
    transcripts.codex_subagent(tmp_path, tmp_path / "work", "0199aaaa-bbbb-cccc-dddd-eeeeeeeeeeee")

    assert list(codex.find(tmp_path)) == []


def test_only_what_a_person_typed_is_a_person_s_in_a_session_of_claude_code(tmp_path: Path) -> None:
    """A8: a task's notification and a summary are of a kind of their own."""
    transcripts.claude_code_2(tmp_path, tmp_path / "work")

    inputs = [(turn.source, turn.input[:19]) for turn in turns_of(claude_code, tmp_path) if not turn.agent]

    assert inputs == [
        ("person", "Find the callers"),
        ("notice", "<task-notification>"),
        ("compaction", ""),
        ("person", "Write it down"),
    ]


def test_a_summary_stands_in_its_turn_with_what_is_known_of_it(tmp_path: Path) -> None:
    """A8"""
    transcripts.claude_code_2(tmp_path, tmp_path / "work")
    turns = [turn for turn in turns_of(claude_code, tmp_path) if not turn.agent]

    parts = [[(part.kind, part.text) for call in turn.calls for part in call.parts] for turn in turns[:3]]
    automatic, manual = turns[0].calls[1].parts[0], turns[2].calls[0].parts[0]

    assert [[kind for kind, _ in one] for one in parts] == [["tool", "compaction", "text"], ["text"], ["compaction"]]
    assert (automatic.text, automatic.cause) == ("This session is being continued.", "window")
    assert (automatic.tokens_before, automatic.tokens_after) == (155_000, 9_000)
    assert (manual.cause, manual.tokens_before, manual.tokens_after) == ("person", 12_000, None)


def test_subagents_of_claude_code_belong_to_their_session_with_what_is_proved_of_them(tmp_path: Path) -> None:
    """A8: one that the lead started, one that it started in turn, and one of which nothing says who did."""
    transcripts.claude_code_2(tmp_path, tmp_path / "work")

    found = [turn for turn in turns_of(claude_code, tmp_path) if turn.agent]

    assert [(turn.agent, turn.source, turn.input, turn.subagent) for turn in found] == [
        (
            "sidechain-ae267a1",
            "agent",
            "Search",
            ImportedAgent(definition="Explore", description="Find callers", parent=""),
        ),
        (
            "sidechain-b0c0ffee0123456789",
            "agent",
            "Look in lib",
            ImportedAgent(definition="general-purpose", parent="sidechain-ae267a1"),
        ),
        ("sidechain-adeadbeef", "agent", "Something", ImportedAgent(parent=None)),
    ]


def test_writing_over_a_file_modifies_it(tmp_path: Path) -> None:
    """A8: the transcript names what was there before."""
    transcripts.claude_code_2(tmp_path, tmp_path / "work")

    written = [turn for turn in turns_of(claude_code, tmp_path) if not turn.agent][-1].calls[0].parts[0]

    assert [(one.path, one.kind, one.added, one.removed) for one in written.changes] == [("n.md", "modified", 1, 1)]
