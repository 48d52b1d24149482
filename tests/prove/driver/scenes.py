"""What the scripted model says: scenarios as plain data, and texts of which every piece can be told from every other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Part = dict[str, Any]
Call = list[Part]


def prose(length: int, mark: str) -> str:
    """A text of so many characters, numbered so that no piece of it can stand for another. Not all of it is ASCII."""
    words: list[str] = []
    size = at = 0
    while size < length:
        words.append(f"{mark}{at}é ")
        size += len(words[-1])
        at += 1
    return "".join(words)[:length]


def says(text: str, *, chunk: int = 0, delay_ms: float = 0, kind: str = "text") -> Part:
    """Words of the answer, in pieces of `chunk` characters."""
    return {kind: text, "chunk": chunk, "delay_ms": delay_ms}


def repeats(text: str, times: int, delay_ms: float = 0) -> Part:
    """Much text in little: the same piece again and again."""
    return {"repeat": {"text": text, "times": times}, "delay_ms": delay_ms}


def calls(tool: str, **arguments: Any) -> Part:
    """A tool call."""
    return {"tool": {"name": tool, "arguments": arguments}}


def waits(file: str = "never") -> Part:
    """The answer goes on once there is such a file beside the scenario."""
    return {"wait_for": file}


def told(output: int) -> Part:
    """The usage that ends an answer."""
    return {"usage": {"input": 100, "output": output}}


def scenario(scenes: Iterable[tuple[str, list[Call]]]) -> dict[str, Any]:
    """The scenario in which an input that holds the text is answered by these calls."""
    return {"name": "proof", "match": [{"text": text, "calls": answers} for text, answers in scenes]}
