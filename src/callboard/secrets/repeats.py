"""Repetition without backtracking in patterns."""

from __future__ import annotations


def match_all(item: str, least: int = 0, most: int | None = None) -> str:
    """Return a pattern for all items in a row.

    A possessive quantifier of a group matches wrongly before Python 3.11.5 (CPython gh-106052). Here a match of fewer items
    than there are fails at once, without backtracking.

    Args:
        item: A pattern that matches a text in one way only.
        least: Minimum number of items.
        most: Maximum number of items; None for any number.
    """
    return rf"(?:{item}){{{least},{'' if most is None else most}}}(?!{item})"
