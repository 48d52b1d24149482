"""Reasoning in a response between tags such as `<think>`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from callboard.contracts.ports.model import ReasoningDelta, TextDelta

from .pieces import Delta

_NAMES: Final = ("think", "thinking", "thought", "thoughts", "reasoning", "reason", "reflection")
_OPENING: Final = {f"<{name}>": f"</{name}>" for name in _NAMES}


class ThinkingSplitter:
    """Separates tagged reasoning at the start of a response from its text, across deltas.

    A tag is recognised at the start of the response's first text only. After an unclosed tag all text is reasoning. Whitespace
    around tags is dropped.

    Args:
        looks: False leaves tags in the text.
    """

    def __init__(self, *, looks: bool = True) -> None:
        self._index: int | None = None
        self._waiting = ""
        self._closing = ""
        self._looks = looks
        self._has_reasoning = False
        self._began = self._wrote = False

    def move(self, delta: Delta) -> Delta:
        """Return the delta with its index among the split parts."""
        return msgspec.structs.replace(delta, index=self._shift(delta.index))

    def split(self, delta: Delta) -> Iterator[Delta]:
        """Yield the delta, with tagged reasoning as a separate part before the text."""
        if isinstance(delta, TextDelta) and (self._looks or self._closing) and self._index in (None, delta.index):
            self._index = delta.index
            self._waiting += delta.text
            yield from self._read()
            return
        if self._index is not None and delta.index != self._index and not self._closing:
            # Another part begins, so the beginning of a tag is text.
            yield from self._flush_text()
        yield self.move(delta)

    def finish(self) -> Iterator[Delta]:
        """Yield the rest at the end of the response."""
        if self._closing:
            yield from self._flush_reasoning(self._waiting)
            self._waiting = ""
        yield from self._flush_text()

    def _shift(self, index: int) -> int:
        return index + 1 if self._has_reasoning and self._index is not None and index >= self._index else index

    def _read(self) -> Iterator[Delta]:
        while True:
            if self._closing:
                before, closing, after = _partition(self._waiting, self._closing)
                if not closing:
                    body = before[: len(before) - _count_overlap(before, self._closing)].rstrip()
                    self._waiting = before[len(body) :]
                    yield from self._flush_reasoning(body)
                    return
                yield from self._flush_reasoning(before)
                self._closing, self._waiting, self._wrote = "", after, False
            start = self._waiting.lstrip()
            opening = next((tag for tag in _OPENING if start[: len(tag)].lower() == tag), None)
            if opening is not None:
                self._has_reasoning = True
                self._closing, self._waiting = _OPENING[opening], start[len(opening) :]
                continue
            if any(tag.startswith(start.lower()) for tag in _OPENING):
                return
            yield from self._flush_text()
            return

    def _flush_reasoning(self, text: str) -> Iterator[Delta]:
        """Yield reasoning without whitespace at its ends."""
        text = text.rstrip() if self._wrote else text.strip()
        if text and self._index is not None:
            # Consecutive blocks are paragraphs of one part.
            yield ReasoningDelta(self._index, f"\n\n{text}" if self._began and not self._wrote else text)
            self._began = self._wrote = True

    def _flush_text(self) -> Iterator[Delta]:
        """Yield waiting text and stop the search for tags."""
        self._looks = False
        text, self._waiting = self._waiting, ""
        if self._has_reasoning:
            text = text.lstrip()
        if text and self._index is not None:
            yield TextDelta(self._shift(self._index), text)


def _partition(text: str, tag: str) -> tuple[str, str, str]:
    at = text.lower().find(tag)
    return (text, "", "") if at < 0 else (text[:at], tag, text[at + len(tag) :])


def _count_overlap(text: str, tag: str) -> int:
    """Return the number of characters at the end of the text that may begin the tag."""
    end = text[-len(tag) :].lower()
    return next((size for size in range(min(len(end), len(tag) - 1), 0, -1) if end.endswith(tag[:size])), 0)
