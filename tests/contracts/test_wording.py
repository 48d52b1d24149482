"""Texts of others in sentences: none is glued to the next."""

from __future__ import annotations

import pytest

from callboard.contracts.text.sentences import clause, punctuated, sentence


@pytest.mark.parametrize(
    ("text", "whole", "part"),
    [
        ("the permission mode is ask", "The permission mode is ask.", "the permission mode is ask"),
        ("It is large.", "It is large.", "It is large"),
        ("May it run?", "May it run?", "May it run?"),
        ("and so on...", "And so on...", "and so on..."),
        ("可以运行吗？", "可以运行吗？", "可以运行吗？"),
        ("", "", ""),
    ],
)
def test_a_text_is_a_sentence_with_one_end_or_a_clause_with_none(text: str, whole: str, part: str) -> None:
    """UI-24"""
    assert (sentence(text), clause(text)) == (whole, part)
    assert sentence(whole) == whole
    assert punctuated(text)[:1] == text[:1]
