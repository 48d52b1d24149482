"""Patterns of secrets, which match alike in all supported Python versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from callboard.secrets import dumps, matcher, redaction
from callboard.secrets.repeats import match_all
from callboard.secrets.shapes import SHAPES


def list_patterns() -> Iterator[str]:
    for module in (dumps, matcher, redaction):
        yield from (value.pattern for value in vars(module).values() if isinstance(value, re.Pattern))
    for shape in SHAPES:
        yield from (shape.full_pattern, shape.open_pattern)


def list_possessive_groups(parsed: Any) -> list[str]:
    """Return the possessive repeats of more than one character in a parsed pattern."""
    groups: list[str] = []
    for op, value in parsed:
        if str(op) == "ATOMIC_GROUP" or (str(op) == "POSSESSIVE_REPEAT" and not _is_one_character(value[2])):
            groups.append(f"{op} {value}")
        for part in value if isinstance(value, (list, tuple)) else ():
            for node in part if isinstance(part, list) else [part]:
                if hasattr(node, "data"):
                    groups += list_possessive_groups(node)
    return groups


def _is_one_character(item: Any) -> bool:
    return len(item) == 1 and str(item[0][0]) in {"LITERAL", "NOT_LITERAL", "ANY", "IN"}


def parse(pattern: str) -> Any:
    return re._parser.parse(pattern)  # pyright: ignore[reportAttributeAccessIssue]


def test_p1_x10_no_pattern_of_a_secret_has_a_possessive_group():
    """P1, X10: before Python 3.11.5 they match wrongly, and dumps of secrets were not redacted."""
    assert [group for pattern in list_patterns() for group in list_possessive_groups(parse(pattern))] == []


@pytest.mark.parametrize("pattern", ["(?:ab|c)*+", "x(?:(?:ab)?+y)", "(?>ab)", "a|(?:ab){1,3}+"])
def test_a_possessive_group_is_detected_at_any_depth(pattern: str):
    assert len(list_possessive_groups(parse(pattern))) == 1


def test_every_item_matches_or_nothing_matches():
    pattern = re.compile(match_all("[0-9][0-9]:", 1, 3) + "(?P<rest>.*)")
    matches = {text: pattern.match(text) for text in ("12:34:x", "12:", "x", "12:34:56:78:")}
    assert {text: None if match is None else match["rest"] for text, match in matches.items()} == {
        "12:34:x": "x",
        "12:": "",
        "x": None,
        "12:34:56:78:": None,
    }
