"""Scenarios of the scripted model as plain data, and texts with unique pieces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Part = dict[str, Any]
Call = list[Part]


def prose(length: int, mark: str) -> str:
    """Return a text of this many characters.

    It is numbered, so that each piece is unique, and not all of it is ASCII.
    """
    words: list[str] = []
    size = at = 0
    while size < length:
        words.append(f"{mark}{at}é ")
        size += len(words[-1])
        at += 1
    return "".join(words)[:length]


def says(text: str, *, chunk: int = 0, delay_ms: float = 0, kind: str = "text") -> Part:
    """Return text of the answer, in pieces of `chunk` characters."""
    return {kind: text, "chunk": chunk, "delay_ms": delay_ms}


def repeats(text: str, times: int, delay_ms: float = 0) -> Part:
    """Return a long text: the same piece repeated."""
    return {"repeat": {"text": text, "times": times}, "delay_ms": delay_ms}


def calls(tool: str, **arguments: Any) -> Part:
    """Return a tool call."""
    return {"tool": {"name": tool, "arguments": arguments}}


def waits(file: str = "never") -> Part:
    """Return a wait until the file exists beside the scenario."""
    return {"wait_for": file}


def usage(output: int) -> Part:
    """Return the usage that ends an answer."""
    return {"usage": {"input": 100, "output": output}}


def scenario(scenes: Iterable[tuple[str, list[Call]]]) -> dict[str, Any]:
    """Return a scenario that answers an input with the text by these calls."""
    return {"name": "proof", "match": [{"text": text, "calls": answers} for text, answers in scenes]}
