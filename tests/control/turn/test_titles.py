"""Titles from the first line of a text."""

from __future__ import annotations

import pytest

from callboard.control.input_text import MAX_TITLE_CHARS, make_title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Fix it.", "Fix it."),
        ("\n\n  Fix it.  \nSoon.", "Fix it."),
        ("", ""),
        (" \n\t", ""),
        ("Get release 2.0 ready. The notes can be written; how it is called is for me to decide.", None),
        ("发布" * 60, None),
        ("x" * MAX_TITLE_CHARS, "x" * MAX_TITLE_CHARS),
    ],
)
def test_a_title_is_the_first_line_truncated_between_words(text: str, title: str | None) -> None:
    result = make_title(text)
    if title is not None:
        assert result == title
    else:
        assert len(result) <= MAX_TITLE_CHARS
        assert result.endswith("…")
        assert text.startswith(result[:-1])


def test_a_title_never_splits_a_word() -> None:
    assert make_title("word " * 30) == f"{'word ' * 14}word…"
