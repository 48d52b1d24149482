"""Text that every match of a pattern contains, so a search can skip files without it (R8)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.tools.search.literals import find_required_text

_PIECES = r"ab c [ab] [^]x] a* b+ c? a{2} ab{0,1} x{ . \. \w \d+ ^ $ a+? \( \x61b \141b".split()


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("needle", "needle"),
        (r"def run\(", "def run("),
        (r"import\s+os", "import"),
        ("colou?r", "colo"),
        ("ab{0,3}cde", "cde"),
        ("[abc]def[^]]gh", "def"),
        (r"a\|bc", "a|bc"),
        ("foo|bar", ""),
        ("(foo)?bar", ""),
        ("fo*", ""),
        ("näh", ""),
        (r"\bTODO\b", "TODO"),
        ("x{2,3}yz", "yz"),
    ],
)
def test_the_required_text_is_found_in_the_pattern(pattern: str, text: str) -> None:
    """R8"""
    assert find_required_text(pattern) == text


@given(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=5), st.text("abcx.(1]{", max_size=12))
def test_every_match_contains_the_required_text(pieces: list[str], line: str) -> None:
    """R8: for patterns of any pieces."""
    try:
        expression = re.compile("".join(pieces))
    except re.error:
        return

    match = expression.search(line)

    assert match is None or find_required_text(expression.pattern) in line
