"""Texts of others as parts of sentences: each sentence ends with one full stop, and none is in the middle of another."""

from __future__ import annotations

_ENDS = (".", "?", "!", "…", "。", "？", "！")


def punctuated(text: str) -> str:
    """Return the text with a full stop where nothing else ends it. Its first word may be a name, so its case stays."""
    text = text.strip()
    return text if not text or text.endswith(_ENDS) else f"{text}."


def sentence(text: str) -> str:
    """Return the text as a sentence of its own: with a capital, and a full stop where nothing else ends it."""
    text = punctuated(text)
    return f"{text[:1].upper()}{text[1:]}"


def clause(text: str) -> str:
    """Return the text without the full stop that ends it, for the middle of a sentence."""
    text = text.strip()
    return text if text.endswith("..") else text.removesuffix(".")
