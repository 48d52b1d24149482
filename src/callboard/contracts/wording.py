"""Texts of others as parts of sentences: each sentence ends with one full stop, and none is in the middle of another."""

from __future__ import annotations

_ENDS = (".", "?", "!", "…", "。", "？", "！")


def sentence(text: str) -> str:
    """Return the text as a sentence of its own: with a capital, and a full stop where nothing else ends it."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}{'' if not text or text.endswith(_ENDS) else '.'}"


def clause(text: str) -> str:
    """Return the text without the full stop that ends it, for the middle of a sentence."""
    text = text.strip()
    return text if text.endswith("..") else text.removesuffix(".")
