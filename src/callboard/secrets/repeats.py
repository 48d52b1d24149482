"""Repetition without backtracking in patterns."""

from __future__ import annotations


def every(item: str, least: int = 0, most: int | None = None) -> str:
    """Return a pattern for all items in a row.

    A possessive quantifier does the same, but of a group it matches wrongly before Python 3.11.5 (CPython gh-106052): texts
    with secrets passed. Here a match that takes fewer items than there are fails at once, so that nothing is tried twice.

    Args:
        item: A pattern that matches a text in one way only.
        least: Items that there must be.
        most: Items after which no other one may follow; any number if None.
    Example:
        re.compile(every(r"[0-9]{2}:") + "end")
    """
    return rf"(?:{item}){{{least},{'' if most is None else most}}}(?!{item})"
