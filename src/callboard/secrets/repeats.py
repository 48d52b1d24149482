"""Repetition without backtracking in patterns."""

from __future__ import annotations


def match_all(item: str, min_count: int = 0, max_count: int | None = None) -> str:
    """Return a pattern for all items in a row.

    A possessive quantifier of a group matches wrongly before Python 3.11.5 (CPython gh-106052). Here a match of fewer items
    than there are fails immediately, without backtracking.

    Args:
        item: A pattern that matches a text in one way only.
        min_count: Minimum number of items.
        max_count: Maximum number of items; None for any number.
    """
    return rf"(?:{item}){{{min_count},{'' if max_count is None else max_count}}}(?!{item})"
