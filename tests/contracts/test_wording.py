"""External texts as sentences and clauses, each with its own punctuation."""

from __future__ import annotations

import pytest

from callboard.contracts.text.sentences import punctuate, to_clause, to_sentence


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
def test_a_text_becomes_a_sentence_with_one_full_stop_or_a_clause_without_one(text: str, whole: str, part: str) -> None:
    """UI-24"""
    assert (to_sentence(text), to_clause(text)) == (whole, part)
    assert to_sentence(whole) == whole
    assert punctuate(text)[:1] == text[:1]
