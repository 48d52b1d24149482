"""M2: models read and write tool names in snake_case. Everything else has the stored names."""

from __future__ import annotations

import re

import pytest

from callboard.contracts.tool_names import build_spellings, to_model_name, to_stored_matcher, to_stored_name
from callboard.contracts.tools import TOOL_NAMES


@pytest.mark.parametrize("name", sorted(TOOL_NAMES))
def test_m2_every_tool_has_one_snake_case_name_that_maps_back_to_it(name: str):
    spelling = to_model_name(name)
    assert re.fullmatch(r"[a-z][a-z0-9_]*", spelling)
    assert {to_stored_name(variant) for variant in (name, spelling, name.upper(), name.lower(), spelling.upper())} == {
        name
    }


@pytest.mark.parametrize("name", ["mcp__github__getIssue", "mcp__a__read", "a-tool-of-others", "*", ""])
def test_m2_names_of_other_tools_stay_unchanged(name: str):
    assert (to_model_name(name), to_stored_name(name)) == (name, name)


def test_m2_two_tools_with_the_same_model_name_are_refused():
    with pytest.raises(ValueError, match="ReadOutput and read_output would have one name"):
        build_spellings(["Read", "read_output", "ReadOutput"])


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("bash(git *)", "Bash(git *)"),
        (" Bash (git *) ", "Bash(git *)"),
        ("read_output", "ReadOutput"),
        ("bash(echo (bash))", "Bash(echo (bash))"),
        ("mcp__a__*", "mcp__a__*"),
    ],
)
def test_m2_a_matcher_is_stored_in_one_spelling(written: str, stored: str):
    assert to_stored_matcher(written) == stored
