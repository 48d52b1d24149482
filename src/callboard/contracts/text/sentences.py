"""Texts of others as parts of sentences, with correct punctuation."""

from __future__ import annotations

_ENDS = (".", "?", "!", "…", "。", "？", "！")


def punctuate(text: str) -> str:
    """Return the text with a final full stop, unless it ends with other punctuation.

    The first word may be a name and keeps its case.
    """
    text = text.strip()
    return text if not text or text.endswith(_ENDS) else f"{text}."


def to_sentence(text: str) -> str:
    """Return the text as a sentence, with a capital letter and final punctuation."""
    text = punctuate(text)
    return f"{text[:1].upper()}{text[1:]}"


def to_clause(text: str) -> str:
    """Return the text without a final full stop, for the middle of a sentence."""
    text = text.strip()
    return text if text.endswith("..") else text.removesuffix(".")


def format_count(count: int, thing: str) -> str:
    """Return a count with its noun, such as `2 turns`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
