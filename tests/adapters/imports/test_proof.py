"""Imports record what a transcript proves, and leave the rest unknown (A8)."""

from __future__ import annotations

from pathlib import Path

from callboard.adapters.imports import claude_code, codex
from callboard.adapters.imports.past import PastTurn
from callboard.contracts.commands.session_import import ImportedAgent

from . import transcripts


def turns_of(module: object, home: Path) -> list[PastTurn]:
    """Return the turns of the only session in the folder."""
    assert module in (claude_code, codex)
    (past,) = claude_code.find(home) if module is claude_code else codex.find(home)
    return list(past.turns())


def test_a_patch_is_a_change_only_if_the_rollout_proves_it(tmp_path: Path) -> None:
    """A8: refused, failed and unclear patches change no file."""
    transcripts.codex_patches(tmp_path, tmp_path / "work")

    (turn,) = turns_of(codex, tmp_path)

    tools = [part for call in turn.calls for part in call.parts if part.kind == "tool"]
    assert {tool.call_id: (tool.ended, [change.path for change in tool.changes]) for tool in tools} == {
        "done": ("completed", ["done.py"]),
        "declined": ("refused", []),
        "rejected": ("failed", []),
        "unfit": ("failed", []),
        "broken": ("failed", []),
        "unclear": (None, []),
        "proved": ("completed", ["proved.py"]),
    }


def test_a_codex_summary_is_a_compaction_and_a_notification_is_not_input(tmp_path: Path) -> None:
    """A8"""
    transcripts.codex_patches(tmp_path, tmp_path / "work")

    (turn,) = turns_of(codex, tmp_path)

    assert [(part.kind, part.text) for call in turn.calls[-2:] for part in call.parts] == [
        ("compaction", "The greeting is fixed."),
        ("text", "It is fixed."),
    ]
    assert (turn.input, turn.source) == ("Fix the greeting", "person")


def test_a_rollout_of_a_codex_subagent_is_omitted(tmp_path: Path) -> None:
    """A8: another agent wrote its prompts, and its first lines repeat its parent's."""
    transcripts.codex_subagent(tmp_path, tmp_path / "work", "0199aaaa-bbbb-cccc-dddd-eeeeeeeeeeee")

    assert list(codex.find(tmp_path)) == []


def test_only_typed_inputs_of_claude_code_come_from_a_person(tmp_path: Path) -> None:
    """A8: notifications and summaries have other sources."""
    transcripts.claude_code_2(tmp_path, tmp_path / "work")

    inputs = [(turn.source, turn.input[:19]) for turn in turns_of(claude_code, tmp_path) if not turn.agent]

    assert inputs == [
        ("person", "Find the callers"),
        ("notice", "<task-notification>"),
        ("compaction", ""),
        ("person", "Write it down"),
    ]


def test_a_summary_is_in_its_turn_with_its_cause_and_size(tmp_path: Path) -> None:
    """A8"""
    transcripts.claude_code_2(tmp_path, tmp_path / "work")
    turns = [turn for turn in turns_of(claude_code, tmp_path) if not turn.agent]

    parts = [[(part.kind, part.text) for call in turn.calls for part in call.parts] for turn in turns[:3]]
    automatic, manual = turns[0].calls[1].parts[0], turns[2].calls[0].parts[0]

    assert [[kind for kind, _ in turn_parts] for turn_parts in parts] == [
        ["tool", "compaction", "text"],
        ["text"],
        ["compaction"],
    ]
    assert (automatic.text, automatic.cause) == ("This session is being continued.", "window")
    assert (automatic.tokens_before, automatic.tokens_after) == (155_000, 9_000)
    assert (manual.cause, manual.tokens_before, manual.tokens_after) == ("person", 12_000, None)


def test_subagents_of_claude_code_have_their_proved_parents(tmp_path: Path) -> None:
    """A8: a child of the lead, a child of that child, and an agent with an unknown parent."""
    transcripts.claude_code_2(tmp_path, tmp_path / "work")

    agent_turns = [turn for turn in turns_of(claude_code, tmp_path) if turn.agent]

    assert [(turn.agent, turn.source, turn.input, turn.subagent) for turn in agent_turns] == [
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


def test_overwriting_a_file_modifies_it(tmp_path: Path) -> None:
    """A8: the transcript has the former content."""
    transcripts.claude_code_2(tmp_path, tmp_path / "work")

    written = [turn for turn in turns_of(claude_code, tmp_path) if not turn.agent][-1].calls[0].parts[0]

    assert [(change.path, change.kind, change.added, change.removed) for change in written.changes] == [
        ("n.md", "modified", 1, 1)
    ]
