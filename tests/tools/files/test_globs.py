"""Globs over paths."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.tools.files.globs import MAX_ALTERNATIVES, InvalidGlobError, escape, expand, matches


@pytest.mark.parametrize(
    ("pattern", "path", "is_match"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/deep/a.py", True),
        ("src/**", "src/a", True),
        ("src/**", "src/deep/a", True),
        ("src/**", "source/a", False),
        ("src/", "src/a", True),
        ("./src//*.py", "src/a.py", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("**", "a/b", True),
        ("**", "", True),
        ("*", "", False),
        ("?.txt", "潮.txt", True),
        ("[ab].txt", "a.txt", True),
        ("[!ab].txt", "a.txt", False),
        ("*.{ts,tsx}", "a.tsx", True),
        ("{src,test}/**/*.{a,b}", "test/x/y.b", True),
        ("{a,{b,c}}.x", "c.x", True),
        ("{a}", "{a}", True),
        ("{a", "{a", True),
        ("*", ".hidden", True),
        ("A.txt", "a.txt", False),
    ],
)
def test_globs_match_the_expected_paths(pattern: str, path: str, is_match: bool):
    assert matches(pattern, path) is is_match


@given(st.text("ab*?/", max_size=8), st.text("ab/", max_size=8))
def test_globs_match_like_the_equivalent_regular_expression(pattern: str, path: str):
    path = "/".join(name for name in path.split("/") if name)
    names = [name for name in (pattern + "**" if pattern.endswith("/") else pattern).split("/") if name]
    expression = "".join(
        "(?:[^/]+/)*" if name == "**" else re.sub(r"\*+", "[^/]*", name).replace("?", "[^/]") + "/" for name in names
    )

    assert matches(pattern, path) is (re.fullmatch(expression, f"{path}/" if path else "") is not None)


@given(st.text(st.characters(exclude_characters="/"), min_size=1).filter(lambda name: name not in {".", ".."}))
def test_an_escaped_path_matches_only_itself(name: str):
    pattern = escape(name)

    assert not pattern or matches(pattern, name)


def test_a_hostile_glob_is_matched_quickly():
    assert not matches("**/" * 200 + "x", "/".join("a" * 300))
    assert not matches("*a" * 60 + "b", "a" * 250)


def test_a_glob_with_too_many_alternatives_is_refused():
    with pytest.raises(InvalidGlobError) as refused:
        expand("{a,b}" * 10)

    assert str(refused.value) == f"The pattern has more than {MAX_ALTERNATIVES} alternatives. Use fewer braces."
