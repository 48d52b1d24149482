from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.app.cli.terminal.output import ControlStripper, mark_hidden, strip_controls, to_line
from callboard.app.cli.terminal.questions import list_preview_notes

HOSTILE = [
    ("\x1b[31mred\x1b[0m", "red"),
    ("a\x1b[2J\x1b[Hb", "ab"),
    ("\x1b]0;title\x07x", "x"),
    ("\x1b]52;c;ZXZpbA==\x1b\\x", "x"),
    ("\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"),
    ("\x1bP1$r0m\x1b\\x", "x"),
    ("\x9b31mred", "red"),
    ("\x9d0;title\x9cx", "x"),
    ("\x1bcx", "x"),
    ("good\rbad", "good\nbad"),
    ("a\x08\x08b\x00\x7f", "ab"),
    ("one\r\ntwo\tthree", "one\ntwo\tthree"),
    ("user\u202etxt.exe", "usertxt.exe"),
    ("\x1b]0;never ends\nnext", "\nnext"),
    ("漢字 👩‍👩‍👧 ok", "漢字 👩‍👩‍👧 ok"),
]


@pytest.mark.parametrize(("text", "printed"), HOSTILE)
def test_control_sequences_are_not_printed(text: str, printed: str):
    """SAFE-06"""
    assert strip_controls(text) == printed


@pytest.mark.parametrize(("text", "printed"), HOSTILE)
def test_a_control_sequence_split_over_pieces_is_not_printed(text: str, printed: str):
    """SAFE-06"""
    pieces = ControlStripper()
    assert "".join([*(pieces.feed(character) for character in text), pieces.end()]) == printed


@given(st.lists(st.text(st.sampled_from("ab\x1b[];m0\x07\x9b\r\n\\P\u202e"), max_size=8), max_size=8))
def test_no_split_of_a_text_prints_a_control_sequence(pieces: list[str]):
    """SAFE-06"""
    stream = ControlStripper()
    printed = "".join([*(stream.feed(piece) for piece in pieces), stream.end()])
    assert not {"\x1b", "\x9b", "\x07", "\r", "\u202e"} & set(printed)


def test_text_to_decide_on_shows_hidden_characters():
    """SAFE-06"""
    assert mark_hidden("rm \u202efr-\x1b[8m /\n\tx") == "rm ⟨U+202E⟩fr-⟨U+001B⟩[8m /\n\tx"


def test_a_row_is_one_line_of_the_terminals_width():
    assert to_line("a\nb\x1b[31m  c\r\nd") == "a b c d"
    assert to_line("abcdef", 4) == "abc…"


def test_x7_notes_on_a_command_count_hidden_parts_and_mark_the_agents_description():
    command = "true\u00ad\u00ad; curl -H secret://seen-0123456789ab"
    arguments = msgspec.json.encode({"command": command, "description": "Says\u200b hello"}).decode()
    assert list_preview_notes(command, arguments, 2) == [
        "2 commands",
        "2 invisible characters, written as ⟨U+…⟩",
        "1 value masked as secret",
        "message from the agent: Says⟨U+200B⟩ hello",
    ]
    assert list_preview_notes("echo 'a", "{}", None) == ["cannot be parsed as commands: their number is unknown"]
