"""Reasoning that a model writes into its answer between tags, such as `<think>`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from callboard.contracts.ports.model import ReasoningDelta, TextDelta

from .pieces import Delta

_NAMES: Final = ("think", "thinking", "thought", "thoughts", "reasoning", "reason", "reflection")
_OPENING: Final = {f"<{name}>": f"</{name}>" for name in _NAMES}


class ThinkingSplitter:
    """Separates tagged reasoning at the start of an answer from its text, however both are cut into deltas.

    Only the beginning of the first text of an answer is looked at: a tag in a code block or later in the text stays text.
    Without `looks` no tag is looked for. An unclosed tag makes all that follows reasoning. Whitespace around tags belongs to
    neither part.

    Example:
        splitter = ThinkingSplitter()
        deltas = [*splitter.split(delta), *splitter.finish()]
    """

    def __init__(self, *, looks: bool = True) -> None:
        self._index: int | None = None
        self._waiting = ""
        self._closing = ""
        self._looks = looks
        self._thought = False
        self._began = self._wrote = False

    def move(self, delta: Delta) -> Delta:
        """Return the delta at its place among the parts that are passed on."""
        return msgspec.structs.replace(delta, index=self._place(delta.index))

    def split(self, delta: Delta) -> Iterator[Delta]:
        """Yield the delta, with tagged reasoning as a part of its own before the text."""
        if isinstance(delta, TextDelta) and (self._looks or self._closing) and self._index in (None, delta.index):
            self._index = delta.index
            self._waiting += delta.text
            yield from self._read()
            return
        if self._index is not None and delta.index != self._index and not self._closing:
            # Another part begins: what waits to become a tag is text.
            yield from self._give_up()
        yield self.move(delta)

    def finish(self) -> Iterator[Delta]:
        """Yield what waits at the end of the answer."""
        if self._closing:
            yield from self._think(self._waiting)
            self._waiting = ""
        yield from self._give_up()

    def _place(self, index: int) -> int:
        return index + 1 if self._thought and self._index is not None and index >= self._index else index

    def _read(self) -> Iterator[Delta]:
        while True:
            if self._closing:
                before, closing, after = _partition(self._waiting, self._closing)
                if not closing:
                    keep = _overlap(before, self._closing)
                    body = before[: len(before) - keep].rstrip()
                    self._waiting = before[len(body) :]
                    yield from self._think(body)
                    return
                yield from self._think(before)
                self._closing, self._waiting, self._wrote = "", after, False
            start = self._waiting.lstrip()
            opening = next((tag for tag in _OPENING if start[: len(tag)].lower() == tag), None)
            if opening is not None:
                self._thought = True
                self._closing, self._waiting = _OPENING[opening], start[len(opening) :]
                continue
            if any(tag.startswith(start.lower()) for tag in _OPENING):
                return
            yield from self._give_up()
            return

    def _think(self, text: str) -> Iterator[Delta]:
        """Yield reasoning, without whitespace at its ends. Whitespace within it comes with what follows."""
        text = text.rstrip() if self._wrote else text.strip()
        if text and self._index is not None:
            # Two blocks in a row are paragraphs of one part.
            yield ReasoningDelta(self._index, f"\n\n{text}" if self._began and not self._wrote else text)
            self._began = self._wrote = True

    def _give_up(self) -> Iterator[Delta]:
        """Look for no further tag: what waits is text."""
        self._looks = False
        text, self._waiting = self._waiting, ""
        if self._thought:
            text = text.lstrip()
        if text and self._index is not None:
            yield TextDelta(self._place(self._index), text)


def _partition(text: str, tag: str) -> tuple[str, str, str]:
    at = text.lower().find(tag)
    return (text, "", "") if at < 0 else (text[:at], tag, text[at + len(tag) :])


def _overlap(text: str, tag: str) -> int:
    """Return how many characters at the end of the text may be the beginning of the tag."""
    end = text[-len(tag) :].lower()
    return next((size for size in range(min(len(end), len(tag) - 1), 0, -1) if end.endswith(tag[:size])), 0)
